// Taking nodes and links away.
import assert from "node:assert/strict";
import { type Json, practiceLab } from "./practice.ts";

for (const version of ["3.1.0a7", "3.0.6"] as const) {
  Deno.test(`delete_gns3_node deletes by name or id, running or not, and tells what went with it, on GNS3 ${version}`, async () => {
    await using lab = await practiceLab({ version });
    await lab.api("PUT", `/nodes/${lab.gns3.nodeId("R2")}`, { locked: true });
    const r1 = lab.gns3.nodeId("R1");
    const answer = await lab.call("delete_gns3_node", { node_ids: ["PC1", r1, "R2", "R9", "PC1"] });
    assert.equal(answer.summary, "2 of 5 succeeded, 3 failed.");
    const [pc1, router, locked, unknown, again] = answer.results;
    assert.deepEqual([pc1.name, pc1.was, pc1.removed_links], ["PC1", "started", [
      "PC1 Ethernet0 - R1 FastEthernet0/0",
    ]]);
    assert.deepEqual(router.removed_links, ["R1 FastEthernet0/1 - R2 FastEthernet0/1"]);
    assert.match(locked.error, /^Node R2 cannot be deleted because it is locked\. Ask the user to unlock it/);
    assert.match(unknown.error, /^There is no node "R9"\. Nodes: R2, PC2\./);
    assert.match(again.error, /^There is no node "PC1"/);
    assert.deepEqual((await lab.api("GET", "/nodes")).map((n: Json) => n.name), ["R2", "PC2"]);
  });
}

Deno.test("delete_gns3_link deletes by id or by its ends, and one that went before is told", async () => {
  await using lab = await practiceLab();
  const [first] = await lab.api("GET", "/links");
  const { results, summary } = await lab.call("delete_gns3_link", {
    link_ids: [first.link_id, "R2 - PC2", "PC1 - R1", "PC1 - PC2"],
  });
  assert.equal(summary, "2 of 4 succeeded, 2 failed.");
  assert.deepEqual(results.map((one: Json) => one.link), [
    "PC1 Ethernet0 - R1 FastEthernet0/0",
    "R2 FastEthernet0/0 - PC2 Ethernet0",
    undefined,
    undefined,
  ]);
  assert.match(
    results[2].error,
    /^There is no link "PC1 - R1"\. Links: R1 FastEthernet0\/1 - R2 FastEthernet0\/1 \(/,
  );
  assert.equal((await lab.api("GET", "/links")).length, 1);
});

Deno.test("who may not change the lab in GNS3 deletes nothing", async () => {
  await using lab = await practiceLab({ user: "carol" });
  const { results } = await lab.call("delete_gns3_node", { node_ids: ["PC1"] });
  assert.deepEqual([results[0].status, results[0].code], ["error", "forbidden"]);
  assert.match(results[0].error, /privilege Node\.Allocate is required/);
});
