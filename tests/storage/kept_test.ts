// A database that stays as it is while GNS3 restores a snapshot over it.
import assert from "node:assert/strict";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { keepThrough, openProjectDatabase } from "../../src/storage/database.ts";
import { ChatSessionsRepository } from "../../src/storage/sessions.ts";
import { type Folders, namesIn, runTurns, withProject } from "./helpers.ts";

const NAMES = ["copilot_checkpoints.db", "copilot_checkpoints.db-shm", "copilot_checkpoints.db-wal"];

async function used(folders: Folders) {
  const db = openProjectDatabase(folders.project, folders.projects);
  const sessions = new ChatSessionsRepository(db, "p1");
  const saver = new SqliteSaver(db);
  sessions.create({ thread_id: "t1", user_id: "u1", project_id: "p1" });
  await runTurns(saver, "t1", 2);
  const snapshot = NAMES.map((name) => {
    const path = `${folders.project}/gns3-copilot/${name}`;
    return [path, Deno.readFileSync(path)] as const;
  });
  await runTurns(saver, "t1", 3);
  return {
    db,
    sessions,
    saver,
    /** As GNS3 does it: in place, the `-wal` and `-shm` that were there too. */
    restore: () => {
      for (const [path, bytes] of snapshot) Deno.writeFileSync(path, bytes);
    },
  };
}

function messages(folders: Folders): number {
  using db = openProjectDatabase(folders.project, folders.projects);
  assert.equal(db.pragma("integrity_check"), "ok");
  return new SqliteSaver(db).messages("t1").length;
}

// M4
Deno.test("keepThrough keeps everything, what is written meanwhile too, and nobody notices", async () => {
  await withProject(async (folders) => {
    const project = await used(folders);
    const listed = project.sessions.list("u1", { limit: 10, offset: 0 });
    const result = await keepThrough(project.db, async () => {
      project.restore();
      assert.ok(!project.db.changedOutside());
      await runTurns(project.saver, "t1", 1);
      project.sessions.create({ thread_id: "t2", user_id: "u1", project_id: "p1" });
      return 7;
    });
    assert.equal(result, 7);
    assert.ok(!project.db.changedOutside());
    assert.equal(project.saver.messages("t1").length, 24);
    await runTurns(project.saver, "t1", 1);
    assert.equal(project.sessions.list("u1", { limit: 10, offset: 0 }).total, listed.total + 1);
    project.db.close();
    assert.deepEqual(namesIn(`${folders.project}/gns3-copilot`), ["copilot_checkpoints.db", "lock"]);
    assert.equal(messages(folders), 28);
  });
});

Deno.test("keepThrough keeps everything when the restore fails, and throws what it threw", async () => {
  await withProject(async (folders) => {
    const project = await used(folders);
    const fault = new Error("GNS3 said no");
    await assert.rejects(
      keepThrough(project.db, () => {
        project.restore();
        return Promise.reject(fault);
      }),
      fault,
    );
    assert.equal(project.saver.messages("t1").length, 20);
    project.db.close();
    assert.equal(messages(folders), 20);
  });
});

Deno.test("a database that is closed in the middle of keepThrough is put back", async () => {
  await withProject(async (folders) => {
    const project = await used(folders);
    await keepThrough(project.db, () => {
      project.db.close();
      project.restore();
      return Promise.resolve();
    });
    assert.equal(messages(folders), 20);
  });
});

Deno.test("a crash in the middle of keepThrough costs nothing: the next opening puts the database back", async () => {
  for (const restored of [true, false]) {
    await withProject(async (folders) => {
      const project = await used(folders);
      const folder = `${folders.project}/gns3-copilot`;
      const stopped = Promise.withResolvers<void>();
      const keeping = keepThrough(project.db, async () => {
        if (restored) project.restore();
        await runTurns(project.saver, "t1", 1);
        // What a crash leaves, with the last turn in the -wal file only.
        for (const { name } of Deno.readDirSync(folder)) {
          if (!name.endsWith("-shm")) Deno.copyFileSync(`${folder}/${name}`, `${folder}/../${name}.crash`);
        }
        await stopped.promise;
      });
      while (!namesIn(folders.project).some((name) => name.endsWith(".crash"))) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      stopped.resolve();
      await keeping;
      project.db.close();
      for (const name of namesIn(folder)) Deno.removeSync(`${folder}/${name}`);
      for (const name of namesIn(folders.project).filter((one) => one.endsWith(".crash"))) {
        Deno.renameSync(`${folders.project}/${name}`, `${folder}/${name.slice(0, -6)}`);
      }
      assert.ok(namesIn(folder).includes("copilot_checkpoints.db.kept-wal"));
      assert.equal(messages(folders), 24, restored ? "restored" : "not restored yet");
      assert.deepEqual(namesIn(folder), ["copilot_checkpoints.db", "lock"]);
    });
  }
});

Deno.test("keepThrough touches nothing of a database that was restored just before", async () => {
  await withProject(async (folders) => {
    const project = await used(folders);
    project.db.checkpoint();
    project.restore();
    await assert.rejects(keepThrough(project.db, () => Promise.resolve()), /has just been restored/);
    assert.equal(namesIn(`${folders.project}/gns3-copilot`).some((name) => name.includes("kept")), false);
  });
});

Deno.test("a link in the place of a kept database is refused", async () => {
  await withProject(async (folders) => {
    const project = await used(folders);
    project.db.close();
    const target = `${folders.projects}/../elsewhere.db`;
    Deno.copyFileSync(folders.file, target);
    Deno.symlinkSync(target, `${folders.file}.kept`);
    assert.throws(() => openProjectDatabase(folders.project, folders.projects), {
      name: "AppError",
      code: "forbidden",
    });
  });
});
