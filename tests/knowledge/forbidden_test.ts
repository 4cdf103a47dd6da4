// The administrator's list of commands that nobody types, and the abbreviations that would get around it.
import assert from "node:assert/strict";
import { forbiddenBy, readForbidden } from "../../src/knowledge/forbidden.ts";

Deno.test("the file holds one pattern a line; comments and empty lines are none", () => {
  assert.deepEqual(readForbidden("# why\r\n\r\nTraceroute\r\n  ping   -f  \n#x\ntraceroute\n"), [
    "traceroute",
    "ping -f",
  ]);
});

const LIST = [
  "traceroute",
  "ping -f",
  "debug",
  "test",
  "write erase",
  "shutdown",
  "copy running-config tftp:",
];
const by = (command: string, abbreviates?: boolean) => forbiddenBy(LIST, command, abbreviates);

Deno.test("a command is forbidden that begins with a pattern, in any case and with any blanks", () => {
  for (
    const [command, pattern] of [
      ["traceroute 10.0.0.1", "traceroute"],
      ["  DEBUG   ip ospf", "debug"],
      ["do debug ip ospf", "debug"],
      ["do  do debug all", "debug"],
      ["testing", "test"],
      ["ping -f 10.0.0.1", "ping -f"],
      ["ping 10.0.0.1 -c 3 -f", "ping -f"],
      ["copy running-config tftp://10.0.0.9/x", "copy running-config tftp:"],
    ] as const
  ) assert.equal(by(command), pattern, command);
});

Deno.test("what a network device takes as an abbreviation of a forbidden word is forbidden too", () => {
  for (
    const command of ["deb ip ospf", "de all", "trace 10.0.0.1", "tr 10.0.0.1", "t 10.0.0.1", "wr er", "shut"]
  ) {
    assert.ok(by(command), command);
  }
});

Deno.test("other commands pass, also those that only look like the beginning of a pattern", () => {
  for (
    const command of [
      "",
      "show ip route",
      "sh ip int brief",
      "sho ip route",
      "write memory",
      "wr",
      "no debug all",
      "ping 10.0.0.1",
      "ip 10.0.0.1/24",
      "copy running-config startup-config",
      "interface GigabitEthernet0/1",
      "display traceroute",
    ]
  ) assert.equal(by(command), undefined, command);
});

Deno.test("in a shell a word is what it is", () => {
  assert.equal(forbiddenBy(["lsof"], "ls", false), undefined);
  assert.equal(forbiddenBy(["iptables"], "ip addr", false), undefined);
  assert.equal(forbiddenBy(["rm -rf"], "rm -rf /", false), "rm -rf");
  assert.equal(forbiddenBy(["lsof"], "ls"), "lsof");
});
