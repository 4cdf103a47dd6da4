import assert from "node:assert/strict";
import type { BaseMessage } from "@langchain/core/messages";
import { usedIds } from "../../src/agent/answer.ts";
import { fitContext } from "../../src/agent/context_window.ts";
import { repair } from "../../src/agent/exchanges.ts";
import { assistantMessage, toolMessage, userMessage } from "../../src/agent/messages.ts";
import { addMessages } from "../../src/agent/state.ts";
import { warmUp } from "../../src/agent/tokens.ts";

await warmUp();

let ids = 0;
const stamp = () => ({ id: `m${++ids}`, createdAt: "2026-01-01T00:00:00.000Z" });

/** A question, a call, its result and an answer. */
function turn(at: number): BaseMessage[] {
  const id = `call-${at}`;
  return [
    userMessage(`question ${at}`, stamp()),
    assistantMessage({ text: "", calls: [{ id, name: "show", argumentsText: "{}" }] }, stamp()),
    toolMessage({ callId: id, name: "show", output: `result ${at}`, status: "success" }, stamp()),
    assistantMessage({ text: `answer ${at}` }, stamp()),
  ];
}

/** What the agent does with a conversation between a question and its answer. */
function ask(stored: readonly BaseMessage[], at: number): BaseMessage[] {
  const before = [...stored];
  assert.deepEqual(repair(before, "now", () => "new"), []);
  const [question, call, result, answer] = turn(at) as [BaseMessage, BaseMessage, BaseMessage, BaseMessage];
  let messages = addMessages(before, [question]);
  for (const step of [[call, result], [answer]]) {
    const fitted = fitContext({
      messages,
      systemPrompt: "You are a network assistant.",
      topology: null,
      toolsTokens: 0,
      config: { context_limit: 128 },
    });
    assert.equal(fitted.messages.length, messages.length + 1);
    assert.equal(usedIds(messages)("call-0"), true);
    messages = addMessages(messages, step);
  }
  return messages;
}

/** Counts from now on how often something is read of a message. */
function countReads(messages: readonly BaseMessage[]): () => number {
  let reads = 0;
  for (const message of messages) {
    for (const field of ["id", "type", "content", "tool_calls", "tool_call_id"] as const) {
      const value = (message as unknown as Record<string, unknown>)[field];
      Object.defineProperty(message, field, {
        get: () => {
          reads++;
          return value;
        },
      });
    }
  }
  return () => reads;
}

Deno.test("a turn reads nothing of the messages of earlier turns again, however many there are", () => {
  let messages = Array.from({ length: 50 }, (_, at) => turn(at)).flat();
  messages = ask(messages, 50);
  // Of the last question and what followed it the next turn learns that they are earlier ones now.
  const reads = countReads(messages.slice(0, -4));
  messages = ask(messages, 51);
  assert.equal(reads(), 0);
  assert.equal(messages.length, 52 * 4);
});
