import assert from "node:assert/strict";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { growing } from "../../src/agent/growing.ts";

/** A function that notes which messages were added to what. */
function noting() {
  const begun: string[][] = [];
  const madeOf = growing(() => {
    const added: string[] = [];
    begun.push(added);
    return { added, add: (message: BaseMessage) => added.push(String(message.content)) };
  });
  return { begun, added: (messages: BaseMessage[]) => [...madeOf(messages).added] };
}

const [a, b, c, d] = ["a", "b", "c", "d"].map((content) => new HumanMessage(content)) as [
  BaseMessage,
  BaseMessage,
  BaseMessage,
  BaseMessage,
];

Deno.test("growing adds only the new messages of a conversation that has grown, in whatever array it comes", () => {
  const { begun, added } = noting();
  assert.deepEqual(added([a, b]), ["a", "b"]);
  assert.deepEqual(added([a, b]), ["a", "b"]);
  assert.deepEqual(added([a, b, c, d]), ["a", "b", "c", "d"]);
  assert.equal(begun.length, 1);
});

Deno.test("growing begins anew where a conversation is another one, is shorter, or has a message exchanged or removed", () => {
  const { begun, added } = noting();
  const histories = [[a, b, c], [a, b], [a, d], [a, b, c], [a, c], [b, c], [b, new HumanMessage("c")], []];
  for (const history of histories) {
    assert.deepEqual(added(history), history.map(({ content }) => content));
  }
  assert.equal(begun.length, histories.length);
});

Deno.test("growing does not mind that its caller changes the array afterwards", () => {
  const { added } = noting();
  const history = [a, b];
  added(history);
  history[1] = c;
  history.push(d);
  assert.deepEqual(added(history), ["a", "c", "d"]);
});

Deno.test("growing goes on with several conversations side by side", () => {
  const { begun, added } = noting();
  added([a]);
  added([b]);
  assert.deepEqual([added([a, c]), added([b, d]), added([a, c, d])], [["a", "c"], ["b", "d"], [
    "a",
    "c",
    "d",
  ]]);
  assert.equal(begun.length, 2);
});
