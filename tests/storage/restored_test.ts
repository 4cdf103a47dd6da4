import assert from "node:assert/strict";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { closeRestored, openProjectDatabase } from "../../src/storage/database.ts";
import { ChatSessionsRepository } from "../../src/storage/sessions.ts";
import { type Folders, namesIn, runTurns, turnRecord, withProject } from "./helpers.ts";

/** What GNS3 puts into a snapshot. */
function snapshot(file: string): [string, Uint8Array][] {
  return ["", "-wal", "-shm"].flatMap((name) => {
    try {
      return [[file + name, Deno.readFileSync(file + name)] as [string, Uint8Array]];
    } catch {
      return [];
    }
  });
}

/** What somebody who has not noticed a restore yet may do. */
const ATTEMPTS: Record<string, (project: Awaited<ReturnType<typeof used>>) => unknown> = {
  "a turn's end": ({ sessions }) => sessions.endTurn("u1", "t1", turnRecord()),
  "a rename": ({ sessions }) => sessions.rename("u1", "t1", "renamed"),
  "a pragma": ({ db }) => db.pragma("synchronous"),
  "a statement": ({ db }) => db.exec("PRAGMA synchronous = NORMAL"),
  "a deletion": ({ sessions }) => sessions.delete("u1", "t2"),
};

/** GNS3 overwrites in place and leaves files that the snapshot has not. */
function restore(files: [string, Uint8Array][]): void {
  for (const [name, bytes] of files) Deno.writeFileSync(name, bytes);
}

async function used({ projects, project }: Folders) {
  const db = openProjectDatabase(project, projects);
  const sessions = new ChatSessionsRepository(db, "p1");
  const saver = new SqliteSaver(db);
  sessions.create({ thread_id: "t1", user_id: "u1", project_id: "p1" });
  await runTurns(saver, "t1", 2);
  return { db, sessions, saver };
}

async function useMore({ sessions, saver }: Awaited<ReturnType<typeof used>>): Promise<void> {
  await runTurns(saver, "t1", 3);
  sessions.create({ thread_id: "t2", user_id: "u1", project_id: "p1" });
  sessions.endTurn("u1", "t1", turnRecord({ title: "later" }));
  await runTurns(saver, "t2", 2);
}

/** The messages of both sessions, and that the file is whole. */
function held({ projects, project, file }: Folders): number[] {
  using db = openProjectDatabase(project, projects);
  assert.equal(db.pragma("integrity_check"), "ok");
  assert.deepEqual(
    namesIn(file.slice(0, file.lastIndexOf("/"))).filter((name) => name.includes("restor")),
    [],
  );
  const saver = new SqliteSaver(db);
  return [saver.messages("t1").length, saver.messages("t2").length];
}

Deno.test("changedOutside is false through all of this connection's own work", async () => {
  await withProject(async (folders) => {
    const project = await used(folders);
    assert.equal(project.db.changedOutside(), undefined);
    for (let i = 0; i < 4; i++) {
      await runTurns(project.saver, "t1", 4);
      assert.equal(project.db.changedOutside(), undefined);
    }
    project.sessions.delete("u1", "t1");
    project.db.checkpoint();
    assert.equal(project.db.changedOutside(), undefined);
    project.db.close();
  });
});

// M4
Deno.test("closeRestored lets a restored snapshot stand, whatever was still held of the former state", async () => {
  for (const idle of [true, false]) {
    await withProject(async (folders) => {
      const project = await used(folders);
      if (idle) project.db.checkpoint();
      const files = snapshot(folders.file);
      await useMore(project);
      project.db.checkpoint();
      await useMore({ ...project, sessions: { create: () => {}, endTurn: () => {} } as never });
      restore(files);
      assert.equal(project.db.changedOutside(), "restored");
      closeRestored(project.db);
      assert.deepEqual(held(folders), [8, 0], idle ? "taken when idle" : "taken with a -wal file in use");
    });
  }
});

// M4: the usual one: nothing was moved out of the -wal file between the snapshot and its restore.
Deno.test("whatever is tried after a restore, the snapshot's -wal file stays the snapshot's", async () => {
  for (const [what, attempt] of Object.entries(ATTEMPTS)) {
    await withProject(async (folders) => {
      const project = await used(folders);
      const files = snapshot(folders.file);
      await useMore(project);
      restore(files);
      for (let i = 0; i < 2; i++) {
        try {
          attempt(project);
        } catch (error) {
          assert.equal((error as { code?: string }).code, "conflict", what);
        }
        assert.equal(project.db.changedOutside(), "restored", what);
      }
      closeRestored(project.db);
      assert.deepEqual(held(folders), [8, 0], what);
    });
  }
});

// M4
Deno.test("closeRestored keeps a snapshot's -wal file that is the beginning of ours", async () => {
  await withProject(async (folders) => {
    const project = await used(folders);
    const files = snapshot(folders.file);
    await useMore(project);
    restore(files.filter(([name]) => name.endsWith("-wal")));
    assert.equal(project.db.changedOutside(), "restored", "before the database itself is overwritten");
    restore(files);
    assert.equal(project.db.changedOutside(), "restored");
    assert.throws(() => project.sessions.rename("u1", "t1", "x"), /set back to a snapshot/);
    closeRestored(project.db);
    assert.deepEqual(held(folders), [8, 0]);
  });
});

// M4: a snapshot that was taken while the project was closed has no -wal file; ours stays beside the restored file.
Deno.test("closeRestored drops a -wal file that belongs to the time after the snapshot", async () => {
  await withProject(async (folders) => {
    (await used(folders)).db.close();
    const files = snapshot(folders.file);
    assert.equal(files.length, 1);
    const db = openProjectDatabase(folders.project, folders.projects);
    await useMore({ db, sessions: new ChatSessionsRepository(db, "p1"), saver: new SqliteSaver(db) });
    restore(files);
    assert.equal(db.changedOutside(), "restored");
    assert.throws(() => db.transaction(() => assert.fail("it ran")), /set back to a snapshot/);
    // Nothing is written into the restored file any more, not even by its own bookkeeping.
    db.checkpoint();
    assert.deepEqual(Deno.readFileSync(folders.file), files[0]![1]);
    closeRestored(db);
    assert.deepEqual(held(folders), [8, 0]);
  });
});

Deno.test("openProjectDatabase finishes a closeRestored that a crash cut short", async () => {
  await withProject(async (folders) => {
    (await used(folders)).db.close();
    const [[, bytes]] = snapshot(folders.file) as [[string, Uint8Array]];
    const db = openProjectDatabase(folders.project, folders.projects);
    await useMore({ db, sessions: new ChatSessionsRepository(db, "p1"), saver: new SqliteSaver(db) });
    const wal = Deno.readFileSync(`${folders.file}-wal`);
    db.close();
    Deno.writeFileSync(`${folders.file}-wal`, wal);
    Deno.writeFileSync(`${folders.file}.restored`, bytes);
    assert.deepEqual(held(folders), [8, 0]);
  });
});

Deno.test("closeRestored of a database whose folder is gone creates nothing", async () => {
  await withProject(async (folders) => {
    const { db } = await used(folders);
    Deno.removeSync(folders.project, { recursive: true });
    assert.equal(db.changedOutside(), "deleted");
    assert.throws(() => db.transaction(() => {}), /were deleted or moved away/);
    closeRestored(db);
    assert.deepEqual(namesIn(folders.projects), []);
  });
});
