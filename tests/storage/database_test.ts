import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openDatabase, openProjectDatabase } from "../../src/storage/database.ts";
import { CHAT_MIGRATIONS } from "../../src/storage/migrations.ts";
import { namesIn, refusal, withProject } from "./helpers.ts";

const BOTH = [
  "-wal",
  "-shm",
];

Deno.test("openProjectDatabase creates the database in the project's own folder and nothing else", async () => {
  await withProject(({ projects, project, file }) => {
    const db = openProjectDatabase(project, projects);
    assert.equal(db.path, file);
    db.close();
    assert.deepEqual(namesIn(projects), ["p1"]);
    assert.deepEqual(namesIn(project), ["gns3-copilot"]);
    assert.deepEqual(namesIn(join(project, "gns3-copilot")), ["copilot_checkpoints.db", "lock"]);
    openProjectDatabase(project, projects).close();
  });
});

Deno.test("openProjectDatabase never creates the project's folder", async () => {
  await withProject(({ projects }) => {
    const missing = join(projects, "p2");
    assert.throws(
      () => openProjectDatabase(missing, projects),
      refusal("not_found", /does not exist on this machine/),
    );
    assert.deepEqual(namesIn(projects), ["p1"]);
    assert.throws(
      () => openProjectDatabase(join(projects, "p1"), join(projects, "none")),
      refusal("unavailable", /--projects-dir/),
    );
  });
});

Deno.test("openProjectDatabase refuses a project outside of the projects directory, naming --projects-dir and no path", async () => {
  await withProject(({ projects, project }) => {
    const outside = Deno.makeTempDirSync({ dir: join(projects, "..") });
    const refused = refusal("forbidden", /--projects-dir/);
    assert.throws(() => openProjectDatabase(outside, projects), refused);
    assert.throws(() => openProjectDatabase(projects, projects), refused);
    assert.throws(
      () => openProjectDatabase(join(project, "..", "..", "..", "etc"), projects),
      (error: Error) => error.name === "AppError",
    );
    // A sibling whose name only starts the same.
    Deno.mkdirSync(`${projects}-2`);
    assert.throws(() => openProjectDatabase(`${projects}-2`, projects), refused);
    assert.deepEqual(namesIn(outside), []);
  });
});

Deno.test("openProjectDatabase refuses symbolic links that lead out, and writes nothing through them", async () => {
  await withProject(({ projects, project }) => {
    const outside = Deno.makeTempDirSync({ dir: join(projects, "..") });
    const refused = refusal("forbidden", /--projects-dir/);

    Deno.symlinkSync(outside, join(projects, "linked"));
    assert.throws(() => openProjectDatabase(join(projects, "linked"), projects), refused);

    Deno.symlinkSync(outside, join(project, "gns3-copilot"));
    assert.throws(() => openProjectDatabase(project, projects), refused);
    Deno.removeSync(join(project, "gns3-copilot"));

    Deno.symlinkSync(join(projects, "..", "nowhere"), join(project, "gns3-copilot"));
    assert.throws(() => openProjectDatabase(project, projects), refused);
    Deno.removeSync(join(project, "gns3-copilot"));

    // Another project's folder is no place either.
    Deno.mkdirSync(join(projects, "p3"));
    Deno.symlinkSync(join(projects, "p3"), join(project, "gns3-copilot"));
    assert.throws(() => openProjectDatabase(project, projects), refused);
    Deno.removeSync(join(project, "gns3-copilot"));

    Deno.mkdirSync(join(project, "gns3-copilot"));
    for (const name of ["", "-wal", "-shm", "-journal"]) {
      const link = join(project, "gns3-copilot", `copilot_checkpoints.db${name}`);
      Deno.symlinkSync(join(outside, "target"), link);
      assert.throws(
        () => openProjectDatabase(project, projects),
        refusal("forbidden", /symbolic link.*--projects-dir/),
      );
      Deno.removeSync(link);
    }
    assert.deepEqual(namesIn(outside), []);
    openProjectDatabase(project, projects).close();
  });
});

Deno.test("openProjectDatabase accepts a projects directory that is itself a symbolic link", async () => {
  await withProject(({ projects }) => {
    Deno.symlinkSync(projects, `${projects}-link`);
    openProjectDatabase(join(`${projects}-link`, "p1"), `${projects}-link`).close();
    openProjectDatabase(join(`${projects}-link`, "p1"), projects).close();
  });
});

Deno.test("openProjectDatabase says what is wrong when something else stands in the way", async () => {
  await withProject(({ projects, project, file }) => {
    Deno.writeTextFileSync(join(project, "gns3-copilot"), "x");
    assert.throws(() => openProjectDatabase(project, projects), refusal("unavailable", /must be a folder/));
    Deno.removeSync(join(project, "gns3-copilot"));
    Deno.mkdirSync(file, { recursive: true });
    assert.throws(() => openProjectDatabase(project, projects), refusal("unavailable", /is not a file/));
  });
});

/** A database with enough in it to be damaged, and its bytes. */
function filled(projects: string, project: string, file: string): Uint8Array {
  const db = openProjectDatabase(project, projects);
  db.transaction(() => {
    for (let i = 0; i < 200; i++) {
      db.prepare("INSERT INTO saver_rows VALUES (1, ?, 'human', ?, ?, NULL, ?)").run(
        i,
        `id-${i}`,
        "x".repeat(500),
        i,
      );
    }
  });
  db.close();
  return Deno.readFileSync(file);
}

