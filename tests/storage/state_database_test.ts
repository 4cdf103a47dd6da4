import assert from "node:assert/strict";
import { join } from "node:path";
import { openStateDatabase } from "../../src/storage/state_database.ts";
import { TokenUsage } from "../../src/storage/token_usage.ts";
import { body, withConfigs, withStateDir } from "./state.ts";

const FILE = "gns3_copilot.db";

Deno.test("openStateDatabase makes a file that only its owner can read", () =>
  withStateDir((stateDir) => {
    openStateDatabase(stateDir).close();
    assert.equal(Deno.statSync(join(stateDir, FILE)).mode! & 0o777, 0o600);
    assert.deepEqual([...Deno.readDirSync(stateDir)].map(({ name }) => name), [FILE]);
  }));

Deno.test("openStateDatabase refuses what it cannot use with a sentence about this database, and leaves it alone", () =>
  withStateDir((stateDir) => {
    const path = join(stateDir, FILE);
    assert.throws(() => openStateDatabase(stateDir, "must exist"), { code: "not_found" });
    assert.throws(() => Deno.statSync(path), Deno.errors.NotFound);
    const damaged = "x".repeat(5000);
    Deno.writeTextFileSync(path, damaged);
    assert.throws(() => openStateDatabase(stateDir), {
      code: "internal",
      message: "This server's database gns3_copilot.db is damaged. It was left untouched; " +
        "put a backup in its place, or move it away to begin with an empty one.",
    });
    assert.equal(Deno.readTextFileSync(path), damaged);
    Deno.removeSync(path);
    {
      using db = openStateDatabase(stateDir);
      db.exec("PRAGMA user_version = 99");
    }
    assert.throws(
      () => openStateDatabase(stateDir),
      /^AppError: This server's database gns3_copilot\.db was written by a newer/,
    );
  }));

Deno.test("two processes may have it open: each sees what the other writes, and its -wal file stays small", () =>
  withStateDir((stateDir) => {
    const owner = { kind: "user", id: "a" } as const;
    using other = openStateDatabase(stateDir);
    withConfigs(stateDir, (configs) => configs.create(owner, body(), "a"));
    const usage = new TokenUsage(other);
    for (let i = 0; i < 500; i++) usage.add(owner, "2026-01-01", 1);
    withConfigs(stateDir, (configs) => assert.equal(configs.list(owner).length, 1));
    assert.equal(usage.of(owner, "2026-01-01"), 500);
    assert.ok(Deno.statSync(join(stateDir, `${FILE}-wal`)).size < 2_000_000);
  }));

Deno.test("TokenUsage adds up by owner and day and forgets the days before", () =>
  withStateDir((stateDir) => {
    const [user, group] = [{ kind: "user", id: "a" }, { kind: "group", id: "a" }] as const;
    {
      using db = openStateDatabase(stateDir);
      const usage = new TokenUsage(db);
      usage.add(user, "2026-01-01", 5);
      usage.add(user, "2026-01-01", 7);
      usage.add(group, "2026-01-01", 1);
    }
    using db = openStateDatabase(stateDir);
    const usage = new TokenUsage(db);
    assert.deepEqual([usage.of(user, "2026-01-01"), usage.of(group, "2026-01-01")], [12, 1]);
    usage.add(user, "2026-01-02", 3);
    assert.deepEqual([usage.of(user, "2026-01-02"), usage.of(user, "2026-01-01")], [3, 0]);
    assert.equal(usage.of(group, "2026-01-02"), 0);
  }));
