// Anthropic's own API, from the request to what a turn makes of the answer.
import assert from "node:assert/strict";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import type { ModelConfig } from "../../src/domain/model_config.ts";
import { createChatModel } from "../../src/models/chat_model.ts";
import { endpointOf } from "../../src/domain/endpoint.ts";
import { modelFailure } from "../../src/models/failures.ts";
import { tryModel } from "../../src/models/try_model.ts";
import { openStream, startChatServer } from "../fakes/chat.ts";
import { type MessagesApi, messagesApi, type Reply } from "../fakes/messages_api.ts";
import { answer, fakeEndpoint, type Part } from "./fake_endpoint.ts";
import { config as plain, deltas, KEY, options, textOf } from "./fixtures.ts";

const TOOLS = [{
  name: "look",
  description: "Looks.",
  parameters: { $schema: "x", type: "object", required: ["at"] },
}];
const OK: Reply = { blocks: [{ text: ["All ", "good."] }] };

let models = 0;
/** A model of its own each time: what is learned about one is remembered. */
const config = (url: string, more: Partial<ModelConfig> = {}) =>
  plain(url, { provider: "anthropic", model: `claude-${models++}`, ...more });

const failureOf = async (setup: ModelConfig) => {
  const error = await deltas(setup).then(() => assert.fail("the call should fail"), (error) => error);
  return modelFailure(error, setup).message.replaceAll(new URL(setup.base_url!).host, "HOST");
};

Deno.test("anthropic streams text with its finish reason and its usage, cached tokens counted in", async () => {
  await using api = messagesApi(KEY, () => ({
    ...OK,
    usage: { cache_read_input_tokens: 300, cache_creation_input_tokens: 50 },
  }));
  assert.deepEqual(await deltas(config(api.url)), [
    { text: "All " },
    { text: "good." },
    { finishReason: "stop" },
    { usage: { input: 1250, output: 12, cached: 300 } },
  ]);
});

Deno.test("anthropic is called at the same address however its base URL is written", () => {
  const url = (base_url?: string) => endpointOf({ provider: "Anthropic", base_url }).url;
  for (const end of ["", "/", "/v1", "/v1/", "/v1/messages", "/v1/chat/completions"]) {
    assert.equal(url(`https://proxy.example/a${end}`), "https://proxy.example/a/v1/messages");
  }
  assert.equal(url(), "https://api.anthropic.com/v1/messages");
});

Deno.test("anthropic gets the system prompt apart, a limit, a temperature up to 1, tools and what to cache", async () => {
  await using api = messagesApi(KEY, () => OK);
  const setup = config(api.url, { temperature: 1.7 });
  const messages = [new SystemMessage("Be brief."), new HumanMessage("hi")];
  await deltas(setup, { tools: TOOLS, toolChoice: "required" }, messages);
  const cache_control = { type: "ephemeral" };
  assert.deepEqual(api.requests[0]!.body, {
    model: setup.model,
    max_tokens: 16_384,
    temperature: 1,
    stream: true,
    system: [{ type: "text", text: "Be brief.", cache_control }],
    tools: [{
      name: "look",
      description: "Looks.",
      input_schema: { type: "object", required: ["at"], properties: {} },
      cache_control,
    }],
    tool_choice: { type: "any" },
    messages: [{ role: "user", content: [{ type: "text", text: "hi", cache_control }] }],
  });
  assert.equal(api.requests[0]!.headers.get("authorization"), null);
  const model = createChatModel(setup, { temperature: 0, maxTokens: 7 });
  await deltas(setup, {}, messages, model);
  const { temperature, max_tokens, tools } = api.requests[1]!.body;
  assert.deepEqual([temperature, max_tokens, tools], [0, 7, undefined]);
});

