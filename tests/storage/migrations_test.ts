import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { dirname, join } from "node:path";
import { openDatabase, openProjectDatabase } from "../../src/storage/database.ts";
import { CHAT_MIGRATIONS } from "../../src/storage/migrations.ts";
import { ChatSessionsRepository } from "../../src/storage/sessions.ts";
import { type Folders, refusal, withProject } from "./helpers.ts";

/** A database as the Python copilot of GNS3 makes it; its first version had no `pinned`. */
function pythonDatabase({ file }: Folders, pinned: boolean): void {
  Deno.mkdirSync(dirname(file));
  const db = new DatabaseSync(file);
  db.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
      parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
    CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
      task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB,
      PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
    CREATE TABLE chat_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT NOT NULL, user_id TEXT NOT NULL,
      project_id TEXT NOT NULL, title TEXT, message_count INTEGER DEFAULT 0, llm_calls_count INTEGER DEFAULT 0,
      input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, total_tokens INTEGER DEFAULT 0,
      last_message_at TIMESTAMP, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
      metadata TEXT, stats TEXT ${pinned ? ", pinned BOOLEAN DEFAULT FALSE" : ""});
    CREATE INDEX idx_thread_id ON chat_sessions (thread_id);
    INSERT INTO checkpoints VALUES ('t1', '', 'c1', NULL, 'msgpack', x'81a176', x'7b7d');
    INSERT INTO writes VALUES ('t1', '', 'c1', 'task', 0, 'messages', 'msgpack', x'90');
    INSERT INTO chat_sessions (thread_id, user_id, project_id, title, message_count, input_tokens, created_at, updated_at, metadata, stats)
    VALUES ('t1', 'u1', 'p1', 'Older', 4, 100, '2026-01-01 08:00:00', '2026-01-01 09:00:00', '{"copilot_mode": "teaching_assistant"}', '{"tool_calls": 2}'),
           ('t2', 'u1', 'p1', 'Newer', NULL, NULL, '2026-01-01T08:30:00+00:00', '2026-01-01T09:30:00.123456+00:00', NULL, 'no json'),
           ('t3', 'u1', 'p1', NULL, 0, 0, '2026-01-01 07:00:00', '2026-01-01T11:00:00+02:00', '["list"]', 'null');
  `);
  db.close();
}

const rowsOf = (db: { prepare(sql: string): { arrays(): unknown } }) => [
  db.prepare("SELECT * FROM checkpoints").arrays(),
  db.prepare("SELECT * FROM writes").arrays(),
];

// A13, contract section 5
Deno.test("a database of the Python copilot opens with all of its sessions and none of its rows changed", async () => {
  for (const pinned of [false, true]) {
    await withProject((folders) => {
      pythonDatabase(folders, pinned);
      using db = openProjectDatabase(folders.project, folders.projects);
      assert.deepEqual(rowsOf(db), [
        [["t1", "", "c1", null, "msgpack", new Uint8Array([0x81, 0xa1, 0x76]), new Uint8Array([0x7b, 0x7d])]],
        [["t1", "", "c1", "task", 0, "messages", "msgpack", new Uint8Array([0x90])]],
      ]);
      const sessions = new ChatSessionsRepository(db, "p1");
      const { sessions: list, total } = sessions.list("u1", { limit: 10, offset: 0 });
      assert.equal(total, 3);
      // t3's time is 9:00 in UTC, as t1's; the younger row comes first.
      assert.deepEqual(list.map((session) => session.thread_id), ["t2", "t3", "t1"]);
      assert.deepEqual(list[2], {
        id: 1,
        thread_id: "t1",
        user_id: "u1",
        project_id: "p1",
        title: "Older",
        message_count: 4,
        llm_calls_count: 0,
        input_tokens: 100,
        output_tokens: 0,
        total_tokens: 0,
        last_message_at: null,
        created_at: "2026-01-01T08:00:00.000Z",
        updated_at: "2026-01-01T09:00:00.000Z",
        metadata: { copilot_mode: "teaching_assistant" },
        stats: { tool_calls: 2 },
        pinned: false,
      });
      assert.deepEqual([list[0]!.message_count, list[0]!.metadata, list[0]!.stats], [0, {}, {}]);
      assert.equal(list[0]!.updated_at, "2026-01-01T09:30:00.123Z");
      assert.deepEqual([list[1]!.metadata, list[1]!.stats, list[1]!.title], [{}, {}, "New conversation"]);
      // A title that is there may be the user's.
      assert.deepEqual(["t1", "t2", "t3"].map((id) => sessions.wantsTitle(id)), [false, false, true]);
    });
  }
});

// A13
Deno.test("pinning and unpinning a session of an old database restores the order", async () => {
  await withProject((folders) => {
    pythonDatabase(folders, false);
    using db = openProjectDatabase(folders.project, folders.projects);
    const sessions = new ChatSessionsRepository(db, "p1");
    const order = () =>
      sessions.list("u1", { limit: 10, offset: 0 }).sessions.map((session) => session.thread_id);
    const before = order();
    assert.equal(sessions.setPinned("u1", "t1", true)?.pinned, true);
    assert.deepEqual(order(), ["t1", "t2", "t3"]);
    assert.equal(sessions.setPinned("u1", "t1", false)?.pinned, false);
    assert.deepEqual(order(), before);
  });
});

Deno.test("chat_sessions has the columns and indexes of the seed, thread_id unique", async () => {
  await withProject((folders) => {
    pythonDatabase(folders, false);
    for (const db of [openProjectDatabase(folders.project, folders.projects), openDatabase(":memory:")]) {
      const columns = db.prepare("PRAGMA table_info(chat_sessions)").all().map((column) => column.name);
      assert.deepEqual(columns.slice(0, 15), [
        "id",
        "thread_id",
        "user_id",
        "project_id",
        "title",
        "message_count",
        "llm_calls_count",
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "last_message_at",
        "created_at",
        "updated_at",
        "metadata",
        "stats",
      ]);
      assert.ok(columns.includes("pinned"));
      const indexes = new Map(
        db.prepare("PRAGMA index_list(chat_sessions)").all().map((index) => [index.name, index.unique]),
      );
      assert.equal(indexes.get("idx_thread_id"), 1);
      const of = (index: string) =>
        db.prepare(`PRAGMA index_info(${index})`).all().map((column) => column.name);
      assert.deepEqual(of("idx_thread_id"), ["thread_id"]);
      assert.deepEqual(of("idx_user_project"), ["user_id", "project_id"]);
      assert.deepEqual(of("idx_pinned_updated"), ["pinned", "updated_at"]);
      db.close();
    }
  });
});

Deno.test("opening again migrates nothing and writes nothing", async () => {
  await withProject((folders) => {
    pythonDatabase(folders, true);
    openProjectDatabase(folders.project, folders.projects).close();
    const bytes = Deno.readFileSync(folders.file);
    const db = openProjectDatabase(folders.project, folders.projects);
    assert.equal(db.pragma("user_version"), CHAT_MIGRATIONS.length);
    db.close();
    assert.deepEqual(Deno.readFileSync(folders.file), bytes);
  });
});

Deno.test("migrate runs only the steps that are missing, and none of them when one fails", async () => {
  await withProject(({ projects }) => {
    const path = join(projects, "x.db");
    const one = (db: { exec(sql: string): void }) => db.exec("CREATE TABLE one (a)");
    const two = (db: { exec(sql: string): void }) => db.exec("CREATE TABLE two (a)");
    openDatabase(path, [one]).close();
    assert.throws(() =>
      openDatabase(path, [one, two, () => {
        throw new Error("third step");
      }]), /third step/);
    {
      using db = openDatabase(path, [one]);
      assert.deepEqual(db.prepare("SELECT name FROM sqlite_schema").arrays(), [["one"]]);
    }
    using db = openDatabase(path, [one, two]);
    assert.equal(db.pragma("user_version"), 2);
    assert.deepEqual(db.prepare("SELECT name FROM sqlite_schema ORDER BY name").arrays(), [["one"], ["two"]]);
  });
});

Deno.test("a database of a newer version is refused with a sentence and left untouched, its journal mode too", async () => {
  await withProject(({ projects, project, file }) => {
    Deno.mkdirSync(dirname(file));
    for (const mode of ["DELETE", "WAL"]) {
      const newer = new DatabaseSync(file);
      newer.exec(
        `PRAGMA journal_mode = ${mode}; CREATE TABLE IF NOT EXISTS later (a); PRAGMA user_version = 99`,
      );
      newer.close();
      const bytes = Deno.readFileSync(file);
      assert.throws(
        () => openProjectDatabase(project, projects),
        refusal("internal", /newer version .*schema 99.*left untouched/),
      );
      assert.deepEqual(Deno.readFileSync(file), bytes, mode);
    }
  });
});
