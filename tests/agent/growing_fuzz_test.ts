// A conversation that has grown is seen as the same messages are that were never seen before.
import assert from "node:assert/strict";
import { type BaseMessage, RemoveMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { messagesStateReducer } from "@langchain/langgraph";
import { usedIds } from "../../src/agent/answer.ts";
import { fitContext } from "../../src/agent/context_window.ts";
import { exchanges, exchangesOf, repair } from "../../src/agent/exchanges.ts";
import { assistantMessage, toolMessage, userMessage } from "../../src/agent/messages.ts";
import { sendableUnits } from "../../src/agent/sendable.ts";
import { addMessages } from "../../src/agent/state.ts";
import { warmUp } from "../../src/agent/tokens.ts";
import { toolCallsOf } from "../../src/models/tool_calls.ts";
import { wireMessages } from "../../src/models/wire_messages.ts";
import { type Chance, fuzzCase, fuzzing } from "../fakes/fuzz.ts";

await warmUp();

const CALL_IDS = ["", "a", "b", "b_2", "constructor"];
const createdAt = "2026-05-11T10:00:00.000Z";

/** Makes the same message whenever it is called. */
type Recipe = () => BaseMessage;

function anyMessage({ int, maybe, pick, some }: Chance, id: string): Recipe {
  const stamp = { id, createdAt };
  const words = (most: number) => `${id} word`.repeat(int(most));
  const text = pick(["", " ", words(10), words(300)]);
  const kind = int(20);
  if (kind < 5) return () => userMessage(text || "?", stamp);
  if (kind === 5) return () => new SystemMessage({ id, content: text });
  if (kind < 9) return () => assistantMessage({ text }, stamp);
  if (kind < 13) {
    const calls = some(1, 4, () => ({
      id: pick(CALL_IDS),
      name: pick(["show", "ping"]),
      argumentsText: maybe(80) ? '{"device": "R1"}' : '{"dev',
    }));
    return () => assistantMessage({ text, calls }, stamp);
  }
  const result = { callId: pick(CALL_IDS), name: "show", output: text };
  return () => toolMessage({ ...result, status: "success" }, stamp);
}

/** Results by call as a reader would look for them: back from each result to the last message with such a call. */
function resultsOf(messages: readonly BaseMessage[]): Map<BaseMessage, (ToolMessage | undefined)[]> {
  const found = new Map<BaseMessage, (ToolMessage | undefined)[]>();
  for (const [place, message] of messages.entries()) {
    if (!ToolMessage.isInstance(message)) {
      found.set(message, toolCallsOf(message).map(() => undefined));
      continue;
    }
    const isCalled = ({ id }: { id: string }) => id === message.tool_call_id;
    const caller = messages.slice(0, place).findLast((earlier) => toolCallsOf(earlier).some(isCalled));
    const results = caller && found.get(caller)!;
    const at = caller ? toolCallsOf(caller).findIndex((call, i) => isCalled(call) && !results![i]) : -1;
    if (at >= 0) results![at] = message;
  }
  return found;
}

function repaired(messages: readonly BaseMessage[]): unknown[] {
  return repair(messages, createdAt, () => "new").map((
    message,
  ) => [message.type, message.id, message.content]);
}

function sent(messages: readonly BaseMessage[], context_limit: number) {
  const fitted = fitContext({
    messages,
    systemPrompt: "You are a network assistant.",
    topology: null,
    toolsTokens: 0,
    config: { context_limit },
  });
  return { ...fitted, messages: wireMessages(fitted.messages, {} as never) };
}

function checkAll(messages: BaseMessage[], recipes: readonly Recipe[], limit: number): void {
  const fresh = recipes.map((make) => make());
  const found = exchangesOf(messages);
  const results = resultsOf(messages);
  assert.deepEqual(found.exchanges.map(({ message }) => message), [...results.keys()]);
  assert.deepEqual(found.exchanges.map((exchange) => exchange.results), [...results.values()]);
  const used = [...results.values()].flat();
  assert.deepEqual(
    found.stray,
    messages.filter((message) => ToolMessage.isInstance(message) && !used.includes(message)),
  );
  assert.deepEqual(exchanges(messages).exchanges, found.exchanges);
  assert.deepEqual(repaired(messages), repaired(fresh));
  const isUsed = usedIds(messages);
  for (const id of [...CALL_IDS, "never"]) {
    assert.equal(isUsed(id), messages.some((message) => toolCallsOf(message).some((call) => call.id === id)));
  }
  const wire = (history: BaseMessage[]) =>
    sendableUnits(history).map(({ kind, messages }) => [kind, wireMessages(messages, {} as never)]);
  assert.deepEqual(wire(messages), wire(fresh));
  assert.deepEqual(sent(messages, limit), sent(fresh, limit));
}

const { seed, cases } = fuzzing(60);

Deno.test("a conversation that grows, and now and then changes, is always seen as one of new messages", async () => {
  for (let at = 0; at < cases; at++) {
    // deno-lint-ignore require-await -- a case may fail at once
    await fuzzCase(seed, at, async (chance) => {
      let recipes: Recipe[] = [];
      let messages: BaseMessage[] = [];
      for (let step = 0; step < 12; step++) {
        if (chance.maybe(10) && messages.length > 0) {
          const gone = chance.int(messages.length);
          recipes = recipes.toSpliced(gone, 1);
          messages = addMessages(messages, [new RemoveMessage({ id: messages[gone]!.id! })]);
        }
        if (chance.maybe(10) && messages.length > 0) {
          const changed = chance.int(messages.length);
          const other = anyMessage(chance, messages[changed]!.id!);
          recipes = recipes.with(changed, other);
          messages = addMessages(messages, [other()]);
        }
        const more = chance.some(0, 6, (i) => anyMessage(chance, `m${step}-${i}`));
        const added = more.map((make) => make());
        const before = recipes.map((make) => make());
        recipes = [...recipes, ...more];
        // LangGraph applies what a step brought more than once.
        if (chance.maybe(50)) addMessages(messages, added);
        messages = addMessages(messages, added);
        assert.deepEqual(
          messages.map(({ id }) => id),
          messagesStateReducer(before, more.map((make) => make())).map(({ id }) => id),
        );
        checkAll(messages, recipes, chance.pick([1, 2, 2, 2, 4, 32]));
      }
    });
  }
});
