import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { checkDatabase } from "../../src/storage/check.ts";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { Database } from "../../src/storage/connection.ts";
import { openDatabase, openProjectDatabase } from "../../src/storage/database.ts";
import { compactDatabase, repairDatabase } from "../../src/storage/repair.ts";
import { SALVAGED, salvageRows } from "../../src/storage/salvage.ts";
import { mend } from "../../src/storage/mend.ts";
import { ChatSessionsRepository } from "../../src/storage/sessions.ts";
import { contentOf, fill, garble, TURNS } from "./full.ts";
import { chatGraph, configOf, namesIn, refusal, runTurns, user, withProject } from "./helpers.ts";

const NOW = new Date("2026-03-01T10:00:00.000Z");
const KEPT = "copilot_checkpoints.db.damaged-20260301T100000000Z";

Deno.test("every table of the schema is salvaged, with all its columns", () => {
  using db = openDatabase(":memory:");
  const tables = db.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  ).all();
  const schema = tables.map(({ name }) => ({
    name: String(name),
    columns: db.prepare(`PRAGMA table_info(${name})`).all().map((column) => String(column.name)),
  }));
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  assert.deepEqual([...SALVAGED].sort(byName), schema.sort(byName));
});

Deno.test("every row of a whole database is found in its pages, in the file and in its -wal", () =>
  withProject(async (folders) => {
    const db = await fill(folders);
    const expected = contentOf(db);
    const read = () => {
      using found = openDatabase(":memory:");
      salvageRows(found, Deno.readFileSync(folders.file), Deno.readFileSync(`${folders.file}-wal`));
      mend(found);
      assert.deepEqual({ ...contentOf(found), sqlite_sequence: [] }, { ...expected, sqlite_sequence: [] });
    };
    for (const [table, rows] of Object.entries(expected)) assert.ok(rows.length > 0, table);
    read();
    db.checkpoint();
    read();
    db.close();
  }));

Deno.test("rows that were deleted, and what was never committed, are not found", () =>
  withProject(async (folders) => {
    const db = await fill(folders);
    new ChatSessionsRepository(db, "p1").delete("u1", "t2");
    await runTurns(new SqliteSaver(db), "t3", 1);
    const expected = contentOf(db);
    db.exec("BEGIN; INSERT INTO saver_threads (thread_id) VALUES ('never')");
    using found = openDatabase(":memory:");
    salvageRows(found, Deno.readFileSync(folders.file), Deno.readFileSync(`${folders.file}-wal`));
    for (const table of ["saver_rows", "saver_threads", "chat_sessions"]) {
      assert.deepEqual(contentOf(found)[table], expected[table], table);
    }
    db.exec("ROLLBACK");
    db.close();
  }));

/** How many messages are left; every conversation can be gone on with. */
async function leftOver({ project, projects }: { project: string; projects: string }): Promise<number> {
  using db = openProjectDatabase(project, projects);
  const saver = new SqliteSaver(db);
  let left = 0;
  for (const threadId of [...Object.keys(TURNS), ...threadsOf(db)]) {
    const before = saver.messages(threadId).length;
    await chatGraph(saver).invoke({ messages: [user("and now?")] }, configOf(threadId));
    assert.equal(saver.messages(threadId).length, before + 4);
    left += before;
  }
  return left;
}

/** The threads that have lost their names. */
function threadsOf(db: Database): string[] {
  const rows = db.prepare("SELECT thread_id FROM saver_threads WHERE thread_id LIKE 'recovered-%'").all();
  return rows.map(({ thread_id }) => String(thread_id));
}

Deno.test("repairDatabase keeps what is readable, whatever the damage, and the damaged file as it was", async () => {
  const whole = 12 + 240 + 4;
  const page = 4096;
  const damages: [name: string, damage: (bytes: Uint8Array) => Uint8Array, least: number][] = [
    ["the header", (bytes) => garble(bytes, 0, 100), whole],
    ["the first page", (bytes) => garble(bytes, 0, page), whole],
    ["the first half is noise", (bytes) => garble(bytes, 0, bytes.length / 2), 60],
    ["the second half is missing", (bytes) => bytes.slice(0, bytes.length / 2), 72],
    [
      "every tenth page is noise",
      (bytes) => {
        for (let at = 5 * page; at < bytes.length; at += 10 * page) bytes = garble(bytes, at, page);
        return bytes;
      },
      50,
    ],
    ["nothing of it is a database", () => new TextEncoder().encode("not a database ".repeat(5000)), 0],
  ];
  for (const [name, damage, least] of damages) {
    await withProject(async (folders) => {
      (await fill(folders)).close();
      const damaged = damage(Deno.readFileSync(folders.file));
      Deno.writeFileSync(folders.file, damaged);
      assert.notDeepEqual(checkDatabase(folders.file).problems, [], name);
      const { health, damaged: kept } = repairDatabase(folders.file, NOW);
      assert.equal(kept, KEPT);
      assert.deepEqual(Deno.readFileSync(join(dirname(folders.file), KEPT)), damaged, name);
      assert.deepEqual(namesIn(dirname(folders.file)), ["copilot_checkpoints.db", KEPT, "lock"], name);
      assert.deepEqual(checkDatabase(folders.file), health);
      const left = await leftOver(folders);
      assert.equal(health.messages, left, name);
      assert.ok(left >= least && left <= whole, `${name}: ${left} messages are left`);
    });
  }
});

