// How a lab is shown to the model.
import assert from "node:assert/strict";
import type { Topology } from "../../src/domain/project.ts";
import { freePorts, outlineOf, usedPorts, viewOf } from "../../src/gns3/topology.ts";

const port = (number: number) => ({
  name: `Ethernet${number}`,
  short_name: `e${number}`,
  adapter_number: 0,
  port_number: number,
  link_type: "ethernet",
});

const lab: Topology = {
  nodes: [
    {
      node_id: "1",
      name: "PC1",
      node_type: "vpcs",
      status: "started",
      console: 5000,
      console_host: "127.0.0.1",
      console_type: "telnet",
      tags: ["device_type:gns3_vpcs_telnet"],
      x: -10,
      y: 20,
      ports: [port(0)],
    },
    {
      node_id: "2",
      name: "SW1",
      node_type: "ethernet_switch",
      status: "started",
      console: null,
      console_type: "none",
      tags: [],
      x: 0,
      y: 0,
      ports: Array.from({ length: 30 }, (_, i) => port(i)),
    },
  ],
  links: [{
    link_id: "l1",
    nodes: [{ node_id: "1", adapter_number: 0, port_number: 0 }, {
      node_id: "2",
      adapter_number: 0,
      port_number: 3,
    }],
    suspend: false,
    capturing: true,
    filters: { delay: [10, 0] },
  }],
};

Deno.test("viewOf shows links by the names of nodes and ports, and which ports are free", () => {
  const { nodes, links } = viewOf(lab);
  assert.deepEqual(links, [
    {
      link_id: "l1",
      from: "PC1 Ethernet0",
      to: "SW1 Ethernet3",
      capturing: true,
      filters: { delay: [10, 0] },
    },
  ]);
  assert.deepEqual(nodes[0], {
    name: "PC1",
    node_id: "1",
    type: "vpcs",
    status: "started",
    x: -10,
    y: 20,
    tags: ["device_type:gns3_vpcs_telnet"],
    free_ports: [],
  });
  assert.equal(nodes[1]!.free_ports.length, 17);
  assert.equal(nodes[1]!.free_ports.at(-1), "and 13 more");
  assert.ok(!nodes[1]!.free_ports.includes("Ethernet3"));
});

Deno.test("viewOf survives a link whose node is gone, and an empty lab", () => {
  const { links } = viewOf({ nodes: [lab.nodes[0]!], links: lab.links });
  assert.equal(links[0]!.to, "? 0/3");
  assert.deepEqual(viewOf({ nodes: [], links: [] }), { nodes: [], links: [] });
});

Deno.test("outlineOf names nodes, types, states and links only", () => {
  const { nodes, links } = outlineOf(lab);
  assert.deepEqual(nodes, ["PC1 (vpcs, started)", "SW1 (ethernet_switch, started)"]);
  assert.deepEqual(links, ["PC1 - SW1"]);
});

Deno.test("freePorts leaves out what a link uses", () => {
  assert.deepEqual(freePorts(lab.nodes[0]!, usedPorts(lab.links)), []);
  assert.equal(freePorts(lab.nodes[1]!, usedPorts(lab.links)).length, 29);
});