Deno.test("anthropic gets results as blocks of one message, images, and nothing that it refuses", async () => {
  await using api = messagesApi(KEY, () => OK);
  const call = (id: string, at: string) => ({ id, name: "look", args: { at }, type: "tool_call" as const });
  const result = (tool_call_id: string, status: "success" | "error") =>
    new ToolMessage({ tool_call_id, name: "look", content: `{"of":"${tool_call_id}"}`, status });
  await deltas(config(api.url), {}, [
    new AIMessage("left over"),
    new HumanMessage({
      content: [
        { type: "text", text: "see" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        { type: "image_url", image_url: { url: "https://x.example/i.png" } },
      ],
    }),
    new AIMessage({ content: " ", tool_calls: [call("functions.look:0", "r1"), call("b", "r2")] }),
    result("functions.look:0", "success"),
    result("b", "error"),
    new HumanMessage("and?"),
    new HumanMessage("well?"),
  ]);
  const { messages } = api.requests[0]!.body;
  assert.deepEqual(messages.map(({ role }: { role: string }) => role), [
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
  ]);
  assert.deepEqual(messages[2].content.slice(1), [
    { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
    { type: "image", source: { type: "url", url: "https://x.example/i.png" } },
  ]);
  assert.deepEqual(messages[3].content, [
    { type: "tool_use", id: "functions_look_0", name: "look", input: { at: "r1" } },
    { type: "tool_use", id: "b", name: "look", input: { at: "r2" } },
  ]);
  assert.deepEqual(messages[4].content, [
    { type: "tool_result", tool_use_id: "functions_look_0", content: '{"of":"functions.look:0"}' },
    { type: "tool_result", tool_use_id: "b", content: '{"of":"b"}', is_error: true },
    { type: "text", text: "and?" },
    { type: "text", text: "well?", cache_control: { type: "ephemeral" } },
  ]);
});

/** A conversation in which Claude thinks, looks twice at once, thinks again and answers. */
function thinking({ body }: { body: MessagesApi["requests"][0]["body"] }): Reply {
  if (!body.tools) return { blocks: [{ text: ["A title"] }] };
  const asks = ({ role, content }: { role: string; content: { type: string }[] }) =>
    role === "user" && content.some(({ type }) => type === "text");
  const inTurn = body.messages.slice(body.messages.findLastIndex(asks));
  const results = JSON.stringify(inTurn).split('"tool_result"').length - 1;
  if (results === 0) {
    return {
      blocks: [
        { thinking: ["I should ", "look 🤔"], signature: "c2ln" },
        { redacted: "ZW5j" },
        { text: ["Let me look."] },
        { call: "get_gns3_templates", id: "toolu_1", input: ["", '{"name_con', 'tains": "r"}'] },
        { call: "gns3_topology_reader", id: "toolu_2", input: [] },
      ],
    };
  }
  if (results === 2) {
    return {
      blocks: [
        { thinking: ["Once more."], signature: "c2lnMg" },
        { call: "gns3_topology_reader", id: "toolu_3", input: ["{}"] },
      ],
    };
  }
  return { blocks: [{ text: ["All ", "good."] }], usage: { cache_read_input_tokens: 100 } };
}

Deno.test("anthropic in a turn: thoughts are shown when asked for and go back with their signatures until the turn's end", async () => {
  await using api = messagesApi(KEY, thinking);
  await using server = await startChatServer({
    model: { provider: "anthropic", base_url: api.url, api_key: KEY, model: "claude-x" },
  });
  const alice = server.chat("alice");
  const turn = await alice.send("What is here?", { reasoning: true });
  assert.equal(turn.last.finish_reason, "stop", JSON.stringify(turn.last));
  assert.equal(turn.of("reasoning").map(({ content }) => content).join(""), "I should look 🤔Once more.");
  assert.equal(turn.text, "Let me look.All good.");
  const ends = turn.of("tool_end");
  assert.deepEqual(ends.map(({ tool_call_id, status }) => [tool_call_id, status]).sort(), [
    ["toolu_1", "success"],
    ["toolu_2", "success"],
    ["toolu_3", "success"],
  ]);
  const [, second, third] = api.requests.map(({ body }) => body.messages);
  assert.deepEqual(second[1].content.slice(0, 3), [
    { type: "thinking", thinking: "I should look 🤔", signature: "c2ln" },
    { type: "redacted_thinking", data: "ZW5j" },
    { type: "text", text: "Let me look." },
  ]);
  assert.equal(third[3].content[0].signature, "c2lnMg");
  const session = await alice.json("GET", `/sessions/${turn.sessionId}`);
  assert.equal(session.title, "A title");
  assert.deepEqual([session.input_tokens, session.stats.cached_input_tokens], [1000, 100]);
  // After a restart the conversation goes on, and earlier turns' thoughts are not sent any more.
  await server.restart();
  const next = await alice.send("And again?", { session_id: turn.sessionId });
  assert.equal(next.last.finish_reason, "stop", JSON.stringify(next.last));
  const later = api.requests.find(({ body }) => JSON.stringify(body.messages).includes("And again?"))!;
  assert.ok(!JSON.stringify(later.body.messages).includes("c2ln"));
});

Deno.test("anthropic after an approval: the thought before the call goes back with its result, also after a restart", async () => {
  await using api = messagesApi(KEY, ({ body }) => {
    if (!body.tools) return { blocks: [{ text: ["A title"] }] };
    if (JSON.stringify(body.messages).includes("tool_result")) return OK;
    const call = { call: "stop_gns3_node", id: "toolu_1", input: ['{"node_ids":["PC1"]}'] };
    return { blocks: [{ thinking: ["It must stop."], signature: "c2ln" }, call] };
  });
  await using server = await startChatServer({
    model: { provider: "anthropic", base_url: api.url, api_key: KEY, model: "claude-y" },
  });
  const alice = server.chat("alice");
  const asked = await alice.send("Stop PC1.", { approvals: true });
  assert.equal(asked.last.finish_reason, "approval");
  await server.restart();
  const { id } = asked.of("approval_request")[0]!.approval;
  const path = `/sessions/${asked.sessionId}/approvals/${id}`;
  const rest = await openStream(
    await alice.call("POST", path, { decision: "approve" }),
    new AbortController(),
  );
  await rest.end();
  assert.equal(rest.text, "All good.", JSON.stringify(rest.last));
  const [, assistant, results] = api.requests.find(({ body }) => body.messages.length === 3)!.body.messages;
  assert.deepEqual(assistant.content[0], { type: "thinking", thinking: "It must stop.", signature: "c2ln" });
  assert.deepEqual([results.content[0].tool_use_id, results.content[0].is_error], ["toolu_1", undefined]);
});

const REFUSALS: [name: string, refuse: Reply["refuse"], said: RegExp][] = [
  [
    "a wrong model",
    { status: 404, type: "not_found_error", message: "model: claude-x" },
    /^HOST has no model "claude-/,
  ],
  ["a long request", {
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 9 tokens > 8 maximum",
  }, /longer than the model/],
  [
    "a large request",
    { status: 413, type: "request_too_large", message: "Request exceeds the maximum size" },
    /longer than the model/,
  ],
  ["no credit", {
    status: 400,
    type: "invalid_request_error",
    message: "Your credit balance is too low to access the API.",
  }, /no quota or credit left/],
  [
    "a right that is missing",
    { status: 403, type: "permission_error", message: "Not allowed" },
    /does not allow this request/,
  ],
  ["a limit", {
    status: 429,
    type: "rate_limit_error",
    message: "Slow down",
    headers: { "retry-after": "42" },
  }, /Try again in 42 seconds/],
];

for (const [name, refuse, said] of REFUSALS) {
  Deno.test(`anthropic's refusal because of ${name} is told in our words`, async () => {
    await using api = messagesApi(KEY, () => ({ refuse }));
    assert.match(await failureOf(config(api.url)), said);
    assert.equal(api.requests.length, 1);
  });
}

Deno.test("anthropic's refused key, wrong address and missing key are told in our words", async () => {
  await using api = messagesApi(KEY, () => OK);
  assert.match(
    await failureOf(config(api.url, { api_key: "sk-ant-wrong" })),
    /^Authentication failed for HOST/,
  );
  assert.match(await failureOf(config(api.url, { api_key: undefined })), /^Authentication failed for HOST/);
  const wrong = await failureOf(config(`${api.url}/elsewhere`));
  assert.match(
    wrong,
    /^http:\/\/HOST\/elsewhere\/v1\/messages did not answer like a model endpoint \(404\)\. Check the base_url/,
  );
  assert.doesNotMatch(wrong, /does it need/);
});

Deno.test("anthropic that is overloaded or limits the rate is asked again, as it says", async () => {
  const busy = { status: 529, type: "overloaded_error", message: "Overloaded" };
  const limited = { status: 429, type: "rate_limit_error", message: "Slow", headers: { "retry-after": "0" } };
  await using api = messagesApi(
    KEY,
    (_, at) => at === 0 ? { refuse: busy } : at === 1 ? { refuse: limited } : OK,
  );
  assert.equal(textOf(await deltas(config(api.url))), "All good.");
  await using always = messagesApi(KEY, () => ({ refuse: busy }));
  assert.match(await failureOf(config(always.url)), /^HOST has a fault or is overloaded \(529\)/);
  assert.equal(always.requests.length, 3);
});

Deno.test("anthropic is asked again without what it refuses, and what was learned is remembered", async () => {
  const refusals = [
    "`temperature` is deprecated for this model.",
    "max_tokens: 16384 > 4096, which is the maximum allowed number of output tokens for claude-old",
    "messages.0.content.0.text.cache_control: Extra inputs are not permitted",
  ];
  await using api = messagesApi(KEY, ({ body }) => {
    const message = "temperature" in body
      ? refusals[0]
      : body.max_tokens > 4096
      ? refusals[1]
      : JSON.stringify(body).includes("cache_control")
      ? refusals[2]
      : undefined;
    return message ? { refuse: { status: 400, type: "invalid_request_error", message } } : OK;
  });
  const setup = config(api.url);
  assert.equal(textOf(await deltas(setup)), "All good.");
  assert.equal(api.requests.length, 4);
  assert.equal(textOf(await deltas(setup)), "All good.");
  assert.equal(api.requests.length, 5);
});

Deno.test("anthropic's errors inside the stream, broken streams and refusals to answer end with a sentence", async () => {
  const said = async (reply: Reply) => {
    await using api = messagesApi(KEY, () => reply);
    return await failureOf(config(api.url));
  };
  const blocks = [{ text: ["So far"] }];
  assert.match(
    await said({ blocks, error: { type: "overloaded_error", message: "Overloaded" } }),
    /fault or is overloaded \(529\)/,
  );
  assert.match(
    await said({ blocks, error: { type: "api_error", message: "Oops" } }),
    /fault or is overloaded \(500\)/,
  );
  assert.match(await said({ blocks, cut: true }), /broke before the answer was complete/);
  assert.match(await said({ blocks: [], stop: "refusal" }), /content filter of HOST blocked/);
  assert.match(await said({ blocks: [], stop: "max_tokens" }), /used up its output limit/);
  assert.match(await said({ blocks: [] }), /gave an empty answer, twice/);
});

Deno.test("anthropic's answer ends with its last event though the connection stays open", async () => {
  await using api = messagesApi(KEY, () => ({ ...OK, lingers: true, stop: "max_tokens" }));
  const pieces = await deltas(config(api.url), { silenceLimit: 2000 });
  assert.deepEqual(pieces.find(({ finishReason }) => finishReason), { finishReason: "length" });
});

Deno.test("anthropic's API without streaming, with unknown blocks or odd events is read as far as it makes sense", async () => {
  const message = { type: "message", content: [{ type: "text", text: "whole" }], stop_reason: "end_turn" };
  await using unstreamed = fakeEndpoint([{
    headers: { "content-type": "application/json" },
    body: JSON.stringify(message),
  }]);
  assert.equal(textOf(await deltas(config(unstreamed.url))), "whole");
  const events: unknown[] = [
    { type: "message_start", message: null },
    { type: "message_start", message: { content: "x", usage: { input_tokens: -1 } } },
    { type: "content_block_start", index: "a", content_block: { type: "server_tool_use", id: 1 } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: 5 } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "fine" } },
    { type: "content_block_delta", delta: null },
    { type: "content_block_stop" },
    { type: "new_event" },
    7,
    { type: "message_delta", delta: { stop_reason: "pause_turn" }, usage: { output_tokens: "9" } },
    { type: "message_stop" },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "after the end" } },
  ];
  const body: Part[] = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  await using odd = fakeEndpoint([{ body }]);
  assert.deepEqual(await deltas(config(odd.url)), [{ text: "fine" }, { finishReason: "stop" }]);
});

