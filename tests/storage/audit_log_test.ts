// The audit log: what a line holds, who reads it, how much is kept, and that a full disk stops nobody.
import assert from "node:assert/strict";
import type { AuditEntry } from "../../src/domain/audit.ts";
import { AuditLog, type AuditOptions } from "../../src/storage/audit_log.ts";
import { testLog } from "../fakes/log.ts";

const PROJECT = "438ab39b-d78d-4c48-944c-a987cea63540";

function entry(id: string, more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id,
    time: "2026-03-01T10:00:00.000Z",
    user_id: "u1",
    username: "alice",
    project_id: PROJECT,
    session_id: "s1",
    turn_id: "t1",
    mode: "lab_automation_assistant",
    tool: "start_gns3_node",
    risk: "change",
    arguments: { node_ids: ["PC1"] },
    outcome: "success",
    duration_ms: 12,
    ...more,
  };
}

async function withLog(
  test: (log: AuditLog, dir: string, lines: ReturnType<typeof testLog>["lines"]) => Promise<void>,
  options: Partial<AuditOptions> = {},
): Promise<void> {
  const dir = await Deno.makeTempDir();
  const { log, lines } = testLog();
  try {
    await test(new AuditLog({ stateDir: dir, log, ...options }), dir, lines);
  } finally {
    await Deno.chmod(dir, 0o700);
    await Deno.remove(dir, { recursive: true });
  }
}

const ids = (entries: AuditEntry[]) => entries.map(({ id }) => id);

Deno.test("AuditLog writes one JSON line a call, in a file for its owner only", async () => {
  await withLog(async (log, dir) => {
    log.append(entry("a"));
    log.append(entry("b", { outcome: "error", error: "no such node" }));
    const file = `${dir}/audit/audit.jsonl`;
    const lines = (await Deno.readTextFile(file)).trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(lines, [entry("a"), entry("b", { outcome: "error", error: "no such node" })]);
    assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);
    assert.equal((await Deno.stat(`${dir}/audit`)).mode! & 0o777, 0o700);
  });
});

Deno.test("AuditLog cuts secrets and endless texts out of arguments and errors", async () => {
  await withLog(async (log, dir) => {
    const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";
    log.append(entry("a", {
      arguments: {
        password: "S3CRET",
        device_configs: [{
          device_name: "R1",
          config_commands: ["enable secret S3CRET", "interface Gi0/0", jwt],
        }],
        long: "x".repeat(100_000),
      },
      error: "R1 refused: username bob password S3CRET",
    }));
    log.append(entry("b", { arguments: '{"commands": ["snmp-server community S3CRET RO' }));
    log.append(
      entry("c", { arguments: { list: Array(10_000).fill("0123456789") }, tool: "t".repeat(5_000) }),
    );
    const text = await Deno.readTextFile(`${dir}/audit/audit.jsonl`);
    assert.doesNotMatch(text, /S3CRET|eyJ/);
    assert.ok(text.length < 50_000);
    const [c, b, a] = await log.read({ projectId: PROJECT, limit: 10 });
    const { device_configs: [{ config_commands }] } = a!.arguments as {
      device_configs: [{ config_commands: string[] }];
    };
    assert.deepEqual(config_commands, ["enable secret ***", "interface Gi0/0", "***"]);
    assert.equal(b!.arguments, '{"commands": ["snmp-server community ***');
    assert.match(String(c!.arguments), /… \(cut\)$/);
    assert.equal(c!.tool.length, 100);
  });
});

Deno.test("AuditLog that is given what cannot be written throws nothing, and says so", async () => {
  await withLog((log, _dir, lines) => {
    log.append(entry("a", { arguments: JSON.parse("[".repeat(50_000) + "]".repeat(50_000)) }));
    assert.deepEqual(lines.map(({ msg }) => msg), ["The audit log cannot be written."]);
    return Promise.resolve();
  });
});

Deno.test("AuditLog.read gives a project's entries newest first, of one user or of all, in pages", async () => {
  await withLog(async (log) => {
    for (let i = 0; i < 10; i++) log.append(entry(`e${i}`, { user_id: i % 2 ? "u1" : "u2" }));
    log.append(entry("other", { project_id: "750e7d02-c996-46e1-9977-e70497daef7f" }));
    log.append(entry("named", { project_id: "x", arguments: PROJECT }));
    const read = async (page = {}) => ids(await log.read({ projectId: PROJECT, limit: 3, ...page }));
    assert.deepEqual(await read(), ["e9", "e8", "e7"]);
    assert.deepEqual(await read({ userId: "u1" }), ["e9", "e7", "e5"]);
    assert.deepEqual(await read({ userId: "u1", before: "e5" }), ["e3", "e1"]);
    assert.deepEqual(await read({ before: "e1", limit: 100 }), ["e0"]);
    assert.deepEqual(await read({ projectId: "none" }), []);
    // Another user's entry is no place to go on from.
    for (const before of ["e4", "x"]) {
      await assert.rejects(read({ userId: "u1", before }), { name: "AppError", code: "validation_error" });
    }
  });
});

Deno.test("AuditLog keeps a bounded number of files of bounded size, and reads across them", async () => {
  await withLog(async (log, dir) => {
    for (let i = 0; i < 100; i++) log.append(entry(`e${i}`));
    const names = [...Deno.readDirSync(`${dir}/audit`)].map(({ name }) => name).sort();
    assert.deepEqual(names, ["audit.1.jsonl", "audit.2.jsonl", "audit.jsonl"]);
    for (const name of names) assert.ok((await Deno.stat(`${dir}/audit/${name}`)).size < 2_500);
    const kept = ids(await log.read({ projectId: PROJECT, limit: 500 }));
    assert.ok(kept.length > 12 && kept.length < 25, `${kept.length}`);
    assert.deepEqual(kept, Array.from({ length: kept.length }, (_, i) => `e${99 - i}`));
  }, { fileBytes: 2_000, files: 3 });
});

Deno.test("a line that a crash has cut short is passed over", async () => {
  await withLog(async (log, dir) => {
    log.append(entry("a"));
    await Deno.writeTextFile(`${dir}/audit/audit.jsonl`, `{"id": "b", "project_id": "${PROJECT}", "ti\n`, {
      append: true,
    });
    log.append(entry("c"));
    assert.deepEqual(ids(await log.read({ projectId: PROJECT, limit: 10 })), ["c", "a"]);
  });
});

Deno.test("AuditLog that cannot write logs it once, throws nothing, and goes on when it can", async () => {
  await withLog(async (log, dir, lines) => {
    await Deno.writeTextFile(`${dir}/audit`, "a file in the way");
    for (const id of ["a", "b"]) log.append(entry(id));
    assert.deepEqual(lines.map(({ level, msg }) => [level, msg]), [[
      "error",
      "The audit log cannot be written.",
    ]]);
    await Deno.remove(`${dir}/audit`);
    log.append(entry("c"));
    assert.deepEqual(ids(await log.read({ projectId: PROJECT, limit: 10 })), ["c"]);
  });
});