// C12
Deno.test("openProjectDatabase names a damaged file, what to do about it, and leaves its bytes alone", async () => {
  await withProject(({ projects, project, file }) => {
    const whole = filled(projects, project, file);
    const garbledPages = whole.slice();
    garbledPages.fill(0xa5, 4096 * 3, 4096 * 12);
    const garbledHeader = whole.slice();
    garbledHeader.fill(0, 0, 16);
    const damages: [string, Uint8Array][] = [
      ["garbled pages", garbledPages],
      ["garbled header", garbledHeader],
      ["cut in the middle", whole.slice(0, whole.length / 2)],
      ["cut in the first page", whole.slice(0, 50)],
      ["no database at all", new TextEncoder().encode("hello ".repeat(2000))],
    ];
    const refused = refusal(
      "internal",
      /gns3-copilot\/copilot_checkpoints\.db .*left untouched.*gns3-copilot check --repair/,
    );
    for (const [what, bytes] of damages) {
      Deno.writeFileSync(file, bytes);
      assert.throws(() => openProjectDatabase(project, projects), refused, what);
      assert.deepEqual(Deno.readFileSync(file), bytes, what);
    }
    // Other projects go on.
    Deno.mkdirSync(join(projects, "p2"));
    openProjectDatabase(join(projects, "p2"), projects).close();
  });
});

// C12: SQLite would write a -wal file that a crash left into the damaged file, even when it is only closed.
Deno.test("openProjectDatabase leaves a damaged file alone that has a -wal file beside it", async () => {
  await withProject(({ projects, project, file }) => {
    filled(projects, project, file);
    const db = openProjectDatabase(project, projects);
    db.transaction(() => db.prepare("UPDATE saver_rows SET content = 'changed' WHERE seq > 150").run());
    const [main, wal] = [Deno.readFileSync(file), Deno.readFileSync(`${file}-wal`)];
    db.close();
    assert.ok(wal.length > 4096);
    main.fill(0xa5, 4096 * 3, 4096 * 12);
    Deno.writeFileSync(file, main);
    Deno.writeFileSync(`${file}-wal`, wal);
    assert.throws(() => openProjectDatabase(project, projects), refusal("internal", /damaged/));
    assert.deepEqual(Deno.readFileSync(file), main);
    assert.deepEqual(Deno.readFileSync(`${file}-wal`), wal);
  });
});

// Contract section 5: a crash never loses the database.
Deno.test("openProjectDatabase reads what a crashed process had committed", async () => {
  await withProject(({ projects, project, file }) => {
    const db = openProjectDatabase(project, projects);
    db.transaction(() => db.prepare("INSERT INTO saver_threads (thread_id) VALUES ('t1')").run());
    db.exec("BEGIN IMMEDIATE");
    db.prepare("INSERT INTO saver_threads (thread_id) VALUES ('half')").run();
    // What the disk holds when the process dies now.
    const left = ["", ...BOTH].map((name): [string, Uint8Array] => [name, Deno.readFileSync(file + name)]);
    db.exec("ROLLBACK");
    db.close();
    for (const [name, bytes] of left) Deno.writeFileSync(file + name, bytes);
    using again = openProjectDatabase(project, projects);
    assert.deepEqual(again.prepare("SELECT thread_id FROM saver_threads").arrays(), [["t1"]]);
  });
});

// Contract section 5: a project of seed 001.
Deno.test("openProjectDatabase takes over the database of the early folder and leaves that as it is", async () => {
  for (const name of ["checkpoint.db", "copilot_checkpoints.db"]) {
    await withProject(({ projects, project }) => {
      const folder = join(project, ".gns3-copilot");
      Deno.mkdirSync(folder);
      const early = new DatabaseSync(join(folder, name));
      early.exec("PRAGMA journal_mode = WAL; CREATE TABLE checkpoints (thread_id TEXT, checkpoint BLOB)");
      early.exec("INSERT INTO checkpoints VALUES ('t1', x'00ff')");
      // Copied while its -wal file still holds the row.
      const db = openProjectDatabase(project, projects);
      early.close();
      assert.deepEqual(db.prepare("SELECT thread_id FROM checkpoints").arrays(), [["t1"]]);
      db.prepare("DELETE FROM checkpoints").run();
      db.close();
      const again = new DatabaseSync(join(folder, name));
      assert.equal(again.prepare("SELECT count(*) AS n FROM checkpoints").get()?.n, 1);
      again.close();
      // Only once: what happened here since is not overwritten.
      using second = openProjectDatabase(project, projects);
      assert.deepEqual(second.prepare("SELECT thread_id FROM checkpoints").arrays(), []);
    });
  }
});

Deno.test("openDatabase gives an empty file a schema", async () => {
  await withProject(({ projects }) => {
    const path = join(projects, "empty.db");
    Deno.writeFileSync(path, new Uint8Array());
    using db = openDatabase(path);
    assert.equal(db.pragma("user_version"), CHAT_MIGRATIONS.length);
  });
});

// M5, contract section 13: the server runs in a Worker that may only read and write the projects directory.
Deno.test("a Worker with nothing but the projects directory can use a project's database, and nothing beyond it", async () => {
  await withProject(async ({ projects, project }) => {
    const worker = new Worker(import.meta.resolve("./sandbox_worker.ts"), {
      type: "module",
      deno: {
        permissions: {
          read: [projects],
          write: [projects],
          net: false,
          env: false,
          run: false,
          ffi: false,
          sys: false,
          import: false,
        },
      },
    });
    try {
      const answer = await new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = (event) => {
          event.preventDefault();
          reject(new Error(event.message));
        };
        worker.postMessage({ projects, project });
      });
      assert.deepEqual(answer, {
        messages: 8,
        deleted: true,
        outside: "forbidden",
        attach: "refused",
        vacuum: "refused",
        readOnly: "unavailable",
      });
    } finally {
      worker.terminate();
    }
  });
});
