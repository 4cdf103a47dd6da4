import assert from "node:assert/strict";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { know } from "../../src/storage/known_message.ts";
import { LONG, MessageList } from "../../src/storage/message_list.ts";
import { type Chance, fuzzCase, fuzzing } from "../fakes/fuzz.ts";
import { answer, configOf, newId, user } from "./helpers.ts";

/** A list of rows from 1 on, and its messages. */
function listOf(count: number) {
  const messages: BaseMessage[] = Array.from(
    { length: count },
    (_, i) => i % 2 ? answer(`${i}`) : user(`${i}`),
  );
  const list = new MessageList();
  for (const [i, message] of messages.entries()) list.add(message, know(1, i + 1, message));
  return { messages, list };
}

Deno.test("begins knows its messages by what they are and how they look", () => {
  const { messages, list } = listOf(4);
  assert.equal(list.begins(messages), 4);
  assert.equal(list.begins([...messages, user("more")]), 4);
  assert.equal(list.begins(messages.slice(0, 3)), undefined);
  assert.equal(list.begins([messages[1], messages[0], ...messages.slice(2)]), undefined);
  messages[1]!.content = "another";
  assert.equal(list.begins(messages), undefined);
});

Deno.test("read gives the messages of exactly these rows, and never its own array", () => {
  const { messages, list } = listOf(4);
  list.add(messages[0]!, know(1, 9, messages[0]!));
  const rows: [number, number][] = [[1, 4], [9, 9]];
  assert.deepEqual(list.runs, rows);
  list.read(rows)!.pop();
  assert.deepEqual(list.read(rows)!.map(({ content }) => content), ["0", "1", "2", "3", "0"]);
  for (const others of [[], [[1, 4]], [[1, 4], [9, 10]], [[2, 4], [9, 9]]] as [number, number][][]) {
    assert.equal(list.read(others), undefined);
  }
  const chunk = new AIMessageChunk({ id: "c", content: "part" });
  list.add(chunk, know(1, 10, chunk));
  assert.equal(list.read([[1, 4], [9, 10]]), undefined, "a chunk is read back as a whole message");
});

/** What is said, in a form to compare. */
const said = (messages: readonly BaseMessage[]) => messages.map(({ id, content }) => `${id} ${content}`);

/** Puts, prunes, rollbacks and reads of two conversations, in any order. */
async function runCase(chance: Chance): Promise<void> {
  using db = openDatabase(":memory:");
  // Now and then one thread pushes the other out of memory.
  const saver = new SqliteSaver(db, { cachedCharacters: chance.pick([0, 20_000, 16_000_000]) });
  const states: Record<string, { messages: BaseMessage[]; checkpoint?: string }> = {
    a: { messages: [] },
    b: { messages: [] },
  };
  const expected = new Map<string, { threadId: string; said: string[] }>();
  const grow = (messages: BaseMessage[], count: number) => [
    ...messages,
    ...chance.some(count, count, () => chance.maybe(10) ? chunk() : answer(newId())),
  ];
  const changes: ((messages: BaseMessage[]) => BaseMessage[])[] = [
    (messages) => grow(messages, 1 + chance.int(3)),
    (messages) => grow(messages, 1 + chance.int(3)),
    (messages) => grow(messages, LONG),
    (messages) => messages.filter(() => chance.maybe(90)),
    (messages) => messages.map((message) => chance.maybe(5) ? answer(newId(), message.id) : message),
    (messages) => {
      if (messages.length > 0) chance.pick(messages).content = newId();
      return messages.slice();
    },
    (messages) => messages.slice(),
  ];
  for (let step = 0; step < 40; step++) {
    const threadId = chance.pick(["a", "b"]);
    const state = states[threadId]!;
    const messages = chance.pick(changes)(state.messages);
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(step), channel_values: { messages } };
    const put = () =>
      void saver.put(
        configOf(threadId, state.checkpoint),
        checkpoint,
        { source: "loop", step, parents: {} },
        { messages: step + 1 },
      );
    if (chance.maybe(10)) {
      assert.throws(() =>
        db.transaction(() => {
          put();
          throw new Error("no");
        })
      );
    } else {
      put();
      expected.set(checkpoint.id, { threadId, said: said(messages) });
      states[threadId] = { messages, checkpoint: checkpoint.id };
    }
    if (chance.maybe(20)) {
      saver.prune(threadId);
      for (const [id, { threadId: other }] of expected) {
        if (other === threadId && id !== states[threadId]!.checkpoint) expected.delete(id);
      }
    }
    for (const [id, { threadId, said: was }] of chance.maybe(30) ? [...expected] : []) {
      // What memory says of an object that was changed since is not looked at: nobody may change what was read.
      if (id !== states[threadId]!.checkpoint) continue;
      for (const reader of [saver, new SqliteSaver(db)]) {
        const found = (await reader.getTuple(configOf(threadId, id)))!.checkpoint.channel_values;
        assert.deepEqual(said(found.messages as BaseMessage[]), was);
        assert.equal(reader.countMessages(threadId), was.length);
      }
      if (chance.maybe(50)) states[threadId]!.messages = saver.messages(threadId);
    }
  }
}

Deno.test("a long conversation that was cut short and pruned can be as it was again", () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  const { messages } = listOf(LONG + 2);
  for (const kept of [messages, messages.slice(0, 2), messages]) {
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(0), channel_values: { messages: kept } };
    void saver.put(configOf("t1"), checkpoint, { source: "loop", step: 0, parents: {} }, { messages: 1 });
    saver.prune("t1");
    assert.deepEqual(said(new SqliteSaver(db).messages("t1")), said(kept));
  }
});

const chunk = () => new AIMessageChunk({ id: newId(), content: newId() });

const { seed, cases } = fuzzing(30);
Deno.test(`whatever becomes of a conversation, what is read is what was written; FUZZ_SEED=${seed}`, async () => {
  for (let at = 0; at < cases; at++) await fuzzCase(seed, at, runCase);
});
