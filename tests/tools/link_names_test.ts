// Which link is meant.
import assert from "node:assert/strict";
import type { Link, Node } from "../../src/domain/project.ts";
import { findLink } from "../../src/tools/link_names.ts";

const port = (name: string, short_name: string, port_number: number) => ({
  name,
  short_name,
  adapter_number: 0,
  port_number,
});
const node = (name: string): Node => ({
  node_id: `id-${name}`,
  name,
  node_type: "vpcs",
  status: "started",
  tags: [],
  x: 0,
  y: 0,
  ports: [port("Ethernet0", "e0", 0), port("Ethernet1", "e1", 1)],
});
const link = (link_id: string, a: [string, number], b: [string, number]): Link => ({
  link_id,
  nodes: [a, b].map(([name, port_number]) => ({ node_id: `id-${name}`, adapter_number: 0, port_number })),
  suspend: false,
  capturing: false,
  filters: {},
});
const nodes = ["PC1", "SW-1", "R1", "R2"].map(node);
const links = [
  link("11111111-2222", ["PC1", 0], ["SW-1", 0]),
  link("33333333-4444", ["R1", 0], ["R2", 0]),
  link("55555555-6666", ["R1", 1], ["R2", 1]),
];
const found = (reference: string) => links.indexOf(findLink(reference, links, nodes));

Deno.test("findLink takes an id, and the ends in the spellings that models use", () => {
  for (
    const reference of [
      "11111111-2222",
      " 11111111-2222 ",
      "PC1 - SW-1",
      "SW-1 <-> pc1",
      "PC1 to SW-1",
      "link between PC1 and SW-1",
      "PC1 Ethernet0 - SW-1 Ethernet0",
      "SW-1 e0 -> PC1",
      "PC1 0/0, SW-1",
      "PC1:e0<->SW-1:e0",
      "PC1",
      "id-PC1 - id-SW-1",
    ]
  ) assert.equal(found(reference), 0, reference);
  assert.equal(found("R1 e1 - R2"), 2);
  assert.equal(found("R2 Ethernet0"), 1);
});

Deno.test("findLink takes nodes whose names are joining words, signs or pictures", () => {
  const names = ["to", "🤖", "R1+", "R1", "link-and-to", "R&D<1>", "a → b", "<->"];
  const odd = names.map(node);
  const all = names.map((name, i) => link(`id-${i}`, [name, 0], [names[(i + 1) % names.length]!, 1]));
  const at = (reference: string) => all.indexOf(findLink(reference, all, odd));
  names.forEach((name, i) => {
    const next = names[(i + 1) % names.length]!;
    for (
      const reference of [
        `${name} - ${next}`,
        `${next} - ${name}`,
        `${name} Ethernet0 - ${next} Ethernet1`,
        `${name}  e0 - ${next.toUpperCase()} E1`,
      ]
    ) assert.equal(at(reference), i, reference);
  });
  assert.equal(at("to -> 🤖"), 0);
  assert.equal(at("🤖:e1 to to:e0"), 0);
  assert.equal(at("link-and-to/e0 <-> R&D<1>/e1"), 4);
});

Deno.test("findLink names the links that there are when none or several fit", () => {
  const why = (reference: string) => {
    try {
      findLink(reference, links, nodes);
    } catch (error) {
      return (error as Error).message;
    }
    return assert.fail(reference);
  };
  assert.equal(
    why("R1 - R2"),
    '"R1 - R2" fits several links. Links: R1 Ethernet0 - R2 Ethernet0 (33333333-4444), ' +
      "R1 Ethernet1 - R2 Ethernet1 (55555555-6666).",
  );
  assert.match(why("PC1 - R1"), /^There is no link "PC1 - R1"\. Links: PC1 Ethernet0 - SW-1 Ethernet0/);
  for (const reference of ["", " - ", "-->", "x".repeat(5_000)]) {
    assert.match(why(reference), /^There is no link ".{0,200}"/);
  }
});
