// The faults that were used in a project: remembered across sessions and restarts, with how to undo them.
import assert from "node:assert/strict";
import { openDatabase, openProjectDatabase } from "../../src/storage/database.ts";
import { FaultsRepository } from "../../src/storage/faults.ts";
import { CHAT_MIGRATIONS } from "../../src/storage/migrations.ts";
import { withProject } from "./helpers.ts";

const ALICE = { userId: "u-1", username: "alice" };
const BOB = { userId: "u-2", username: "bob" };
const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 10, minute));

const FAULT = {
  issue: "ospf_passive_interface",
  title: "Passive interface on a transit link",
  devices: ["R1"],
  undo: [{ device_name: "R1", commands: ["router ospf", "no passive-interface eth0"] }],
};

// W8
Deno.test("a fault stays known after a restart, to everybody in the project, with who used it when", async () => {
  await withProject(({ project, projects }) => {
    {
      using db = openProjectDatabase(project, projects);
      const used = new FaultsRepository(db).by(ALICE).record({ ...FAULT, note: "area 0" }, at(0));
      assert.deepEqual([used.id, used.username, used.undone_at], [1, "alice", null]);
    }
    using db = openProjectDatabase(project, projects);
    const faults = new FaultsRepository(db).by(BOB);
    faults.record({ ...FAULT, issue: "interface_shutdown", devices: ["R1", "R2"] }, at(1));
    assert.deepEqual(faults.list(), [
      {
        id: 2,
        ...FAULT,
        issue: "interface_shutdown",
        devices: ["R1", "R2"],
        user_id: "u-2",
        username: "bob",
        injected_at: "2026-03-01T10:01:00.000Z",
        undone_at: null,
      },
      {
        id: 1,
        ...FAULT,
        note: "area 0",
        user_id: "u-1",
        username: "alice",
        injected_at: "2026-03-01T10:00:00.000Z",
        undone_at: null,
      },
    ]);
  });
});

Deno.test("a fault is undone once; one that is not there cannot be", () => {
  using db = openDatabase(":memory:");
  const faults = new FaultsRepository(db).by(ALICE);
  const { id } = faults.record(FAULT, at(0));
  assert.equal(faults.undone(id, at(5))!.undone_at, "2026-03-01T10:05:00.000Z");
  assert.equal(faults.undone(id, at(9))!.undone_at, "2026-03-01T10:05:00.000Z");
  assert.equal(faults.undone(77, at(9)), undefined);
});

Deno.test("old faults are forgotten when they are out of the lab, and kept while they are in it", () => {
  using db = openDatabase(":memory:");
  const faults = new FaultsRepository(db).by(ALICE);
  const first = faults.record(FAULT, at(0));
  const second = faults.record(FAULT, at(0));
  faults.undone(second.id, at(1));
  for (let i = 0; i < 500; i++) faults.record(FAULT, at(2));
  const kept = db.prepare("SELECT id FROM injected_faults ORDER BY id").arrays().flat();
  assert.deepEqual([kept[0], kept[1], kept.length], [first.id, second.id + 1, 501]);
  assert.equal(faults.list().length, 500);
});

Deno.test("a database of the version before gets the table, and keeps what it holds", async () => {
  await withProject(({ projects }) => {
    const path = `${projects}/old.db`;
    openDatabase(path, CHAT_MIGRATIONS.slice(0, 1)).close();
    using db = openDatabase(path);
    assert.deepEqual(new FaultsRepository(db).by(ALICE).list(), []);
  });
});
