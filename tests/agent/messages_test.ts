import assert from "node:assert/strict";
import { AIMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { assistantMessage, toChatMessage, toolMessage, userMessage } from "../../src/agent/messages.ts";
import { chatMessageSchema } from "../../src/domain/session.ts";

const T = "2026-05-11T10:00:00.000Z";
const stamp = (id: string) => ({ id, createdAt: T });

Deno.test("userMessage becomes a user's message with a stable id and time", () => {
  const chat = toChatMessage(userMessage("hi", stamp("u1")));
  assert.deepEqual(chat, {
    id: "u1",
    role: "user",
    content: "hi",
    created_at: T,
    metadata: { created_at: T },
  });
  chatMessageSchema.parse(chat);
});

Deno.test("assistantMessage becomes OpenAI's shape with the arguments as the model sent them", () => {
  // C9
  const calls = [
    { id: "a", name: "f", argumentsText: '{ "x": 1 }' },
    { id: "b", name: "g", argumentsText: '{"x":' },
    { id: "c", name: "h", argumentsText: "" },
  ];
  const message = assistantMessage({
    text: "Let me look.",
    calls,
    reasoning: "hm",
    usage: { input: 8674, output: 675 },
  }, stamp("a1"));
  const chat = toChatMessage(message);
  assert.deepEqual(chat, {
    id: "a1",
    role: "assistant",
    content: "Let me look.",
    created_at: T,
    metadata: { created_at: T },
    tool_calls: calls.map(({ id, name, argumentsText }) => ({
      id,
      type: "function",
      function: { name, arguments: argumentsText },
    })),
  });
  chatMessageSchema.parse(chat);
  assert.deepEqual(message.usage_metadata, { input_tokens: 8674, output_tokens: 675, total_tokens: 9349 });
  assert.equal(message.additional_kwargs.reasoning_content, "hm");
});

Deno.test("toolMessage becomes a tool's message with its call, name and status", () => {
  const message = toolMessage({ callId: "a", name: "f", output: '{"ok":1}', status: "error" }, {
    ...stamp("t1"),
    metadata: { ms: 3 },
    kwargs: { hidden: 1 },
  });
  const chat = toChatMessage(message);
  assert.deepEqual(chat, {
    id: "t1",
    role: "tool",
    content: '{"ok":1}',
    name: "f",
    tool_call_id: "a",
    created_at: T,
    metadata: { ms: 3, created_at: T, status: "error" },
  });
  chatMessageSchema.parse(chat);
  assert.equal(message.additional_kwargs.hidden, 1);
});

Deno.test("toChatMessage joins text parts and makes JSON of content without any", () => {
  const image = { type: "image_url", image_url: { url: "http://x/y.png" } };
  const content = (parts: unknown) =>
    toChatMessage(new HumanMessage({ id: "1", content: parts as string })).content;
  assert.equal(content([{ type: "text", text: "a" }, image, { type: "text", text: "b" }]), "ab");
  assert.equal(content([image]), JSON.stringify([image]));
  assert.equal(content([]), "");
});

Deno.test("toChatMessage gives strange messages an id and a time too", () => {
  const chats = [new SystemMessage("s"), new AIMessage("a")].map(toChatMessage);
  assert.deepEqual(chats.map(({ id, role, created_at }) => [id, role, created_at]), [
    ["message-1", "system", "1970-01-01T00:00:00.000Z"],
    ["message-2", "assistant", "1970-01-01T00:00:00.000Z"],
  ]);
});
