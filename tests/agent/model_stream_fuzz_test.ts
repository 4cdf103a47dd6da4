// Whatever a model's endpoint sends, in both protocols: the turn has one end, history is what was streamed, the session
// goes on. The failing case is repeated with the seed that it prints.
import assert from "node:assert/strict";
import type { ModelConfig } from "../../src/domain/model_config.ts";
import { type Chat, startChatServer, type Stream } from "../fakes/chat.ts";
import { assertTurn } from "../fakes/grammar.ts";
import { anyValue, type Chance, fuzzCase, fuzzing, ODD_TEXTS } from "../fakes/fuzz.ts";
import {
  type Answer,
  answer,
  chunk,
  fakeEndpoint,
  type Part,
  type SeenRequest,
} from "../models/fake_endpoint.ts";

/** Fast ones, and some that are not there. */
const TOOLS = [
  "get_gns3_templates",
  "gns3_topology_reader",
  "list_gns3_captures",
  "no_such_tool",
  "stop_gns3_node",
  "",
  "wait seconds\ud83d",
];
const ARGUMENTS = [
  "{}",
  "",
  "null",
  '{"name_contains":"😀"}',
  '{"name_contains":"\\ud83d"}',
  "{",
  "[]",
  '{"a":1}}',
  '{"project_id":7}',
  '{"node_ids":["no such node"]}',
];
const EVENTS: unknown[] = [null, 1, "x", [], {}, { choices: null }, { choices: [] }, { choices: {} }, {
  object: "x",
}];

function completionsEvent(c: Chance): unknown {
  const { int, pick, maybe, some } = c;
  const call = () => ({
    ...(maybe(70) ? { index: maybe(90) ? int(3) : anyValue(c, 1) } : {}),
    ...(maybe(50)
      ? { id: maybe(90) ? pick(["a", "b", "call_1", "", "__proto__", "constructor"]) : anyValue(c, 1) }
      : {}),
    ...(maybe(90)
      ? {
        function: {
          ...(maybe(50) ? { name: maybe(95) ? pick(TOOLS) : anyValue(c, 1) } : {}),
          ...(maybe(80) ? { arguments: maybe(90) ? piece(c, pick(ARGUMENTS)) : anyValue(c) } : {}),
        },
      }
      : {}),
  });
  switch (int(16)) {
    case 0:
      return pick(EVENTS);
    case 1:
      return anyValue(c);
    case 2:
      return chunk(anyValue(c), pick([null, "stop", "length", "tool_calls", "content_filter", "odd"]));
    case 3:
      return { choices: [], usage: pick([usage(c), usage(c), anyValue(c)]) };
    case 4:
      return {
        choices: [
          { index: 1, delta: { content: "second" } },
          ...(chunk({ content: "first" }).choices as unknown[]),
        ],
      };
    case 5:
      return chunk({ reasoning_content: piece(c, pick(ODD_TEXTS)) });
    case 6:
      return maybe(30) ? { error: anyValue(c) } : chunk({ reasoning: pick(ODD_TEXTS) });
    case 7:
      return chunk({
        content: some(0, 3, () => maybe(50) ? { type: "text", text: pick(ODD_TEXTS) } : anyValue(c, 1)),
      });
    case 8:
    case 9:
    case 10:
      return chunk({ tool_calls: maybe(95) ? some(1, 3, call) : anyValue(c) });
    default:
      return chunk({ content: piece(c, pick(ODD_TEXTS)), ...(maybe(10) ? { role: anyValue(c, 1) } : {}) });
  }
}

function messagesEvent(c: Chance): unknown {
  const { int, pick, maybe } = c;
  const index = maybe(90) ? int(3) : anyValue(c, 1);
  switch (int(12)) {
    case 0:
      return maybe(50) ? pick(EVENTS) : anyValue(c);
    case 1:
      return { type: "message_start", message: maybe(80) ? { content: [], usage: usage(c) } : anyValue(c) };
    case 2:
      return {
        type: "content_block_start",
        index,
        content_block: maybe(80) ? { type: pick(["text", "thinking", "server_tool_use"]) } : anyValue(c),
      };
    case 3:
    case 4:
      return {
        type: "content_block_start",
        index,
        content_block: {
          type: "tool_use",
          id: maybe(90) ? pick(["a", "b", "", "__proto__", "toString"]) : anyValue(c, 1),
          name: pick(TOOLS),
          input: maybe(80) ? {} : anyValue(c),
        },
      };
    case 5:
    case 6:
      return {
        type: "content_block_delta",
        index,
        delta: { type: "input_json_delta", partial_json: piece(c, pick(ARGUMENTS)) },
      };
    case 7:
      return {
        type: "content_block_delta",
        index,
        delta: maybe(80) ? { type: "thinking_delta", thinking: piece(c, pick(ODD_TEXTS)) } : anyValue(c),
      };
    case 8:
      return pick([{ type: "ping" }, { type: "content_block_stop", index }, {
        type: "signature_delta",
        signature: "x",
      }]);
    case 9:
      return maybe(30)
        ? { type: "error", error: pick([{ type: "overloaded_error", message: "x" }, anyValue(c)]) }
        : {
          type: "message_delta",
          delta: { stop_reason: pick(["end_turn", "tool_use", "max_tokens", null, 7]) },
          usage: usage(c),
        };
    default:
      return {
        type: "content_block_delta",
        index,
        delta: { type: "text_delta", text: maybe(95) ? piece(c, pick(ODD_TEXTS)) : anyValue(c) },
      };
  }
}

