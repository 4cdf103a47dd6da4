import assert from "node:assert/strict";
import { join } from "node:path";
import { openProjectDatabase } from "../../src/storage/database.ts";
import { type Folders, namesIn, refusal, withProject } from "./helpers.ts";

/** What may stand where a file of ours is expected; each is put at `path`. */
const ODD: Record<string, (path: string, outside: string) => void> = {
  "a link to a file": (path, outside) => {
    Deno.writeTextFileSync(join(outside, "target"), "not ours");
    Deno.symlinkSync(join(outside, "target"), path);
  },
  "a link to nothing": (path, outside) => Deno.symlinkSync(join(outside, "nothing"), path),
  "a link beside it": (path) => Deno.symlinkSync("copilot_checkpoints.db", path),
  "a directory": (path) => Deno.mkdirSync(path),
  "a pipe": (path) => assert.ok(new Deno.Command("mkfifo", { args: [path] }).outputSync().success),
};

const FILES = [
  "",
  "-wal",
  "-shm",
  "-journal",
  ".new",
  ".repaired",
  ".restored",
  "-wal.restored",
  ".restoring",
]
  .concat(["-wal.restoring", ".kept", ".kept-wal", ".kept-shm"])
  .map((end) => `copilot_checkpoints.db${end}`).concat("lock");

/** Puts every odd thing at `path` and checks that opening says so in a sentence, and touches nothing outside. */
function assertRefused({ project, projects }: Folders, path: string): void {
  const outside = Deno.makeTempDirSync({ dir: join(projects, "..") });
  for (const [what, put] of Object.entries(ODD)) {
    put(path, outside);
    const before = Deno.lstatSync(path);
    const names = namesIn(outside);
    assert.throws(
      () => openProjectDatabase(project, projects),
      (error) =>
        refusal("forbidden", /is a symbolic link.*\(--projects-dir\)|outside of the projects directory/)(
          error,
        ) ||
        refusal("unavailable", /^In this project's folder .* is (not a file|a file; it must be a folder)\.$/)(
          error,
        ),
      `${path}: ${what}`,
    );
    assert.deepEqual(namesIn(outside), names, `${path}: ${what}`);
    if (names.includes("target")) assert.equal(Deno.readTextFileSync(join(outside, "target")), "not ours");
    assert.equal(Deno.lstatSync(path).ino, before.ino);
    Deno.removeSync(path, { recursive: true });
  }
}

Deno.test("whatever stands in the place of one of our files is refused with a sentence, and nothing is followed", () =>
  withProject((folders) => {
    const folder = join(folders.project, "gns3-copilot");
    Deno.mkdirSync(folder);
    for (const name of FILES) assertRefused(folders, join(folder, name));
    openProjectDatabase(folders.project, folders.projects).close();
  }));

Deno.test("whatever stands in the place of the early database is refused with a sentence, and nothing is followed", () =>
  withProject((folders) => {
    const folder = join(folders.project, ".gns3-copilot");
    Deno.mkdirSync(folder);
    for (const name of ["checkpoint.db", "copilot_checkpoints.db"]) {
      assertRefused(folders, join(folder, name));
    }
    // Beside a database, where it alone would be followed.
    Deno.writeTextFileSync(join(folder, "checkpoint.db"), "");
    assertRefused(folders, join(folder, "checkpoint.db-wal"));
  }));

Deno.test("a folder of ours that leads out of the project is refused, an early one that is no folder means nothing", () =>
  withProject(({ project, projects }) => {
    const outside = Deno.makeTempDirSync({ dir: join(projects, "..") });
    Deno.writeTextFileSync(join(outside, "checkpoint.db"), "not ours");
    for (const name of ["gns3-copilot", ".gns3-copilot"]) {
      Deno.symlinkSync(outside, join(project, name));
      assert.throws(
        () => openProjectDatabase(project, projects),
        refusal("forbidden", /--projects-dir/),
        name,
      );
      assert.deepEqual(namesIn(outside), ["checkpoint.db"]);
      Deno.removeSync(join(project, name));
    }
    for (const [what, put] of Object.entries(ODD)) {
      if (what.startsWith("a link") || what === "a directory") continue;
      put(join(project, ".gns3-copilot"), outside);
      openProjectDatabase(project, projects).close();
      Deno.removeSync(join(project, ".gns3-copilot"));
    }
    assert.ok(new Deno.Command("mkfifo", { args: [join(project, "gns3-copilot-2")] }).outputSync().success);
    Deno.removeSync(join(project, "gns3-copilot"), { recursive: true });
    Deno.renameSync(join(project, "gns3-copilot-2"), join(project, "gns3-copilot"));
    assert.throws(() => openProjectDatabase(project, projects), refusal("unavailable", /must be a folder/));
  }));
