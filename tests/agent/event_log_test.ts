import assert from "node:assert/strict";
import { EventLog } from "../../src/agent/event_log.ts";

const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0, llm_calls: 0 };

Deno.test("EventLog numbers events so that a text takes one position a character", () => {
  const log = new EventLog();
  assert.equal(log.append({ type: "turn_start", turnId: "t" }), 1);
  assert.equal(log.append({ type: "text_delta", messageId: "m", text: "abc" }), 4);
  assert.equal(log.append({ type: "text_delta", messageId: "m", text: "de" }), 6);
  assert.equal(log.append({ type: "message_end", messageId: "m" }), 7);
});

Deno.test("EventLog takes nothing after turn_end", () => {
  const log = new EventLog();
  log.append({ type: "turn_end", finishReason: "stop", usage });
  log.append({ type: "text_delta", messageId: "m", text: "late" });
  log.append({ type: "turn_end", finishReason: "aborted", usage });
  assert.deepEqual(log.slice(0).map((entry) => entry.event.type), ["turn_end"]);
  assert.ok(log.ended);
});

Deno.test("EventLog wakes each waiting reader once, and not one that has gone", () => {
  const log = new EventLog();
  const woken: string[] = [];
  log.onAppend(() => woken.push("a"));
  const forget = log.onAppend(() => woken.push("b"));
  forget();
  log.append({ type: "turn_start", turnId: "t" });
  log.append({ type: "message_start", messageId: "m" });
  assert.deepEqual(woken, ["a"]);
});

Deno.test("EventLog keeps a given position when it lies ahead, so that a rebuilt log matches the live one", () => {
  const log = new EventLog();
  log.append({ type: "turn_start", turnId: "t" });
  assert.equal(log.append({ type: "message_start", messageId: "m" }, 40), 40);
  assert.equal(log.append({ type: "message_end", messageId: "m" }, 3), 41);
});
