// How a router's command line is understood.
import assert from "node:assert/strict";
import { type Command, match, nextWords } from "../../src/practice/grammar.ts";

const commands: Command<null>[] = [
  "show interfaces",
  "show interfaces <if>",
  "show ip route",
  "show ip route <addr>",
  "show ip interface brief",
  "description <line>",
  "no description",
  "hostname <word>",
  "ip address <addr> <mask>",
  "copy running-config startup-config",
  "write",
  "write memory",
].map((pattern) => ({ pattern, run: () => {} }));

function understood(line: string): unknown {
  const found = match(commands, line);
  return "error" in found ? found : [found.command.pattern, ...found.args];
}

Deno.test("words may be shortened while they stay clear, and placeholders take what fits them", () => {
  assert.deepEqual(understood("sh ip ro"), ["show ip route"]);
  assert.deepEqual(understood("SHOW IP ROUTE 10.0.0.1"), ["show ip route <addr>", "10.0.0.1"]);
  assert.deepEqual(understood("sh int f0/0"), ["show interfaces <if>", "f0/0"]);
  assert.deepEqual(understood("sh int fastEthernet 0/1"), ["show interfaces <if>", "fastEthernet0/1"]);
  assert.deepEqual(understood("copy run start"), ["copy running-config startup-config"]);
  assert.deepEqual(understood("wr"), ["write"]);
  assert.deepEqual(understood("hostname R-1"), ["hostname <word>", "R-1"]);
  assert.deepEqual(understood("description  to R1 # core  "), ["description <line>", "to R1 # core"]);
});

Deno.test("what is wrong is told with its place", () => {
  assert.deepEqual(understood("show ip route 10.0.0.999"), { error: "invalid", at: 14 });
  assert.deepEqual(understood("show ip route 10.0.0.1 x"), { error: "invalid", at: 23 });
  assert.deepEqual(understood("shw"), { error: "invalid", at: 0 });
  assert.deepEqual(understood("show i"), { error: "ambiguous" });
  assert.deepEqual(understood("ip address 1.2.3.4"), { error: "incomplete" });
  assert.deepEqual(understood("description"), { error: "incomplete" });
});

Deno.test("the next words are those that fit", () => {
  assert.deepEqual(nextWords(commands, "show "), ["interfaces", "ip"]);
  assert.deepEqual(nextWords(commands, "show ip route "), ["<addr>", "<cr>"]);
  assert.deepEqual(nextWords(commands, "w"), ["write"]);
  assert.deepEqual(nextWords(commands, "nothing "), []);
});
