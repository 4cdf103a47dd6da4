import assert from "node:assert/strict";
import { join } from "node:path";
import { openProjectDatabase } from "../../src/storage/database.ts";
import { LOCK_FILE, lockFolder } from "../../src/storage/lock.ts";
import { ChatSessionsRepository } from "../../src/storage/sessions.ts";
import { startFromSource } from "../fakes/program.ts";
import { namesIn, refusal, withProject } from "./helpers.ts";

const main = new URL("locking.ts", import.meta.url).pathname;
const inUse = refusal("unavailable", /^Another GNS3 Copilot server is using this project's chats\./);

Deno.test("a folder has one holder, in one process and in two, and an empty file is left when it is let go of", () =>
  withProject(async ({ project: folder }) => {
    const release = lockFolder(folder);
    assert.throws(() => lockFolder(folder), inUse);
    release();
    assert.deepEqual(namesIn(folder), [LOCK_FILE]);
    const other = startFromSource([folder], { main });
    await other.until(/held/);
    assert.throws(() => lockFolder(folder), inUse);
    other.kill("SIGKILL");
    await other.ended();
    lockFolder(folder)();
    assert.deepEqual(namesIn(folder), [LOCK_FILE]);
    assert.equal(Deno.statSync(join(folder, LOCK_FILE)).size, 0);
  }));

Deno.test("of several processes that take a folder again and again, one at a time is inside", () =>
  withProject(async ({ project: folder }) => {
    const programs = [1, 2, 3].map(() => startFromSource([folder, "400"], { main }));
    for (const { code, out, err } of await Promise.all(programs.map((program) => program.ended()))) {
      assert.equal(code, 0, err);
      assert.ok(Number(out) > 0);
    }
  }));

Deno.test("a copy of a folder in use is not locked, nor is one whose lock file holds something", () =>
  withProject(({ project, projects }) => {
    const release = lockFolder(project);
    const copy = join(projects, "copy");
    Deno.mkdirSync(copy);
    Deno.copyFileSync(join(project, LOCK_FILE), join(copy, LOCK_FILE));
    lockFolder(copy)();
    release();
    Deno.writeTextFileSync(join(project, LOCK_FILE), "from somewhere else");
    lockFolder(project)();
  }));

Deno.test("a folder that vanishes while it is held is not made anew, and one in its place is another", () =>
  withProject(({ project: folder }) => {
    const release = lockFolder(folder);
    Deno.removeSync(folder, { recursive: true });
    Deno.mkdirSync(folder);
    assert.deepEqual(namesIn(folder), []);
    const second = lockFolder(folder);
    release();
    assert.throws(() => lockFolder(folder), inUse);
    second();
  }));

Deno.test("openProjectDatabase refuses a database that is open elsewhere, and changes nothing", () =>
  withProject(({ project, projects, file }) => {
    const first = openProjectDatabase(project, projects);
    new ChatSessionsRepository(first, "p1").create({ thread_id: "t1", user_id: "u1", project_id: "p1" });
    const bytes = [file, `${file}-wal`].map((path) => Deno.readFileSync(path));
    const names = namesIn(join(project, "gns3-copilot"));
    assert.throws(() => openProjectDatabase(project, projects), inUse);
    assert.deepEqual([file, `${file}-wal`].map((path) => Deno.readFileSync(path)), bytes);
    assert.deepEqual(namesIn(join(project, "gns3-copilot")), names);
    first.close();
    using second = openProjectDatabase(project, projects);
    assert.ok(new ChatSessionsRepository(second, "p1").get("u1", "t1"));
  }));

Deno.test("a database that cannot be opened is not held", () =>
  withProject(({ project, projects, file }) => {
    openProjectDatabase(project, projects).close();
    const whole = Deno.readFileSync(file);
    Deno.writeTextFileSync(file, "damage ".repeat(100));
    for (let i = 0; i < 2; i++) {
      assert.throws(() => openProjectDatabase(project, projects), refusal("internal", /is damaged/));
    }
    Deno.writeFileSync(file, whole);
    openProjectDatabase(project, projects).close();
  }));

Deno.test("a database is let go of even when something fails while it is closed", () =>
  withProject(({ project, projects }) => {
    const db = openProjectDatabase(project, projects);
    db.onClose(() => {
      throw new Error("no space left on device");
    });
    assert.throws(() => db.close(), refusal("unavailable", /is full/));
    openProjectDatabase(project, projects).close();
  }));

// An administrator may write everything: the test needs somebody who may not.
const nobody = Deno.uid() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Whether `nobody` may run this Deno and read this repository: under an administrator's home directory he may not. */
function nobodyMayRun(): boolean {
  try {
    return new Deno.Command(Deno.execPath(), {
      args: ["eval", `Deno.readTextFileSync(${JSON.stringify(main)})`],
      env: { DENO_DIR: "/nonexistent" },
      cwd: "/",
      stderr: "null",
      ...nobody,
    }).outputSync().success;
  } catch {
    return false;
  }
}

const mayRun = nobodyMayRun();

Deno.test({
  name: `a lock file that may only be read locks nothing: the holder must be able to write it${
    mayRun ? "" : " (skipped: only root may run this Deno or read this repository)"
  }`,
  ignore: !mayRun,
  fn: () =>
    withProject(async ({ project: folder, projects }) => {
      lockFolder(folder)();
      Deno.chmodSync(join(folder, LOCK_FILE), 0o444);
      Deno.chmodSync(join(projects, ".."), 0o755);
      const cache = join(projects, "cache");
      Deno.mkdirSync(cache);
      Deno.chmodSync(cache, 0o777);
      const { code, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", "--no-lock", "--no-config", main, folder],
        env: { DENO_DIR: cache, NO_COLOR: "1" },
        cwd: projects,
        stdout: "null",
        stderr: "piped",
        ...nobody,
      }).output();
      assert.notEqual(code, 0);
      assert.match(new TextDecoder().decode(stderr), /is not writable for this server/);
    }),
});
