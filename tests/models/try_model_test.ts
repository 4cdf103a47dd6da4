import assert from "node:assert/strict";
import { tryModel } from "../../src/models/try_model.ts";
import { type Answer, answer, chunk, fakeEndpoint, sse } from "./fake_endpoint.ts";

const KEY = "sk-live-3b1f0c9d8e7a";
const call = (name: string): Answer => ({
  body: sse(
    chunk({
      tool_calls: [{
        index: 0,
        id: "c1",
        type: "function",
        function: { name, arguments: '{"word":"ready"}' },
      }],
    }),
    chunk({}, "tool_calls"),
    { choices: [], usage: { prompt_tokens: 50, completion_tokens: 9 } },
  ),
});
const refusal = (status: number, message: string, code = ""): Answer => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ error: { message, code } }),
});

async function trial(answers: Answer[], timeoutMs = 5000) {
  await using endpoint = fakeEndpoint(answers);
  const config = {
    provider: "openai",
    base_url: endpoint.url,
    model: "m-1",
    api_key: KEY,
    context_limit: 8,
    context_strategy: "balanced" as const,
    copilot_mode: "teaching_assistant" as const,
  };
  const result = await tryModel(config, { signal: new AbortController().signal, timeoutMs });
  assert.ok(!JSON.stringify(result).includes(KEY));
  assert.ok(Number.isInteger(result.latency_ms) && result.model === "m-1");
  return { ...result, requests: endpoint.requests };
}

Deno.test("tryModel makes one small call with a tool and says that all is well", async () => {
  const { ok, supports_tools, message, requests, usage } = await trial([call("report_ready")]);
  assert.deepEqual([ok, supports_tools, requests.length], [true, true, 1]);
  assert.equal(message, "The model answers and uses tools.");
  assert.deepEqual([usage?.input, usage?.output], [50, 9]);
  const { body, headers } = requests[0]!;
  assert.deepEqual(body.tools.map((tool: { function: { name: string } }) => tool.function.name), [
    "report_ready",
  ]);
  assert.equal(headers.get("authorization"), `Bearer ${KEY}`);
});

Deno.test("tryModel counts a call that the model wrote as text", async () => {
  const { ok, supports_tools } = await trial([
    answer('{"name": "report_ready", "arguments": {"word": "ready"}}'),
  ]);
  assert.deepEqual([ok, supports_tools], [true, true]);
});

Deno.test("tryModel says in plain words what is wrong", async () => {
  const cases: [Answer[], RegExp, boolean | null][] = [
    [[refusal(401, `Incorrect API key provided: ${KEY}`)], /refused the API key/, null],
    [[refusal(404, "The model `m-1` does not exist", "model_not_found")], /has no model "m-1"/, null],
    [[refusal(400, "m-1 does not support tools")], /cannot call tools/, false],
    [[{ status: 404, body: "<html>" }], /does it need \/v1\?/, null],
    [[{ hangUp: true }], /Could not connect|broke/, null],
    [[refusal(402, "Insufficient balance")], /no quota or credit/, null],
  ];
  for (const [answers, words, tools] of cases) {
    const { ok, message, supports_tools } = await trial(answers);
    assert.match(message, words);
    assert.deepEqual([ok, supports_tools], [false, tools], message);
  }
});

Deno.test("tryModel says that a model which only talks may have no tools", async () => {
  const { ok, supports_tools, message } = await trial([answer("Hello! How can I help?")]);
  assert.deepEqual([ok, supports_tools], [true, false]);
  assert.match(message, /needs a model that calls tools/);
});

Deno.test("tryModel gives up on a silent endpoint, and stops at once when nobody waits any more", async () => {
  const silent: Answer = { body: [60_000] };
  const { ok, message } = await trial([silent], 300);
  assert.equal(ok, false);
  assert.match(message, /sent nothing/);

  await using endpoint = fakeEndpoint([silent]);
  const leaving = new AbortController();
  const config = {
    provider: "openai",
    base_url: endpoint.url,
    model: "m-1",
    context_limit: 8,
    context_strategy: "balanced" as const,
    copilot_mode: "teaching_assistant" as const,
  };
  const pending = tryModel(config, { signal: leaving.signal, timeoutMs: 60_000 });
  while (endpoint.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  leaving.abort(new Error("left"));
  await assert.rejects(pending, /left/);
  await endpoint.requests[0]!.closed;
});
