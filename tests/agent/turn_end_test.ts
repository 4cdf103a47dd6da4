import assert from "node:assert/strict";
import { CUT_OFF, settleCutTurns } from "../../src/agent/cut_turns.ts";
import type { ProjectStorage } from "../../src/agent/project_storage.ts";
import { saveTurnEnd, type TurnEnd } from "../../src/agent/turn_end.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { ChatSessionsRepository } from "../../src/storage/sessions.ts";
import { testLog } from "../fakes/log.ts";
import { chatGraph, configOf, runTurns, turnRecord, user } from "../storage/helpers.ts";

const START = new Date("2026-03-01T10:00:00.000Z");
const turn = { userId: "u1", sessionId: "t1", startedAt: START, unsaved: false };

/** A session with one turn of four messages that is not ended yet. Of its two answers only the last tells its time. */
async function oneTurn() {
  const db = openDatabase(":memory:");
  const sessions = new ChatSessionsRepository(db, "p1");
  const saver = new SqliteSaver(db);
  sessions.create({ thread_id: "t1", user_id: "u1", project_id: "p1" });
  sessions.startTurn("u1", "t1", "turn-1", START);
  await runTurns(saver, "t1", 1);
  const storage = { sessions, saver } as ProjectStorage;
  const full = () => db.pragma(`max_page_count = ${Number(db.pragma("page_count"))}`);
  const room = () => db.pragma("max_page_count = 1000000");
  return { db, storage, full, room };
}

/** What counts in memory: more than is saved. */
const end = (): TurnEnd => {
  const { messages: _, ...rest } = turnRecord({ llmCalls: 9, outputTokens: 900, billedOutputTokens: 900 });
  return rest;
};

Deno.test("a turn's messages are those that are stored, however wrong the count was before", async () => {
  const { db, storage } = await oneTurn();
  using _ = db;
  db.exec("UPDATE chat_sessions SET message_count = 17");
  const session = saveTurnEnd(storage, turn, end())!;
  assert.equal(session.message_count, 4);
  assert.deepEqual([session.llm_calls_count, session.output_tokens], [9, 900]);
});

Deno.test("calls and tokens of what was not saved are billed and not counted", async () => {
  const { db, storage, full, room } = await oneTurn();
  using _ = db;
  full();
  await assert.rejects(runTurns(storage.saver, "t1", 1, "interface up\n".repeat(5000)), /disk .* is full/);
  room();
  const stored = storage.saver.messages("t1").length;
  const session = saveTurnEnd(storage, { ...turn, unsaved: true }, end())!;
  assert.equal(session.message_count, stored);
  assert.deepEqual([session.llm_calls_count, session.output_tokens], [1, 0]);
  assert.equal(session.stats.billed_output_tokens, 900);
});

Deno.test("an end that does not fit on the disk is made up for later, once", async () => {
  const { db, storage, full, room } = await oneTurn();
  using _ = db;
  full();
  const long = { ...end(), error: { code: "internal", message: "x".repeat(100_000) } };
  assert.throws(() => saveTurnEnd(storage, turn, long), /disk .* is full/);
  assert.equal(storage.sessions.get("u1", "t1")!.message_count, 0);
  room();
  for (let i = 0; i < 2; i++) {
    settleCutTurns(storage, testLog().log, "t1");
    const session = storage.sessions.get("u1", "t1")!;
    assert.deepEqual([session.message_count, session.llm_calls_count, session.stats.errors], [4, 1, 1]);
    assert.deepEqual(storage.sessions.lastTurn("t1")!.error, CUT_OFF);
  }
});

Deno.test("the end of a turn removes its old checkpoints in the same transaction", async () => {
  const { db, storage } = await oneTurn();
  using _ = db;
  await chatGraph(storage.saver).invoke({ messages: [user("again")] }, configOf("t1"));
  const left = () => db.prepare("SELECT count(*) AS n FROM saver_checkpoints").get()!.n;
  assert.ok(Number(left()) > 1);
  let transactions = 0;
  const { transaction } = db;
  db.transaction = (work) => {
    transactions++;
    return transaction.call(db, work) as ReturnType<typeof work>;
  };
  const { log, lines } = testLog();
  assert.equal(saveTurnEnd(storage, turn, end(), log)!.message_count, 8);
  assert.deepEqual([left(), transactions, lines.length], [1, 2, 0], "the second joins the first");
});

Deno.test("old checkpoints that cannot be removed cost no turn its end", async () => {
  const { db, storage } = await oneTurn();
  using _ = db;
  await chatGraph(storage.saver).invoke({ messages: [user("again")] }, configOf("t1"));
  db.exec("CREATE TRIGGER broken BEFORE DELETE ON saver_checkpoints BEGIN SELECT RAISE(ROLLBACK, 'no'); END");
  const { log, lines } = testLog();
  assert.equal(saveTurnEnd(storage, turn, end(), log)!.message_count, 8);
  assert.equal(storage.sessions.lastTurn("t1")!.finishReason, "stop");
  assert.deepEqual(lines.map(({ msg }) => msg), ["Old checkpoints could not be removed."]);
  db.exec("DROP TRIGGER broken");
  saveTurnEnd(storage, turn, end(), log);
  assert.equal(db.prepare("SELECT count(*) AS n FROM saver_checkpoints").get()!.n, 1);
});

Deno.test("nothing is written for a session that is gone", async () => {
  const { db, storage } = await oneTurn();
  using _ = db;
  assert.equal(saveTurnEnd(storage, { ...turn, userId: "u2" }, end()), undefined);
  storage.sessions.delete("u1", "t1");
  assert.equal(saveTurnEnd(storage, turn, end()), undefined);
});
