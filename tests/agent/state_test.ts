import assert from "node:assert/strict";
import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import { messagesStateReducer } from "@langchain/langgraph";
import { addMessages } from "../../src/agent/state.ts";

const human = (id: string, content = id) => new HumanMessage({ id, content });
const asText = (messages: BaseMessage[]) =>
  messages.map(({ id, content, type }) => `${type} ${id ? "" : "without id "}${content}`);

const cases: Record<string, [BaseMessage[], BaseMessage[]]> = {
  "new messages at the end": [[human("a")], [new AIMessage({ id: "b", content: "b" }), human("c")]],
  "nothing": [[human("a"), human("b")], []],
  "the first messages": [[], [human("a")]],
  "a message that takes another's place": [[human("a"), human("b")], [human("a", "changed"), human("c")]],
  "the same id twice": [[human("a")], [human("b"), human("b", "again")]],
  "a removal": [[human("a"), human("b")], [new RemoveMessage({ id: "a" }), human("c")]],
  "messages without an id": [[human("a")], [new HumanMessage("b")]],
  "a conversation without ids": [[new HumanMessage("a")], [human("b")]],
};

for (const [what, [known, more]] of Object.entries(cases)) {
  Deno.test(`addMessages does what LangGraph's reducer does: ${what}`, () => {
    const before = [...known];
    const result = addMessages(known, more);
    assert.deepEqual(asText(result), asText(messagesStateReducer(known, more)));
    assert.ok(result.every(({ id }) => id));
    assert.deepEqual(known, before);
    assert.notEqual(result, known);
  });
}
