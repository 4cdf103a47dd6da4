import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { type Database, openProjectDatabase } from "../../../src/storage/database.ts";
import { deleteOldRows } from "../../../src/storage/python/purge.ts";
import { matchSessions } from "../../../src/storage/python/sessions.ts";
import { ChatSessionsRepository } from "../../../src/storage/sessions.ts";
import { StepSaver } from "../../../src/storage/step_saver.ts";
import { runTurns, withProject } from "../helpers.ts";
import { putDatabase, saidBy } from "./testdata.ts";

/** Opens the project's database as the server does. */
function open(project: string, projects: string): Database {
  const db = openProjectDatabase(project, projects);
  matchSessions(db);
  return db;
}

const page = { limit: 100, offset: 0 };

function asPython(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

// Contract section 5: seed 001's database has LangGraph's tables and nothing else.
Deno.test("conversations of seed 001, which kept no list of sessions, belong to those who had them", async () => {
  for (const name of ["checkpoint.db", "copilot_checkpoints.db"]) {
    await withProject(({ projects, project }) => {
      const early = join(project, ".gns3-copilot", name);
      putDatabase("copilot", early);
      asPython(early, "DROP TABLE chat_sessions");
      const { sessions, histories } = saidBy("copilot");
      for (let opening = 0; opening < 2; opening++) {
        using db = open(project, projects);
        const repository = new ChatSessionsRepository(db, "p1");
        const saver = new StepSaver(db);
        for (const [user, said] of Object.entries(sessions)) {
          const list = repository.list(user, page).sessions;
          assert.deepEqual(
            list.map((session) => session.thread_id).sort(),
            said.map((session) => session.thread_id).sort(),
          );
          for (const session of list) {
            const expected = histories[session.thread_id]!;
            assert.equal(session.message_count, expected.length);
            assert.equal(session.created_at, `${expected[0]!.metadata.created_at!.slice(0, 23)}Z`);
            assert.equal(session.project_id, "p1");
            assert.equal(saver.messages(session.thread_id).length, expected.length);
          }
        }
        const titles = Object.values(sessions).flat().filter((session) => session.thread_id === "plain");
        assert.deepEqual(
          repository.list(titles[0]!.user_id, { ...page, q: "title: what is" }).sessions.map((s) => s.title),
          // The user's own title of "renamed" stood in the table that was lost.
          ["Title: What is OSPF?", "Title: What is OSPF?"],
        );
        assert.equal(repository.wantsTitle("plain"), false);
        assert.equal(repository.wantsTitle("cut"), true);
      }
    });
  }
});

Deno.test("a session that is deleted in Python is gone here too, with all that was added to it here", async () => {
  await withProject(async ({ projects, project, file }) => {
    putDatabase("copilot", file);
    {
      using db = open(project, projects);
      await runTurns(new StepSaver(db), "plain", 1, "a secret of the lab");
      await runTurns(new StepSaver(db), "tools", 1);
    }
    // As Python's repository deletes: no row of `writes`.
    asPython(
      file,
      "DELETE FROM checkpoints WHERE thread_id = 'plain'; DELETE FROM chat_sessions WHERE thread_id = 'plain'",
    );
    using db = open(project, projects);
    const saver = new StepSaver(db);
    assert.deepEqual(saver.messages("plain"), []);
    assert.equal(saver.messages("tools").length, 14 + 4);
    for (const table of ["saver_threads", "python_threads", "writes"]) {
      const sql = `SELECT 1 FROM ${table} WHERE thread_id = 'plain'`;
      assert.equal(db.prepare(sql).get(), undefined, table);
    }
    assert.deepEqual(
      db.prepare("SELECT 1 FROM saver_rows WHERE content = 'a secret of the lab'").arrays(),
      [],
    );
  });
});

Deno.test("a title that Python gives after us is kept; a session without one gets ours", async () => {
  await withProject(({ projects, project, file }) => {
    putDatabase("copilot", file);
    open(project, projects).close();
    // Sessions that Python has made since say nothing of who made their titles.
    asPython(file, "UPDATE chat_sessions SET title_source = 0");
    using db = open(project, projects);
    const saver = new StepSaver(db);
    for (const threadId of ["renamed", "cut"]) saver.messages(threadId);
    const [user, [first]] = Object.entries(saidBy("copilot").sessions).find(([, all]) => all.length > 1)!;
    const sessions = new ChatSessionsRepository(db, first!.project_id);
    assert.deepEqual(["renamed", "cut"].map((id) => sessions.wantsTitle(id)), [false, true]);
    assert.equal(sessions.get(user, "renamed")?.title, "Lab 4 “OSPF” 第四课 🧪");
  });
});

Deno.test("a session that Python left untitled, because it had no prompt for titles, gets a title here", async () => {
  await withProject(({ projects, project, file }) => {
    putDatabase("copilot", file);
    asPython(file, "UPDATE chat_sessions SET title = 'Untitled Session' WHERE thread_id = 'plain'");
    using db = open(project, projects);
    new StepSaver(db).messages("plain");
    const sessions = new ChatSessionsRepository(db, "p1");
    assert.deepEqual(["plain", "tools"].map((id) => sessions.wantsTitle(id)), [true, false]);
  });
});

// A13
Deno.test("Python's database without the column `pinned` lists and reads, with nothing pinned", async () => {
  await withProject(({ projects, project, file }) => {
    putDatabase("copilot", file);
    asPython(file, "DROP INDEX idx_pinned_updated; ALTER TABLE chat_sessions DROP COLUMN pinned");
    using db = open(project, projects);
    const { sessions, histories } = saidBy("copilot");
    for (const [user, said] of Object.entries(sessions)) {
      const list = new ChatSessionsRepository(db, said[0]!.project_id).list(user, page).sessions;
      assert.equal(list.length, said.length);
      assert.ok(list.every((session) => !session.pinned));
    }
    assert.equal(new StepSaver(db).messages("renamed").length, histories.renamed!.length);
  });
});

Deno.test("deleteOldRows deletes a long session in parts, others run between them, and it can be read until the end", async () => {
  await withProject(async ({ projects, project, file }) => {
    putDatabase("long", file);
    using db = open(project, projects);
    const rows = (table: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n);
    const counts = new Set<number>();
    const watch = setInterval(() => counts.add(rows("checkpoints")));
    await deleteOldRows(db, "long");
    clearInterval(watch);
    assert.ok(counts.size > 4, `${[...counts]}`);
    assert.equal(rows("checkpoints"), 1);
    const saver = new StepSaver(db);
    assert.equal(saver.messages("long").length, 320);
    await deleteOldRows(db, "unknown");
    assert.equal(rows("checkpoints"), 1);
    const [user, [session]] = Object.entries(saidBy("long").sessions)[0]!;
    assert.equal(new ChatSessionsRepository(db, session!.project_id).delete(user, "long"), true);
    assert.deepEqual([rows("checkpoints"), rows("writes")], [0, 0]);
  });
});
