// Names as people and models write them.
import assert from "node:assert/strict";
import type { Node } from "../../src/domain/project.ts";
import { findNode, findPort } from "../../src/tools/names.ts";

function node(name: string, ports: [string, string?][] = [["Ethernet0", "e0"]], id = `id-${name}`): Node {
  return {
    node_id: id,
    name,
    node_type: "qemu",
    status: "started",
    tags: [],
    x: 0,
    y: 0,
    ports: ports.map(([name, short_name], i) => ({ name, short_name, adapter_number: i, port_number: 0 })),
  };
}

Deno.test("findNode takes ids, names, and names in other letters where that is unique", () => {
  const nodes = [node("R1"), node("pc1"), node("PC2")];
  assert.equal(findNode("id-R1", nodes).name, "R1");
  assert.equal(findNode(" R1 ", nodes).name, "R1");
  assert.equal(findNode("PC1", nodes).name, "pc1");
  // GNS3 drops blanks from a VPCS's name, but people go on writing them.
  assert.equal(findNode("Web Server 1", [node("WebServer1"), node("Core Switch")]).name, "WebServer1");
  assert.equal(findNode("core  switch", [node("WebServer1"), node("Core Switch")]).name, "Core Switch");
  const twins = [node("sw"), node("SW")];
  assert.equal(findNode("SW", twins).name, "SW");
  assert.throws(() => findNode("Sw", twins), { code: "not_found", message: /fits several nodes: sw, SW/ });
});

Deno.test("findNode lists the names there are", () => {
  assert.throws(() => findNode("R9", [node("R1"), node("R2")]), {
    code: "not_found",
    message: 'There is no node "R9". Nodes: R1, R2.',
  });
  assert.throws(() => findNode("R9", []), { message: /Nodes: none/ });
  const many = Array.from({ length: 100 }, (_, i) => node(`N${i}`));
  assert.throws(() => findNode("R9", many), { message: /N59 and 40 more\.$/ });
});

// G2
Deno.test("findPort takes every usual spelling of a port's name", () => {
  const router = node("R1", [
    ["GigabitEthernet0/0", "Gi0/0"],
    ["GigabitEthernet0/1", "Gi0/1"],
    ["Serial1/0", "s1/0"],
    ["eth10", undefined],
  ]);
  const same = [
    "GigabitEthernet0/1",
    "gigabitethernet0/1",
    "GigabitEthernet 0/1",
    "Gi0/1",
    "gi0/1",
    "g0/1",
    "GIG0/1",
  ];
  for (const spelling of same) assert.equal(findPort(spelling, router).name, "GigabitEthernet0/1", spelling);
  assert.equal(findPort("0/1", router).name, "GigabitEthernet0/1");
  assert.equal(findPort("se1/0", router).name, "Serial1/0");
  assert.equal(findPort("Ethernet10", router).name, "eth10");
  const pc = node("PC1");
  for (const spelling of ["Ethernet0", "eth0", "e0", "E0", "0", "0/0"]) {
    assert.equal(findPort(spelling, pc).name, "Ethernet0", spelling);
  }
});

Deno.test("findPort does not guess: it lists the ports, or those that fit", () => {
  const pc = node("PC1");
  for (const spelling of ["Ethernet1", "Serial0", "e", "x", "Ethernet00"]) {
    assert.throws(() => findPort(spelling, pc), {
      message: `PC1 has no port "${spelling}". Ports: Ethernet0.`,
    });
  }
  const mixed = node("R1", [["FastEthernet0/1"], ["GigabitEthernet0/1"]]);
  assert.throws(() => findPort("0/1", mixed), {
    message: /fits several ports of R1\. Ports: FastEthernet0\/1, Gig/,
  });
});
