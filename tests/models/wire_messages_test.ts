import assert from "node:assert/strict";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import type { Quirks } from "../../src/models/quirks.ts";
import { toolCallFields, toolCallsOf } from "../../src/models/tool_calls.ts";
import { wireMessages } from "../../src/models/wire_messages.ts";

const plain: Quirks = { limitField: "max_tokens" };

function calling(calls: Parameters<typeof toolCallFields>[0], content = ""): AIMessage {
  const { kwargs, ...fields } = toolCallFields(calls);
  return new AIMessage({ content, ...fields, additional_kwargs: kwargs });
}

Deno.test("wireMessages writes each kind of message as the API wants it", () => {
  const wire = wireMessages([
    new SystemMessage("s"),
    new HumanMessage("u"),
    calling([{ id: "1", name: "f", argumentsText: '{"a": 1}' }]),
    new ToolMessage({ tool_call_id: "1", content: "r" }),
    new AIMessage("a"),
  ], plain);
  assert.deepEqual(wire, [
    { role: "system", content: "s" },
    { role: "user", content: "u" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: '{"a": 1}' } }],
    },
    { role: "tool", content: "r", tool_call_id: "1" },
    { role: "assistant", content: "a" },
  ]);
});

Deno.test("wireMessages never sends arguments that are not a JSON object, or a name that no provider takes", () => {
  // C9
  const broken = ['{"a":', "null", "[]", '"x"', ""];
  const [message] = wireMessages([
    calling(broken.map((argumentsText, at) => ({ id: `${at}`, name: "do it!", argumentsText }))),
  ], plain);
  assert.deepEqual(
    message!.tool_calls!.map((call) => call.function),
    broken.map(() => ({ name: "do_it_", arguments: "{}" })),
  );
});

Deno.test("wireMessages sends text parts of assistant and tool messages as text, and a user's images as they are", () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
  const wire = wireMessages([
    new HumanMessage({ content: [{ type: "text", text: "what is this?" }, image] }),
    new AIMessage({ content: [{ type: "text", text: "a " }, { type: "text", text: "router" }] }),
  ], plain);
  assert.deepEqual(wire, [
    { role: "user", content: [{ type: "text", text: "what is this?" }, image] },
    { role: "assistant", content: "a router" },
  ]);
});

Deno.test("wireMessages sends no half of a character, and leaves escapes of whole ones as they are", () => {
  const sent = (argumentsText: string) =>
    wireMessages([calling([{ id: "1", name: "f", argumentsText }])], plain)[0]!.tool_calls![0]!.function
      .arguments;
  assert.equal(sent('{"x": "\\ud83d"}'), '{"x":"\ufffd"}');
  assert.equal(JSON.parse(sent('{"x": "\\ud83d\\ude00"}')).x, "😀");
  assert.equal(sent('{ "x": "😀" }'), '{ "x": "😀" }');
});

Deno.test("toolCallsOf is not confused by ids that every object has a field for", () => {
  const message = calling([{ id: "a", name: "f", argumentsText: '{ "x" : 1 }', extra: 1 }]);
  message.tool_calls!.push({ id: "constructor", name: "g", args: { y: 2 }, type: "tool_call" });
  assert.deepEqual(toolCallsOf(message)[1], { id: "constructor", name: "g", argumentsText: '{"y":2}' });
});

Deno.test("wireMessages sends opaque data back with its call", () => {
  const [message] = wireMessages([
    calling([{ id: "1", name: "f", argumentsText: "{}", extra: { google: 1 } }]),
  ], plain);
  assert.deepEqual(message!.tool_calls![0], {
    id: "1",
    type: "function",
    function: { name: "f", arguments: "{}" },
    extra_content: { google: 1 },
  });
});

Deno.test("toolCallsOf gives back every call in order and with the text that the model sent", () => {
  // C9
  const calls = [
    { id: "1", name: "a", argumentsText: '{ "x" : 1 }' },
    { id: "2", name: "b", argumentsText: '{"x":' },
    { id: "3", name: "c", argumentsText: "" },
    { id: "4", name: "d", argumentsText: "null" },
    { id: "5", name: "e", argumentsText: '{"x":1}' },
  ];
  const message = calling(calls);
  assert.deepEqual(toolCallsOf(message), calls);
  assert.deepEqual(message.tool_calls!.map((call) => call.id), ["1", "3", "5"]);
  assert.deepEqual(message.invalid_tool_calls!.map((call) => call.id), ["2", "4"]);
  assert.deepEqual(toolCallsOf(new HumanMessage("x")), []);
});
