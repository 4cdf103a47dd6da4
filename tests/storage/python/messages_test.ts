import assert from "node:assert/strict";
import type { BaseMessage } from "@langchain/core/messages";
import { toChatMessage } from "../../../src/agent/messages.ts";
import { sendableUnits } from "../../../src/agent/sendable.ts";
import { wireMessages } from "../../../src/models/wire_messages.ts";
import { decodeMessage, encodeMessage } from "../../../src/storage/message_codec.ts";
import { toMessages } from "../../../src/storage/python/messages.ts";
import { PythonObject } from "../../../src/storage/python/values.ts";

const TIME = "2026-01-01T00:00:00.000Z";

const message = (fields: Record<string, unknown>) =>
  new PythonObject("langchain_core.messages", "Any", fields);

const read = (...list: unknown[]) =>
  toMessages(list, TIME, (place) => `python-${place + 1}`) as BaseMessage[];

Deno.test("toMessages gives every message an id of its own, the same each time, whatever Python called it", () => {
  const list = ["a", "a", "", null, 7, "a"].map((id) => message({ type: "human", content: "x", id }));
  const ids = ["a", "python-2", "python-3", "python-4", "python-5", "python-6"];
  for (let time = 0; time < 2; time++) assert.deepEqual(read(...list).map(({ id }) => id), ids);
});

Deno.test("toMessages gives a call without an id one, in the order in which the model made the calls", () => {
  const call = (id: unknown) => ({ name: "ping", args: {}, id });
  const [answer] = read(message({
    type: "ai",
    id: "m",
    content: "",
    tool_calls: [call(null), call("c"), call("")],
    invalid_tool_calls: [{ name: "ping", args: "{", id: null }],
  }));
  const calls = toChatMessage(answer!).tool_calls!.map((one) => [one.id, one.function.arguments]);
  assert.deepEqual(calls, [["m.1", "{}"], ["c", "{}"], ["m.3", "{}"], ["m.4", "{"]]);
});

Deno.test("toMessages reads a message that is a plain dictionary", () => {
  assert.deepEqual(
    read({ role: "user", content: "hi" }, { role: "assistant", content: "ho" }, { type: "ToolMessageChunk" })
      .map((one) => [one.getType(), one.content]),
    [["human", "hi"], ["ai", "ho"], ["tool", ""]],
  );
});

Deno.test("toMessages says what it does not know, with all that stands there", () => {
  for (const value of [message({ type: "constructor", content: "news" }), "news", ["news"], { news: 1n }]) {
    const [said] = read(value);
    assert.equal(said!.getType(), "ai");
    assert.match(String(said!.content), /kind that this server does not know: .*news/);
  }
});

Deno.test("whatever a message's fields hold, it can be stored, shown, and sent to a model", () => {
  const next = random(1);
  const types = ["human", "ai", "tool", "system", "AIMessageChunk", "chat", "weird"];
  const names = [
    "content",
    "additional_kwargs",
    "response_metadata",
    "name",
    "id",
    "tool_calls",
    "invalid_tool_calls",
    "usage_metadata",
    "tool_call_id",
    "artifact",
    "status",
    "metadata",
  ];
  for (let round = 0; round < 1_000; round++) {
    const fields: Record<string, unknown> = { type: types[next(types.length)] };
    for (const name of names) if (next(3) > 0) fields[name] = anything(next);
    if (next(2) > 0) fields.tool_calls = [{ name: anything(next), args: anything(next), id: anything(next) }];
    if (next(3) > 0) fields.response_metadata = { output_version: "v1", model_provider: "openai" };
    const stored = read(message(fields)).map((one) => JSON.stringify(encodeMessage(one)));
    const messages = stored.map((one) => decodeMessage(JSON.parse(one)));
    assert.equal(messages.length, 1, `${round}`);
    const shown = toChatMessage(messages[0]!);
    assert.ok(shown.id !== "" && typeof shown.content === "string" && shown.created_at !== "", `${round}`);
    const sent = wireMessages(sendableUnits(messages).flatMap((unit) => unit.messages), {} as never);
    JSON.parse(JSON.stringify([shown, sent]));
    for (const { tool_calls } of sent) {
      for (const call of tool_calls ?? []) JSON.parse(call.function.arguments);
    }
  }
});

/** Numbers below `limit` that come in the same order every time. */
function random(seed: number): (limit: number) => number {
  return (limit) => {
    seed = Math.imul(seed, 1_103_515_245) + 12_345 & 0x7fffffff;
    return (seed >> 8) % limit;
  };
}

const LEAVES = [
  null,
  "",
  0,
  1.5,
  NaN,
  true,
  "x",
  "\ud800",
  "中",
  2n ** 63n,
  new Uint8Array([1]),
  [],
  {},
  new Date(0),
];
const KEYS = [
  "type",
  "content",
  "id",
  "name",
  "text",
  "args",
  "index",
  "__proto__",
  "constructor",
  "url",
  "created_at",
];
const PARTS = ["text", "tool_use", "image_url", "thinking"];

function anything(next: (limit: number) => number, depth = 0): unknown {
  const kind = depth > 3 ? 0 : next(5);
  if (kind < 2) return LEAVES[next(LEAVES.length)];
  const some = Array.from({ length: next(4) }, () => anything(next, depth + 1));
  if (kind === 2) return some;
  const entries = some.map((value) => [KEYS[next(KEYS.length)], value]);
  return Object.fromEntries(kind === 3 ? entries : [...entries, ["type", PARTS[next(PARTS.length)]]]);
}
