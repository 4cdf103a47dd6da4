// The snapshot before a turn's first change.
import assert from "node:assert/strict";
import { restorePoints } from "../../src/tools/restore_point.ts";
import { practiceLab } from "./practice.ts";

const NOW = new Date("2026-03-01T10:11:12.345Z");
const NAME = "chat 0f8fad5b 2026-03-01 10.11.12";
const turn = () => ({ restorePoint: restorePoints("0f8fad5b-d9cb-469f-a165-70867728950e", () => NOW) });
const ALL = { node_ids: ["PC1", "PC2", "R1", "R2"] };

Deno.test("before the first change of a turn one snapshot is made and offered by name", async () => {
  await using lab = await practiceLab();
  await lab.call("stop_gns3_node", ALL);
  const more = turn();
  assert.equal((await lab.call("gns3_topology_reader", {}, more)).restore_point, undefined);
  const first = await lab.call("delete_gns3_link", { link_ids: ["PC1 - R1"] }, more);
  assert.equal(first.restore_point.name, NAME);
  assert.match(first.restore_point.note, /restore_gns3_snapshot returns to it/);
  assert.equal((await lab.call("delete_gns3_node", { node_ids: ["PC1"] }, more)).restore_point, undefined);
  assert.deepEqual(
    (await lab.call("list_gns3_snapshots", {})).snapshots.map((s: { name: string }) => s.name),
    [NAME],
  );
  // It holds what was before the change.
  assert.equal((await lab.call("restore_gns3_snapshot", { name: NAME })).links, 3);
});

Deno.test("changes side by side share one snapshot, made before any of them", async () => {
  await using lab = await practiceLab();
  await lab.call("stop_gns3_node", ALL);
  const more = turn();
  const both = await Promise.all(
    ["PC1", "PC2"].map((id) => lab.call("delete_gns3_node", { node_ids: [id] }, more)),
  );
  assert.equal(both.filter((one) => one.restore_point?.name === NAME).length, 1);
  assert.equal((await lab.call("list_gns3_snapshots", {})).snapshots.length, 1);
  assert.equal((await lab.call("restore_gns3_snapshot", { name: NAME })).nodes.length, 4);
});

Deno.test("where GNS3 makes none the change is done all the same, that is said once, and the next change tries again", async () => {
  await using lab = await practiceLab();
  const more = turn();
  const first = await lab.call("delete_gns3_link", { link_ids: ["R1 - R2"] }, more);
  assert.equal(first.summary, "1 of 1 succeeded.");
  assert.equal(
    first.restore_point.error,
    "No snapshot could be made before this change. GNS3 says: Project must be stopped in order to export it. " +
      "Running: PC1, R1, R2, PC2.",
  );
  assert.equal(
    (await lab.call("delete_gns3_link", { link_ids: ["PC1 - R1"] }, more)).restore_point,
    undefined,
  );
  await lab.call("stop_gns3_node", ALL, more);
  assert.equal((await lab.call("delete_gns3_node", { node_ids: ["PC1"] }, more)).restore_point.name, NAME);
});

Deno.test("a change that fails tells its restore point too", async () => {
  await using lab = await practiceLab();
  await lab.call("stop_gns3_node", ALL);
  const { error, restore_point } = await lab.call("restore_gns3_snapshot", { name: "none" }, turn());
  assert.match(error, /There is no snapshot "none"/);
  assert.equal(restore_point.name, NAME);
});

Deno.test("captures and snapshots change nothing that a snapshot holds, so none is made before them", async () => {
  await using lab = await practiceLab();
  const more = { restorePoint: () => assert.fail("a restore point was asked for") };
  await lab.call("start_gns3_capture", { link_id: "PC1 - R1" }, more);
  await lab.call("stop_gns3_capture", { link_id: "PC1 - R1" }, more);
  await lab.call("create_gns3_snapshot", { name: "one" }, more);
});
