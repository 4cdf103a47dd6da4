// What somebody means by a name.
import assert from "node:assert/strict";
import { lookUp } from "../../src/knowledge/lookup.ts";

const THINGS = [
  { key: "cisco_ios_telnet", aliases: ["cisco", "ios", "iosv"], value: 1 },
  { key: "gns3_vpcs_telnet", aliases: ["vpcs", "pc"], value: 2 },
  { key: "ospf", aliases: ["ospfv2"], value: 3 },
];
const of = (name: string) => {
  const found = lookUp(name, THINGS);
  return found && [found.key, found.guess];
};

Deno.test("a name is found by itself, by another name, and however it is spelled", () => {
  assert.deepEqual(of("ospf"), ["ospf", false]);
  assert.deepEqual(of("OSPF v2"), ["ospf", false]);
  assert.deepEqual(of("Cisco"), ["cisco_ios_telnet", false]);
  assert.deepEqual(of("cisco-ios telnet"), ["cisco_ios_telnet", false]);
});

Deno.test("a name that holds another one or is mistyped is a guess", () => {
  assert.deepEqual(of("ospf neighbors"), ["ospf", true]);
  assert.deepEqual(of("opsf"), ["ospf", true]);
  assert.deepEqual(of("cisco_iosxe"), ["cisco_ios_telnet", true]);
});

Deno.test("a name of nothing is nothing", () => {
  assert.equal(of("quantum"), undefined);
  assert.equal(lookUp("eigrp", [{ key: "bgp", aliases: ["ebgp"], value: 1 }]), undefined);
  assert.equal(of("  "), undefined);
});
