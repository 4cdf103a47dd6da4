import assert from "node:assert/strict";
import { TurnStatistics } from "../../src/agent/turn_statistics.ts";

Deno.test("TurnStatistics gives the seed's example: (8674, 675) and (9421, 9) are 9421, 684, 10105", () => {
  const statistics = new TurnStatistics();
  statistics.llmCalls = 2;
  statistics.addCall({ input: 8674, output: 675 });
  statistics.addCall({ input: 9421, output: 9 });
  assert.deepEqual(statistics.usage(), {
    input_tokens: 9421,
    output_tokens: 684,
    total_tokens: 10105,
    llm_calls: 2,
  });
  const record = statistics.record();
  assert.equal(record.billedInputTokens, 18095);
  assert.equal(record.billedOutputTokens, 684);
  assert.equal(record.estimated, false);
});

Deno.test("TurnStatistics says when a figure is its own estimate", () => {
  const statistics = new TurnStatistics();
  statistics.addCall({ input: 10, output: 1, estimated: true });
  assert.equal(statistics.reported, false);
  statistics.addCall({ input: 20, output: 1, cached: 5, reasoning: 3 });
  assert.equal(statistics.reported, true);
  const record = statistics.record();
  assert.deepEqual([record.estimated, record.cachedInputTokens, record.reasoningTokens], [true, 5, 3]);
});
