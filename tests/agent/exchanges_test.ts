import assert from "node:assert/strict";
import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { exchanges, repair } from "../../src/agent/exchanges.ts";
import { assistantMessage, INTERRUPTED, toolMessage, userMessage } from "../../src/agent/messages.ts";
import { toolCallsOf } from "../../src/models/tool_calls.ts";

const T = "2026-05-11T10:00:00.000Z";
const stamp = (id: string) => ({ id, createdAt: T });

const user = (id: string) => userMessage("hi", stamp(id));
const calling = (id: string, ...ids: string[]) =>
  assistantMessage(
    { text: "", calls: ids.map((id) => ({ id, name: `tool_${id}`, argumentsText: "{}" })) },
    stamp(id),
  );
const result = (id: string, callId: string) =>
  toolMessage({ callId, name: "f", output: "ok", status: "success" }, stamp(id));

function repaired(messages: BaseMessage[]): string[] {
  let made = 0;
  return repair(messages, T, () => `new-${++made}`).map((message) =>
    ToolMessage.isInstance(message)
      ? `add ${message.id} for ${message.tool_call_id} ${message.name}: ${message.content}`
      : `${message.getType()} ${message.id}`
  );
}

Deno.test("repair leaves a whole history alone", () => {
  assert.deepEqual(repaired([]), []);
  assert.deepEqual(
    repaired([
      user("u"),
      calling("a", "1", "2"),
      result("r1", "1"),
      result("r2", "2"),
      assistantMessage({ text: "x" }, stamp("b")),
    ]),
    [],
  );
});

Deno.test("repair answers each unanswered call of an interrupted turn, also of a partly answered batch", () => {
  // C1
  assert.equal(JSON.parse(INTERRUPTED).error, "interrupted, outcome unknown – check before repeating");
  assert.deepEqual(repaired([user("u"), calling("a", "1", "2", "3"), result("r2", "2")]), [
    `add new-1 for 1 tool_1: ${INTERRUPTED}`,
    `add new-2 for 3 tool_3: ${INTERRUPTED}`,
  ]);
  const [message] = repair([user("u"), calling("a", "1")], T, () => "n");
  assert.equal((message as ToolMessage).status, "error");
  assert.equal(message!.additional_kwargs.created_at, T);
});

Deno.test("repair answers malformed calls too", () => {
  const broken = assistantMessage(
    { text: "", calls: [{ id: "1", name: "f", argumentsText: '{"x":' }] },
    stamp("a"),
  );
  assert.deepEqual(repaired([user("u"), broken]), [`add new-1 for 1 f: ${INTERRUPTED}`]);
});

Deno.test("repair removes results that answer no call, and second results of one", () => {
  // C1
  const messages = [user("u"), result("r0", "9"), calling("a", "1"), result("r1", "1"), result("r2", "1")];
  assert.deepEqual(repaired(messages), ["remove r0", "remove r2"]);
});

Deno.test("repair leaves unanswered calls of earlier turns to what is sent", () => {
  assert.deepEqual(repaired([user("u"), calling("a", "1"), user("v")]), []);
});

Deno.test("exchanges gives the results of a reused id to the call that was made last", () => {
  const first = result("r1", "1");
  const second = result("r2", "1");
  const { exchanges: found, stray } = exchanges([
    user("u"),
    calling("a", "1"),
    first,
    calling("b", "1"),
    second,
  ]);
  assert.deepEqual(found.map(({ results }) => results), [[], [first], [second]]);
  assert.deepEqual(stray, []);
  assert.deepEqual(toolCallsOf(found[1]!.message).map((call) => call.id), ["1"]);
});