function usage(c: Chance): unknown {
  const number = () => c.maybe(70) ? c.int(5000) : anyValue(c, 1);
  return c.maybe(85)
    ? {
      prompt_tokens: number(),
      completion_tokens: number(),
      input_tokens: number(),
      output_tokens: number(),
    }
    : anyValue(c);
}

/** A text, or a part of it that may end in the middle of a character. */
function piece(c: Chance, text: string): string {
  return c.maybe(60) ? text : text.slice(0, c.int(text.length + 1));
}

/** One answer of the endpoint, cut anywhere, now and then broken off or no answer at all. */
function oddAnswer(c: Chance, protocol: Protocol): Answer {
  const { int, maybe, pick, some } = c;
  if (maybe(2)) return { hangUp: true };
  if (maybe(4)) {
    return {
      status: pick([400, 401, 404, 422, 413, 302]),
      body: pick(["", "<html>", "{", JSON.stringify(anyValue(c))]),
    };
  }
  if (maybe(4)) return { headers: { "content-type": "application/json" }, body: JSON.stringify(anyValue(c)) };
  const ends = pick(["\n\n", "\n\n", "\r\n\r\n", "\n", "\r\r"]);
  const lines = some(0, 14, () => {
    const event = JSON.stringify(protocol === "messages" ? messagesEvent(c) : completionsEvent(c));
    if (maybe(2)) {
      return pick([
        "garbage",
        ": comment",
        "data:",
        "event: error",
        "id: 7",
        'data: {"choices":',
        "retry: x",
      ]) + ends;
    }
    return `${maybe(90) ? "data: " : "data:"}${event}${ends}`;
  });
  if (maybe(60)) {
    lines.push(protocol === "messages" ? `data: {"type":"message_stop"}${ends}` : `data: [DONE]${ends}`);
  }
  let bytes = new TextEncoder().encode(lines.join(""));
  if (maybe(5) && bytes.length) bytes = bytes.map((byte, at) => at === bytes.length >> 1 ? int(256) : byte);
  const parts: Part[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = 1 + int(maybe(20) ? 7 : 400);
    parts.push(bytes.slice(at, at += length));
    if (maybe(5)) parts.push(1);
  }
  if (maybe(8)) parts.splice(int(parts.length + 1), Infinity, { break: true });
  return { body: parts, closeDelimited: maybe(10) };
}

type Protocol = "completions" | "messages";
/** Sessions that are used at the same time. */
const LANES = 12;
const CASE = /FUZZ (\d+) (\d+)/g;

