import assert from "node:assert/strict";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { NewestChannels } from "../../src/storage/newest_channels.ts";
import { ChatSessionsRepository } from "../../src/storage/sessions.ts";
import { ensureThread, threadNumber } from "../../src/storage/threads.ts";
import { configOf, runTurns } from "./helpers.ts";

/** Saves a checkpoint of which only `changed` has changed since its parent. */
function put(saver: SqliteSaver, values: Record<string, unknown>, changed: string[], parent?: string) {
  const checkpoint = { ...emptyCheckpoint(), id: uuid6(0), channel_values: values };
  const versions = Object.fromEntries(changed.map((name) => [name, 1]));
  void saver.put(configOf("t1", parent), checkpoint, { source: "loop", step: 0, parents: {} }, versions);
  return checkpoint.id;
}

const cancelled = (work: () => unknown) => () => {
  work();
  throw new Error("no");
};

Deno.test("a checkpoint copies what its parent has, also when the parent was rolled back, replaced or pruned", async () => {
  using db = openDatabase(":memory:");
  const saver = new SqliteSaver(db);
  const stored = async (id: string) =>
    (await new SqliteSaver(db).getTuple(configOf("t1", id)))?.checkpoint.channel_values;
  const first = put(saver, { a: 1, b: 1 }, ["a", "b"]);
  assert.deepEqual(await stored(put(saver, { a: 1, b: 2 }, ["b"], first)), { a: 1, b: 2 });
  let lost = "";
  assert.throws(() => db.transaction(cancelled(() => lost = put(saver, { a: 9, b: 9 }, ["a", "b"], first))));
  assert.deepEqual(await stored(put(saver, { a: 3, b: 4 }, ["b"], lost)), { a: 3, b: 4 });
  const last = put(saver, { a: 5, b: 5 }, ["a", "b"]);
  saver.prune("t1");
  assert.deepEqual(await stored(put(saver, { a: 5, b: 6 }, ["b"], last)), { a: 5, b: 6 });
  assert.deepEqual(await stored(put(saver, { a: 7, b: 8 }, ["b"], first)), { a: 7, b: 8 });
});

Deno.test("what is remembered of a thread is dropped with it, and nobody else's", () => {
  using db = openDatabase(":memory:");
  const newest = new NewestChannels(db);
  newest.note(1, "", "a", { x: 1 });
  newest.note(2, "", "a", { x: 2 });
  newest.forget((thread) => thread === 1);
  assert.equal(newest.of(1, "t1", "", "a"), undefined);
  assert.deepEqual(newest.of(2, "t2", "", "a"), { x: 2 });
  assert.equal(newest.of(2, "t2", "other", "a"), undefined);
});

Deno.test("a thread's number is forgotten when it was never saved, and when the thread is deleted", async () => {
  using db = openDatabase(":memory:");
  const sessions = new ChatSessionsRepository(db, "p1");
  assert.throws(() => db.transaction(cancelled(() => ensureThread(db, "t1"))));
  assert.equal(threadNumber(db, "t1"), undefined);
  const saver = new SqliteSaver(db);
  for (let i = 0; i < 2; i++) {
    sessions.create({ thread_id: "t1", user_id: "u1", project_id: "p1" });
    await runTurns(saver, "t1", 1);
    assert.equal(new SqliteSaver(db).messages("t1").length, 4);
    sessions.delete("u1", "t1");
    assert.equal(threadNumber(db, "t1"), undefined);
    assert.deepEqual(saver.messages("t1"), []);
  }
});
