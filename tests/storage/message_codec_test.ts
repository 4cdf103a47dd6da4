import assert from "node:assert/strict";
import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { decodeMessage, encodeMessage } from "../../src/storage/message_codec.ts";
import { refusal } from "./helpers.ts";

Deno.test("decodeMessage gives back every kind of message with its fields", () => {
  const messages = [
    new HumanMessage({
      id: "1",
      content: "路由 😀",
      name: "ann",
      additional_kwargs: { created_at: "2026-03-01T10:00:00.000Z" },
    }),
    new HumanMessage({
      id: "2",
      content: [{ type: "text", text: "see" }, { type: "image_url", image_url: "data:x" }],
    }),
    new AIMessage({
      id: "3",
      content: "",
      tool_calls: [{ id: "c1", name: "show", args: { list: [1, { $: "odd" }] }, type: "tool_call" }],
      invalid_tool_calls: [{ id: "c2", name: "bad", args: "{", error: "cut off", type: "invalid_tool_call" }],
      usage_metadata: { input_tokens: 5, output_tokens: 6, total_tokens: 11 },
      response_metadata: { model_name: "m", finish_reason: "tool_calls" },
      additional_kwargs: { reasoning_content: "hm" },
    }),
    new ToolMessage({
      id: "4",
      content: "{}",
      tool_call_id: "c1",
      name: "show",
      status: "error",
      artifact: { bytes: new Uint8Array([1, 2]) },
    }),
    new SystemMessage({ id: "5", content: "be brief" }),
    new ChatMessage({ id: "6", content: "x", role: "critic" }),
    new RemoveMessage({ id: "7" }),
  ];
  for (const message of messages) {
    const read = decodeMessage(encodeMessage(message));
    assert.equal(read.constructor, message.constructor);
    assert.deepEqual(read.toDict(), message.toDict());
    assert.deepEqual(encodeMessage(read), encodeMessage(message));
  }
});

Deno.test("encodeMessage stores only what is not empty", () => {
  const stored = encodeMessage(new AIMessage({ id: "1", content: "hello" }));
  assert.deepEqual(stored, { kind: "ai", id: "1", content: "hello", rest: null });
});

Deno.test("encodeMessage stores a chunk as the message it amounts to", () => {
  const chunk = new AIMessageChunk({
    id: "1",
    content: "a",
    tool_call_chunks: [{ id: "c", name: "n", args: '{"x":1}', index: 0 }],
  });
  const read = decodeMessage(encodeMessage(chunk)) as AIMessage;
  assert.equal(read.constructor, AIMessage);
  assert.deepEqual(read.tool_calls?.map(({ name, args }) => ({ name, args })), [{
    name: "n",
    args: { x: 1 },
  }]);
});

Deno.test("decodeMessage keeps a message inside of a tool's artifact a message", () => {
  const message = new ToolMessage({
    id: "1",
    content: "",
    tool_call_id: "c",
    artifact: [new HumanMessage({ id: "2", content: "in" })],
  });
  const read = decodeMessage(encodeMessage(message)) as ToolMessage;
  assert.ok(HumanMessage.isInstance(read.artifact[0]));
  assert.equal(read.artifact[0].content, "in");
});

Deno.test("decodeMessage keeps a provider's raw calls and prints no warning about them", () => {
  const raw = [{ id: "c", type: "function" as const, function: { name: "n", arguments: "{" } }];
  const message = new AIMessage({
    id: "1",
    content: "",
    invalid_tool_calls: [{ id: "c", name: "n", args: "{", type: "invalid_tool_call" }],
  });
  message.additional_kwargs.tool_calls = raw;
  const warnings: unknown[] = [];
  const warn = console.warn;
  console.warn = (...text) => warnings.push(text);
  try {
    const read = decodeMessage(encodeMessage(message)) as AIMessage;
    assert.deepEqual(read.additional_kwargs.tool_calls, raw);
    assert.deepEqual(read.invalid_tool_calls, message.invalid_tool_calls);
    assert.deepEqual(read.tool_calls, []);
  } finally {
    console.warn = warn;
  }
  assert.deepEqual(warnings, []);
});

Deno.test("decodeMessage says that the database is damaged at a kind that nobody wrote", () => {
  assert.throws(
    () => decodeMessage({ kind: "alien", id: null, content: "", rest: null }),
    refusal("internal", /gns3-copilot\/copilot_checkpoints\.db .*damaged/),
  );
});

Deno.test("a message that holds itself is refused with a sentence", () => {
  const message = new ToolMessage({ id: "1", content: "x", tool_call_id: "c" });
  message.artifact = { message };
  assert.throws(() => encodeMessage(message), refusal("internal", /nested too deeply/));
});

Deno.test("arguments of 64 levels are kept, and a row with 100,000 is refused with a sentence", () => {
  const args = JSON.parse(`${'{"a":'.repeat(64)}1${"}".repeat(64)}`);
  const message = new AIMessage({ id: "1", content: "", tool_calls: [{ id: "c", name: "show", args }] });
  assert.deepEqual((decodeMessage(encodeMessage(message)) as AIMessage).tool_calls![0]!.args, args);
  const rest = `{"additional_kwargs":{"metadata":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`;
  assert.throws(
    () => decodeMessage({ kind: "human", id: "1", content: "x", rest }),
    refusal("internal", /is damaged/),
  );
});
