import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { toChatMessage } from "../../../src/agent/messages.ts";
import { type Database, openDatabase, openProjectDatabase } from "../../../src/storage/database.ts";
import { rowsOf } from "../../../src/storage/pages.ts";
import { salvagePython } from "../../../src/storage/python/salvage.ts";
import { repairDatabase } from "../../../src/storage/repair.ts";
import { StepSaver } from "../../../src/storage/step_saver.ts";
import { garble } from "../full.ts";
import { withProject } from "../helpers.ts";
import { ofOurs, ofPython, putDatabase, saidBy } from "./testdata.ts";

const NOW = new Date("2026-03-01T10:00:00.000Z");
const PAGE = 4096;

const rows = (db: { prepare(sql: string): { all(): unknown[] } }, table: string) =>
  db.prepare(`SELECT * FROM ${table} ORDER BY thread_id, checkpoint_id`).all();

Deno.test("a repair brings every conversation of Python's back whose pages are whole, though no table can be read", async () => {
  await withProject(({ file, project, projects }) => {
    putDatabase("copilot", file);
    const before = new DatabaseSync(file);
    const expected = rows(before, "checkpoints");
    before.close();
    // The first page names all tables.
    Deno.writeFileSync(file, garble(Deno.readFileSync(file), 0, PAGE));
    repairDatabase(file, NOW);
    using db = openProjectDatabase(project, projects);
    assert.deepEqual(rows(db, "checkpoints"), expected);
    const saver = new StepSaver(db);
    for (const [threadId, said] of Object.entries(saidBy("copilot").histories)) {
      const read = saver.messages(threadId).map((message) => ofOurs(toChatMessage(message)));
      assert.deepEqual(read, said.map(ofPython), threadId);
    }
    // Python leaves its writes behind when a session is deleted there.
    assert.equal(expected.length, 79);
    assert.deepEqual(db.prepare("SELECT 1 FROM writes WHERE thread_id = 'deleted'").get(), undefined);
  });
});

Deno.test("a repair keeps all of Python's checkpoints but those on damaged pages", async () => {
  await withProject(({ file, project, projects }) => {
    putDatabase("long", file);
    openProjectDatabase(project, projects).close();
    let bytes: Uint8Array = Deno.readFileSync(file);
    for (let at = 500 * PAGE; at < bytes.length; at += 1000 * PAGE) bytes = garble(bytes, at, PAGE);
    Deno.writeFileSync(file, bytes);
    repairDatabase(file, NOW);
    using db = openProjectDatabase(project, projects);
    const left = rows(db, "checkpoints").length;
    assert.ok(left >= 481 - 2 * 7 && left <= 481, `${left}`);
    const read = new StepSaver(db).messages("long").map((message) => message.content);
    const said = saidBy("long").histories.long!.map((message) => message.content);
    assert.deepEqual(read.slice(0, 300), said.slice(0, 300));
  });
});

Deno.test("salvagePython knows the rows of older savers, and makes no tables where there are none", () => {
  const row = (rowid: number | undefined, ...values: (string | number | null | Uint8Array)[]) => ({
    rowid,
    values,
  });
  const value = new Uint8Array([0x90]);
  const found = (given: ReturnType<typeof row>[], work: (db: Database) => void) => {
    using db = openDatabase(":memory:");
    db.exec("INSERT INTO chat_sessions (thread_id) VALUES ('t')");
    salvagePython(db, given as never);
    work(db);
  };
  const common = ["t", "", "c", "task"];
  found([
    row(1, ...common, 0, "messages", "msgpack", value),
    row(2, ...common, 1, "messages", "msgpack", value, "path"),
    row(3, ...common, "path", 2, "messages", "null", null),
    row(4, "other", "", "c", "task", 3, "messages", "msgpack", value),
    row(undefined, ...common, 4, "messages", "msgpack", value),
    row(5, ...common, 5, "messages", "neither", value),
  ], (db) => {
    const columns = "idx, task_path, type";
    assert.deepEqual(db.prepare(`SELECT ${columns} FROM writes ORDER BY idx`).arrays(), [
      [0, "", "msgpack"],
      [1, "path", "msgpack"],
      [2, "path", "null"],
    ]);
  });
  found([row(1, "t", 1, "x")], (db) => {
    assert.deepEqual(db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'checkpoints'").arrays(), []);
  });
});

// What a damaged file's bytes hold can be anything.
Deno.test("salvagePython takes noise for nothing", () => {
  using db = openDatabase(":memory:");
  salvagePython(db, rowsOf(crypto.getRandomValues(new Uint8Array(16 * PAGE)), new Uint8Array()));
  assert.deepEqual(db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'checkpoints'").arrays(), []);
});