Deno.test("anthropic's input that comes as a value, however deep, is text that the tool can answer", async () => {
  const block = (input: string) =>
    `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"look","input":${input}}}\n\n`;
  const deep = `{"a":${"[".repeat(50_000)}1${"]".repeat(50_000)}}`;
  const end = 'data: {"type":"message_stop"}\n\n';
  await using endpoint = fakeEndpoint([{ body: block('{"at":"r1"}') + end }, { body: block(deep) + end }]);
  const args = async () => (await deltas(config(endpoint.url)))[0]!.toolCalls![0]!.args;
  assert.equal(await args(), '{"at":"r1"}');
  assert.match((await args())!, /^(\{"a":\[\[|\(nested too deeply)/);
});

Deno.test("a trial of an anthropic configuration says that the model answers and uses tools, or why not", async () => {
  await using api = messagesApi(
    KEY,
    ({ body }) =>
      body.tools ? { blocks: [{ call: "report_ready", id: "toolu_1", input: ['{"word":"ready"}'] }] } : OK,
  );
  const trial = (setup: ModelConfig) => tryModel(setup, { ...options(), timeoutMs: 5000 });
  assert.equal((await trial(config(api.url))).message, "The model answers and uses tools.");
  const refused = await trial(config(api.url, { api_key: "sk-ant-wrong" }));
  assert.equal(refused.ok, false);
  assert.match(refused.message, /refused the API key/);
  // The other protocol at this address is no answer.
  await using other = fakeEndpoint([answer("hi")]);
  assert.equal((await trial(config(other.url))).ok, false);
});
