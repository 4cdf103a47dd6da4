import assert from "node:assert/strict";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { createChatModel } from "../../src/models/chat_model.ts";
import { requestText } from "../../src/models/request_text.ts";
import { config } from "./fixtures.ts";

const conversation = [
  new SystemMessage({ id: "s", content: "Be brief." }),
  new HumanMessage({ id: "u", content: 'Ping "PC2"\n\u2028' }),
  new AIMessage({
    id: "a",
    content: "",
    tool_calls: [{ id: "c", name: "ping", args: { to: "PC2" } }],
    additional_kwargs: { reasoning_content: "They want a ping." },
  }),
  new ToolMessage({ id: "t", tool_call_id: "c", content: "x".repeat(10_000) }),
];
const tools = [{ name: "ping", description: "Pings", parameters: { type: "object", properties: {} } }];

Deno.test("requestText writes what JSON.stringify writes, the first time and every other", () => {
  const model = createChatModel(config("http://127.0.0.1:1/v1"));
  for (let time = 0; time < 3; time++) {
    const body = model.requestOf(conversation, { tools });
    assert.equal(requestText(body), JSON.stringify(body));
  }
  assert.equal(requestText({ a: undefined, b: null, messages: [] }), '{"b":null,"messages":[]}');
});

Deno.test("a message that was sent before is sent as an endpoint's quirks want it by now", () => {
  const model = createChatModel(config("http://127.0.0.1:2/v1"));
  const assistant = () => JSON.parse(requestText(model.requestOf(conversation, {}))).messages[2];
  assert.equal(assistant().content, null);
  model.quirks.emptyContent = true;
  assert.equal(assistant().content, "");
  model.quirks.returnReasoning = true;
  assert.equal(assistant().reasoning_content, "They want a ping.");
  model.quirks.emptyContent = false;
  assert.equal(assistant().content, null);
  const later = [...conversation, new HumanMessage({ id: "v", content: "Again" })];
  const body = model.requestOf(later, {}) as { messages: { reasoning_content?: string }[] };
  assert.equal(body.messages[2]!.reasoning_content, undefined);
});
