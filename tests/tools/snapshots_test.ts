// Snapshots: made by name, restored by name, and what is said when GNS3 will not.
import assert from "node:assert/strict";
import { type Json, practiceLab } from "./practice.ts";

for (const version of ["3.1.0a7", "3.0.6"] as const) {
  Deno.test(`snapshots are made, listed and restored by name on GNS3 ${version}`, async () => {
    await using lab = await practiceLab({ version });
    await lab.call("stop_gns3_node", { node_ids: ["PC1", "PC2", "R1", "R2"] });
    const made = await lab.call("create_gns3_snapshot", { name: "before OSPF 1.0" });
    assert.equal(made.name, "before OSPF 1.0");
    assert.match(made.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
    assert.deepEqual((await lab.call("list_gns3_snapshots", {})).snapshots, [made]);
    await lab.call("delete_gns3_node", { node_ids: ["R1"] });
    const kept: string[] = [];
    const answer = await lab.call("restore_gns3_snapshot", { name: "Before ospf 1.0" }, {
      keepConversations: async (restore) => {
        kept.push("begin");
        const result = await restore();
        kept.push("end");
        return result;
      },
    });
    assert.deepEqual(kept, ["begin", "end"]);
    assert.deepEqual(answer.restored, made);
    assert.deepEqual(answer.nodes.toSorted(), [
      "PC1 (stopped)",
      "PC2 (stopped)",
      "R1 (stopped)",
      "R2 (stopped)",
    ]);
    assert.equal(answer.links, 3);
    assert.match(answer.note, /Ids may be new.*must be started/);
  });
}

// G5
Deno.test("create_gns3_snapshot names the nodes that run, in front of them what GNS3 says", async () => {
  await using lab = await practiceLab();
  await lab.call("stop_gns3_node", { node_ids: ["PC1", "R1"] });
  const { error, code } = await lab.call("create_gns3_snapshot", { name: "one" });
  assert.equal(code, "conflict");
  assert.equal(error, "GNS3 says: Project must be stopped in order to export it. Running: R2, PC2.");
});

Deno.test("names of snapshots are unique and cannot leave GNS3's folder", async () => {
  await using lab = await practiceLab();
  await lab.call("stop_gns3_node", { node_ids: ["PC1", "PC2", "R1", "R2"] });
  await lab.call("create_gns3_snapshot", { name: "one" });
  assert.equal(
    (await lab.call("create_gns3_snapshot", { name: "ONE" })).error,
    'There is a snapshot "ONE" already. Snapshots: one.',
  );
  for (const name of ["../x", "a/b", "a\\b", ".hidden", " ", "x".repeat(81), "a\nb", "-x"]) {
    assert.match(
      (await lab.call("create_gns3_snapshot", { name })).error,
      /name: must be 1-80 letters/,
      name,
    );
  }
  assert.equal(
    (await lab.call("create_gns3_snapshot", { name: "рабочий 中 1_2.3-4" })).name,
    "рабочий 中 1_2.3-4",
  );
  assert.match(
    (await lab.call("restore_gns3_snapshot", { name: "two" })).error,
    /^There is no snapshot "two"\. Snapshots: one, рабочий/,
  );
});

Deno.test("who may not restore in GNS3 restores nothing", async () => {
  await using lab = await practiceLab();
  await lab.call("stop_gns3_node", { node_ids: ["PC1", "PC2", "R1", "R2"] });
  await lab.call("create_gns3_snapshot", { name: "one" });
  await using carol = await practiceLab({ user: "carol" });
  carol.context.gns3.snapshots.list = () => lab.context.gns3.snapshots.list(lab.gns3.projectId);
  const { code, error } = await carol.call("restore_gns3_snapshot", { name: "one" });
  assert.equal(code, "forbidden");
  assert.match(error, /privilege Snapshot\.Restore is required/);
  assert.deepEqual((await carol.api("GET", "/nodes")).map((n: Json) => n.status), Array(4).fill("started"));
});
