import assert from "node:assert/strict";
import { join } from "node:path";
import { Database } from "../../src/storage/connection.ts";
import { openDatabase, openProjectDatabase } from "../../src/storage/database.ts";
import { openStateDatabase } from "../../src/storage/state_database.ts";
import { hasProgram, testWhere } from "../e2e/needs.ts";
import { namesIn, refusal, withProject } from "./helpers.ts";

const TABLE = [(db: { exec(sql: string): void }) => db.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")];

// L4
Deno.test("a statement gives back values as they were stored", () => {
  using db = openDatabase(":memory:", TABLE);
  const values = [
    null,
    "",
    "路由 😀",
    new Uint8Array(),
    new Uint8Array(5_000_000).fill(7),
    2 ** 53 - 1,
    -0.5,
  ];
  for (const [i, value] of values.entries()) {
    db.prepare("INSERT INTO t (id, v) VALUES (?, ?)").run(i, value);
    assert.deepEqual(db.prepare("SELECT v FROM t WHERE id = ?").get(i)?.v, value);
  }
  assert.equal(db.prepare("SELECT v FROM t").all().length, values.length);
});

Deno.test("transaction keeps nothing of a block that throws and tells who asked to be told", () => {
  using db = openDatabase(":memory:", TABLE);
  let told = 0;
  db.onRollback(() => told++);
  assert.throws(
    () =>
      db.transaction(() => {
        db.prepare("INSERT INTO t (v) VALUES (1)").run();
        db.transaction(() => db.prepare("INSERT INTO t (v) VALUES (2)").run());
        throw new Error("no");
      }),
    /^Error: no$/,
  );
  assert.equal(db.prepare("SELECT count(*) AS n FROM t").get()?.n, 0);
  assert.equal(told, 1);
  assert.equal(db.transaction(() => db.prepare("INSERT INTO t (v) VALUES (3)").run()), 1);
});

Deno.test("a transaction looks at the database's files before and after itself, and no oftener when it is durable", async () => {
  await withProject(({ projects }) => {
    using db = openDatabase(join(projects, "x.db"), TABLE);
    const insert = () => db.prepare("INSERT INTO t (v) VALUES (1)").run();
    const looks = (work: () => unknown): string[] => {
      const { statSync } = Deno;
      const paths: string[] = [];
      Deno.statSync = (path) => {
        paths.push(String(path).slice(projects.length));
        return statSync(path);
      };
      try {
        work();
      } finally {
        Deno.statSync = statSync;
      }
      return paths;
    };
    const expected = ["/x.db", "/x.db-wal", "/x.db-wal"];
    assert.deepEqual(looks(() => db.transaction(insert)), expected);
    assert.deepEqual(looks(() => db.durably(insert)), expected);
    assert.equal(db.changedOutside(), undefined);
  });
});

// M5
Deno.test("transaction on a full disk says so, keeps nothing of it, and the database stays valid", async () => {
  await withProject(({ projects }) => {
    const path = join(projects, "full.db");
    {
      using db = openDatabase(path, TABLE);
      db.prepare("INSERT INTO t (v) VALUES ('kept')").run();
      // SQLite answers the same when the disk has no page left.
      db.pragma(`max_page_count = ${Number(db.pragma("page_count")) + 4}`);
      const fill = () => {
        for (let i = 0; i < 100; i++) db.prepare("INSERT INTO t (v) VALUES (?)").run("x".repeat(4000));
      };
      assert.throws(() => db.transaction(fill), refusal("unavailable", /disk .* full/));
      assert.equal(db.prepare("SELECT count(*) AS n FROM t").get()?.n, 1);
      db.pragma("max_page_count = 1000000");
      db.transaction(fill);
    }
    using again = openDatabase(path, TABLE);
    assert.equal(again.prepare("SELECT count(*) AS n FROM t").get()?.n, 101);
    assert.equal(again.pragma("integrity_check"), "ok");
  });
});

// C3
Deno.test("a connection waits for a lock, writes ahead and syncs as it should", async () => {
  await withProject(({ projects }) => {
    using db = openDatabase(join(projects, "x.db"), TABLE);
    assert.equal(db.pragma("busy_timeout"), 5000);
    assert.equal(db.pragma("journal_mode"), "wal");
    assert.equal(db.pragma("synchronous"), 1);
    assert.equal(db.pragma("auto_vacuum"), 2);
    assert.equal(db.pragma("journal_size_limit"), 1048576);
  });
});

// C13
Deno.test("the -wal file stays small however much is written, is empty after checkpoint and gone after close", async () => {
  await withProject(({ projects }) => {
    const path = join(projects, "x.db");
    const db = openDatabase(path, TABLE);
    const walSize = () => Deno.statSync(`${path}-wal`).size;
    let largest = 0;
    for (let i = 0; i < 2000; i++) {
      db.transaction(() => db.prepare("INSERT INTO t (v) VALUES (?)").run("x".repeat(3000)));
      largest = Math.max(largest, walSize());
    }
    assert.ok(Deno.statSync(path).size > 6_000_000);
    assert.ok(largest < 2_000_000, `the -wal file grew to ${largest} bytes`);
    db.checkpoint();
    assert.equal(walSize(), 0);
    db.close();
    db.close();
    assert.deepEqual(namesIn(projects), ["p1", "x.db"]);
  });
});

Deno.test("a closed database answers with a sentence", () => {
  const db = openDatabase(":memory:", TABLE);
  const statement = db.prepare("SELECT v FROM t");
  statement.all();
  db.close();
  assert.equal(db.open, false);
  assert.throws(() => statement.all(), refusal("unavailable", /was closed/));
  assert.throws(() => db.prepare("SELECT 1").get(), refusal("unavailable", /was closed/));
});

const ODD_TEXTS = [
  "\0",
  "a\0b",
  "ends\0",
  "\0\0x",
  "\ud800",
  "x\udc00 \0",
  "\uFDD0",
  '\uFDD0"x"',
  "路由 😀",
  "",
  "plain",
];

Deno.test("every text comes back as it was, and is found by its value", () => {
  using db = openDatabase(":memory:", []);
  db.exec("CREATE TABLE t (n INTEGER, text TEXT)");
  for (const [n, text] of ODD_TEXTS.entries()) db.prepare("INSERT INTO t VALUES (?, ?)").run(n, text);
  const rows = ODD_TEXTS.map((text, n) => ({ n, text }));
  assert.deepEqual(db.prepare("SELECT * FROM t ORDER BY n").all().map((row) => ({ ...row })), rows);
  assert.deepEqual(
    db.prepare("SELECT n, text FROM t ORDER BY n").arrays(),
    rows.map(({ n, text }) => [n, text]),
  );
  for (const { n, text } of rows) {
    assert.equal(db.prepare("SELECT n FROM t WHERE text = ?").get(text)?.n, n, JSON.stringify(text));
    assert.equal(db.prepare("SELECT text FROM t WHERE n = ?").get(n)?.text, text);
  }
});

Deno.test("a text of another program is left as it is", () => {
  using db = openDatabase(":memory:", []);
  db.exec("CREATE TABLE t (text TEXT); INSERT INTO t VALUES ('\uFDD0 no JSON'), ('\uFDD0[1]')");
  assert.deepEqual(db.prepare("SELECT text FROM t").arrays(), [["\uFDD0 no JSON"], ["\uFDD0[1]"]]);
});

/** Whether this process has a lock on the file (proc_locks(5)). */
function isLocked(file: string): boolean {
  const { ino } = Deno.statSync(file);
  return Deno.readTextFileSync("/proc/locks").split("\n")
    .some((line) => line.includes(` ${Deno.pid} `) && line.includes(`:${ino} `));
}

Deno.test({
  name: "a database in use stays locked, or the next program that reads it would remove its -wal file",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withProject(({ project, projects, file }) => {
      using db = openProjectDatabase(project, projects);
      const note = (id: string) =>
        db.transaction(() => db.prepare("INSERT INTO saver_threads (thread_id) VALUES (?)").run(id));
      note("one");
      assert.equal(db.changedOutside(), undefined);
      assert.ok(isLocked(file), "after a transaction");
      db.checkpoint();
      note("two");
      assert.ok(isLocked(file), "after a checkpoint");
    }),
});

Deno.test({
  name: "the server's own database, which `rekey` opens beside it, stays locked too",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withProject(({ projects }) => {
      using db = openStateDatabase(projects);
      db.transaction(() => db.exec("INSERT INTO model_defaults VALUES ('user', 'u1', 'c1')"));
      db.checkpoint();
      assert.ok(isLocked(db.path));
    }),
});

const python = hasProgram("python3") ? null : "python3 is not installed";

testWhere(
  python,
  "another program that reads the database and ends takes nothing away from it",
  () =>
    withProject(async ({ project, projects, file }) => {
      using db = openProjectDatabase(project, projects);
      const note = (id: string) =>
        db.transaction(() => db.prepare("INSERT INTO saver_threads (thread_id) VALUES (?)").run(id));
      note("before");
      const reader = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); " +
        "print(db.execute('SELECT count(*) FROM saver_threads').fetchone()[0]); db.close()";
      const { stdout } = await new Deno.Command("python3", { args: ["-c", reader, file] }).output();
      assert.equal(new TextDecoder().decode(stdout).trim(), "1");
      note("after");
      // As a crash would leave them.
      for (const end of ["", "-wal"]) Deno.copyFileSync(file + end, `${file}.crash${end}`);
      using left = new Database(`${file}.crash`);
      const threads = left.prepare("SELECT thread_id FROM saver_threads ORDER BY id").arrays().flat();
      assert.deepEqual(threads, ["before", "after"]);
    }),
);