Deno.test("a file that was emptied beside its -wal is refused, and repaired from that", () =>
  withProject(async (folders) => {
    const db = await fill(folders);
    const wal = Deno.readFileSync(`${folders.file}-wal`);
    db.close();
    Deno.writeFileSync(folders.file, new Uint8Array());
    Deno.writeFileSync(`${folders.file}-wal`, wal);
    assert.throws(
      () => openProjectDatabase(folders.project, folders.projects),
      refusal("internal", /is damaged/),
    );
    assert.equal(checkDatabase(folders.file).problems.length, 1);
    assert.deepEqual(Deno.readFileSync(`${folders.file}-wal`), wal);
    const { health, damaged } = repairDatabase(folders.file, NOW);
    assert.ok(health.messages > 0);
    assert.deepEqual(Deno.readFileSync(join(dirname(folders.file), `${damaged}-wal`)), wal);
  }));

Deno.test("repairDatabase brings a conversation back whose own rows are lost, and shows it to nobody else", () =>
  withProject(async (folders) => {
    const db = await fill(folders);
    const turn = db.prepare("SELECT turn_id FROM chat_turns WHERE thread_id = 't1'").get()!.turn_id!;
    db.prepare(
      "UPDATE saver_rows SET rest = json_set(rest, '$.additional_kwargs.event_seq.turn', ?) WHERE thread = 1",
    )
      .run(turn);
    db.exec(`DELETE FROM saver_checkpoints; DELETE FROM saver_threads WHERE thread_id = 't1';
      DELETE FROM chat_sessions WHERE thread_id = 't3'`);
    db.close();
    assert.equal(checkDatabase(folders.file).problems.length, 3);
    repairDatabase(folders.file, NOW);
    using again = openProjectDatabase(folders.project, folders.projects);
    const saver = new SqliteSaver(again);
    assert.deepEqual(["t1", "t2", "t3"].map((id) => saver.messages(id).length), [12, 240, 4]);
    const sessions = new ChatSessionsRepository(again, "p1");
    assert.equal(sessions.ownerOf("t3"), "");
    assert.equal(sessions.get("", "t3")!.message_count, 4);
  }));

Deno.test("repairDatabase drops what refers to lost rows, and keeps the rest", () =>
  withProject(async (folders) => {
    const db = await fill(folders);
    db.exec(
      "DELETE FROM saver_rows WHERE thread = 1 AND seq IN (2, 3); UPDATE saver_threads SET next_seq = 1",
    );
    db.exec(`UPDATE saver_rows SET rest = '{"a":' WHERE thread = 1 AND seq = 5`);
    db.close();
    assert.deepEqual(checkDatabase(folders.file).problems, [
      "One conversation cannot be read.",
      "3 conversations would overwrite their own messages.",
    ]);
    const { health } = repairDatabase(folders.file, NOW);
    assert.deepEqual(health, { problems: [], notOurs: false, sessions: 3, messages: 12 - 3 + 240 + 4 });
    using again = openProjectDatabase(folders.project, folders.projects);
    const { sessions } = new ChatSessionsRepository(again, "p1").list("u1", { limit: 10, offset: 0 });
    assert.deepEqual(sessions.map(({ message_count }) => message_count).sort((a, b) => a - b), [4, 9, 240]);
  }));

Deno.test("repairDatabase carries along the tables of another program", () =>
  withProject(async (folders) => {
    const db = await fill(folders);
    db.exec(
      "CREATE TABLE checkpoints (thread_id TEXT, blob BLOB); INSERT INTO checkpoints VALUES ('old', x'00ff')",
    );
    db.exec("UPDATE saver_threads SET next_seq = 1");
    db.close();
    repairDatabase(folders.file, NOW);
    using again = new Database(folders.file);
    assert.deepEqual({ ...again.prepare("SELECT * FROM checkpoints").get() }, {
      thread_id: "old",
      blob: Uint8Array.of(0, 255),
    });
  }));

Deno.test("compactDatabase makes a file smaller that was made without auto_vacuum, and loses nothing", () =>
  withProject(async (folders) => {
    const db = await fill(folders);
    db.exec("PRAGMA auto_vacuum = NONE; VACUUM");
    new ChatSessionsRepository(db, "p1").delete("u1", "t2");
    const expected = contentOf(db);
    db.close();
    const { before, after } = compactDatabase(folders.file);
    assert.ok(after < before / 2, `${before} to ${after}`);
    using again = openProjectDatabase(folders.project, folders.projects);
    assert.deepEqual(contentOf(again), expected);
    assert.equal(again.pragma("auto_vacuum"), 2);
  }));
