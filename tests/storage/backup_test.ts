import assert from "node:assert/strict";
import { join } from "node:path";
import { backupDatabase } from "../../src/storage/backup.ts";
import { Database } from "../../src/storage/connection.ts";
import { ChatSessionsRepository } from "../../src/storage/sessions.ts";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { contentOf, fill, garble } from "./full.ts";
import { namesIn, runTurns, withProject } from "./helpers.ts";

Deno.test("a backup holds everything of one moment, is one private file, and disturbs nobody who writes", () =>
  withProject(async (folders) => {
    using db = await fill(folders);
    const expected = contentOf(db);
    const target = join(folders.projects, "copy.db");
    assert.deepEqual(backupDatabase(folders.file, target), {
      problems: [],
      notOurs: false,
      sessions: 3,
      messages: 256,
    });
    assert.equal(db.changedOutside(), undefined);
    await runTurns(new SqliteSaver(db), "t1", 1);
    assert.ok(new ChatSessionsRepository(db, "p1").get("u1", "t1"));
    assert.deepEqual(namesIn(folders.projects), ["copy.db", "p1"]);
    assert.equal(Deno.statSync(target).mode! & 0o777, 0o600);
    using copy = new Database(target, { readOnly: true });
    assert.deepEqual(contentOf(copy), expected);
  }));

Deno.test("a backup leaves nothing beside a database that nobody uses", () =>
  withProject(async (folders) => {
    (await fill(folders)).close();
    backupDatabase(folders.file, join(folders.projects, "copy.db"));
    assert.deepEqual(namesIn(join(folders.project, "gns3-copilot")), ["copilot_checkpoints.db", "lock"]);
  }));

Deno.test("a backup overwrites nothing, and leaves nothing of a copy that did not succeed", () =>
  withProject(async (folders) => {
    (await fill(folders)).close();
    const target = join(folders.projects, "copy.db");
    Deno.writeTextFileSync(target, "mine");
    assert.throws(() => backupDatabase(folders.file, target), {
      code: "conflict",
      message: /is there already/,
    });
    assert.equal(Deno.readTextFileSync(target), "mine");
    Deno.removeSync(target);
    assert.throws(() => backupDatabase(folders.file, join(folders.projects, "nowhere", "copy.db")), {
      code: "unavailable",
      message: /cannot be written \(ENOENT\)/,
    });
    Deno.writeFileSync(folders.file, garble(Deno.readFileSync(folders.file), 8192, 400_000));
    assert.throws(() => backupDatabase(folders.file, target), { code: "internal", message: /is damaged/ });
    assert.deepEqual(namesIn(folders.projects), ["p1"]);
  }));