/** What the endpoint answers: the case's own answers to its turn, sensible ones to everything else. */
function endpointOf(protocol: Protocol, chances: Map<string, Chance>) {
  const steps = new Map<string, number>();
  const plain = (text: string): Answer =>
    protocol === "completions" ? answer(text) : {
      body: [
        { type: "message_start", message: { content: [], usage: { input_tokens: 10, output_tokens: 1 } } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
        { type: "message_stop" },
      ].map((event) => `data: ${JSON.stringify(event)}\n\n`),
    };
  return fakeEndpoint(({ body }: SeenRequest) => {
    const text = JSON.stringify(body.messages);
    const [id] = [...text.matchAll(CASE)].at(-1) ?? [];
    const c = id && chances.get(id);
    if (!c || text.lastIndexOf("GO ON") > text.lastIndexOf(id)) return plain("fine");
    if (!body.tools) return c.maybe(70) ? plain("A title") : oddAnswer(c, protocol);
    const step = (steps.get(id) ?? 0) + 1;
    steps.set(id, step);
    return step > 3 ? plain("enough") : oddAnswer(c, protocol);
  });
}

async function assertKept(alice: Chat, turn: Stream, asked: string): Promise<void> {
  const { messages } = await alice.json("GET", `/sessions/${turn.sessionId}/history?limit=1000`);
  const from = messages.findLastIndex(({ role }: { role: string }) => role === "user");
  assert.equal(messages[from].content, asked);
  const texts = new Map<string, string>();
  for (const { message_id, content } of turn.of("content")) {
    texts.set(message_id, (texts.get(message_id) ?? "") + content);
  }
  const calls = new Map(turn.of("tool_call").map(({ tool_call }) => [tool_call.id, tool_call.function]));
  const outputs = new Map(
    turn.of("tool_end").map(({ tool_call_id, tool_output }) => [tool_call_id, tool_output]),
  );
  for (const message of messages.slice(from + 1)) {
    if (message.role === "tool") {
      const output = outputs.get(message.tool_call_id);
      if (output !== undefined) assert.equal(message.content, output);
      outputs.delete(message.tool_call_id);
      continue;
    }
    assert.equal(message.content, texts.get(message.id) ?? "");
    texts.delete(message.id);
    for (const { id, function: { name, arguments: args } } of message.tool_calls ?? []) {
      const shown = calls.get(id);
      assert.equal(shown?.name, name);
      if (shown.complete) assert.equal(shown.arguments, args);
      else assert.ok(args.startsWith(shown.arguments), "what was shown of a call is its beginning");
      calls.delete(id);
    }
  }
  for (const text of texts.values()) assert.equal(text.trim(), "", "what was said is kept");
  assert.deepEqual([...calls.keys(), ...outputs.keys()], [], "what was called is kept");
  const torn = [...messages, ...turn.events].find((one) => !wellFormed(one));
  assert.equal(torn, undefined, "no halves of characters");
}

function wellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  return typeof value !== "object" || value === null || Object.entries(value).flat().every(wellFormed);
}

async function assertResumable(alice: Chat, turn: Stream, c: Chance): Promise<void> {
  const at = c.int(turn.ids.length);
  if (!turn.ids[at]) return;
  const resumed = await alice.follow(turn.sessionId, turn.ids[at]);
  await resumed.end();
  const before = turn.events.slice(0, at + 1).filter(({ type }) => type === "content").map(({ content }) =>
    content
  );
  assert.equal(before.join("") + resumed.text, turn.text, "whoever resumes misses nothing");
}

/** A turn to its end: followed, stopped, or left and picked up again. */
async function runTurn(
  alice: Chat,
  c: Chance,
  asked: string,
  body: Record<string, unknown>,
): Promise<Stream> {
  if (c.maybe(70)) return await alice.send(asked, body);
  const turn = await alice.start(asked, body);
  const early = c.maybe(50);
  await turn.until(({ type }) => early || type !== "heartbeat");
  if (c.maybe(50)) {
    await alice.json("POST", `/sessions/${turn.sessionId}/abort`);
    await turn.end();
    assertTurn(turn.events);
    return turn;
  }
  await turn.leave();
  const picked = await alice.follow(turn.sessionId);
  await picked.end();
  assertTurn(picked.events);
  return picked;
}

for (const protocol of ["completions", "messages"] as const) {
  const { seed, cases } = fuzzing(protocol === "completions" ? 220 : 100);
  Deno.test(`whatever a model streams (${protocol}), a turn has one end and the session goes on; FUZZ_SEED=${seed}`, async () => {
    const chances = new Map<string, Chance>();
    await using endpoint = endpointOf(protocol, chances);
    const model: Partial<ModelConfig> = {
      base_url: endpoint.url,
      provider: protocol === "messages" ? "anthropic" : "openai",
    };
    await using server = await startChatServer({ model });
    const alice = server.chat("alice");
    const runCase = async (c: Chance, at: number, sessionId: string | undefined) => {
      const asked = `FUZZ ${seed} ${at}`;
      chances.set(asked, c);
      const turn = await runTurn(alice, c, asked, {
        session_id: sessionId,
        reasoning: true,
        approvals: c.maybe(20),
      });
      if (turn.last.type === "error") {
        assert.ok(["model_error", "rate_limited"].includes(turn.last.code), JSON.stringify(turn.last));
      }
      await assertKept(alice, turn, asked);
      await assertResumable(alice, turn, c);
      const next = await alice.send("GO ON", { session_id: turn.sessionId });
      assert.equal(next.text, "fine", JSON.stringify(next.events));
      return turn.sessionId;
    };
    // Side by side, because some cases wait before they ask the model again.
    await Promise.all(Array.from({ length: LANES }, async (_, lane) => {
      let sessionId: string | undefined;
      for (let at = lane; at < cases; at += LANES) {
        await fuzzCase(seed, at, async (c) => {
          sessionId = await runCase(c, at, c.maybe(40) ? undefined : sessionId);
        });
      }
    }));
    const faults = server.lines.filter(({ level }) => level === "error");
    assert.deepEqual(faults, [], "nothing in this program failed");
  });
}
