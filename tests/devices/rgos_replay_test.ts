// Ruijie RGOS on recordings that were written by hand, replayed one byte at a time.
import assert from "node:assert/strict";
import { ruijieRgos } from "../../src/devices/platforms/ruijie_rgos.ts";
import { replayed, type Script } from "./replaying.ts";

const credentials = { username: "lab", password: "s3cret-of-R1" };
const BRIEF = "show ip interface brief";
const CLOCK = "show clock";
const on = (name: string, script: Script) => replayed(`ruijie_rgos/${name}`, ruijieRgos, script);
const failures = (results: { failed?: string }[]) => results.map(({ failed }) => failed);

// F1, F6, F8
Deno.test("RGOS: reading is whole and clean, errors are the device's own, a ping without end is stopped", async () => {
  const platform = { ...ruijieRgos, limits: [{ pattern: /ntimes/, seconds: 0.8 }] };
  const { results, of, notes } = await replayed("ruijie_rgos/show", platform, {
    commands: [
      BRIEF,
      "bogus",
      "show ip",
      "show i",
      "show banana",
      CLOCK,
      "show ip route",
      "ping 10.9.9.9 ntimes 1000",
      CLOCK,
    ],
  });
  assert.deepEqual(failures(results), [
    undefined,
    "% Invalid input detected at '^' marker.",
    "% Incomplete command.",
    '% Ambiguous command: "show i"',
    "% Unrecognized command.",
    undefined,
    undefined,
    "It did not end by itself and was stopped after 1 s.",
    undefined,
  ]);
  assert.match(of(BRIEF).output, /^Interface .*\nGigabitEthernet 0\/1 {14}10\.0\.0\.1\/24/);
  assert.match(results[5]!.output, /^10:00:01 UTC Fri, Mar 1, 2024\n+\*Mar {2}1 10:00:00: %LINEPROTO/);
  assert.match(results[7]!.output, /\.\.\.\n+Success rate is 0 percent/);
  assert.deepEqual(notes, []);
});

// F4
Deno.test("RGOS: pages end by themselves where paging cannot be switched off", async () => {
  const { of } = await on("paging", { commands: ["show version", CLOCK] });
  assert.deepEqual(of("show version").output.split("\n"), [
    "System description      : Ruijie Router",
    "System uptime           : 0:00:10:00",
    "last line",
  ]);
});

// F8, F16
Deno.test("RGOS: configuring goes through every mode, sends a banner whole, follows the name, saves when told", async () => {
  const { results, error } = await on("config", {
    lines: [
      "interface GigabitEthernet 0/1",
      "ip address 10.0.1.1 255.255.255.0",
      "exit",
      "banner motd @",
      "line # one",
      "",
      "@",
      "hostname R1",
      "do show ip interface brief",
      "write",
    ],
  });
  assert.equal(error, undefined);
  assert.deepEqual(failures(results), results.map(() => undefined));
  assert.match(results.at(-1)!.output, /\[OK\]$/);
  const partial = await on("config_partial", { lines: ["vlan 10", "nam sales", "exit"] });
  assert.deepEqual(failures(partial.results), [
    undefined,
    "% Invalid input detected at '^' marker.",
    "Not run: a line before it failed.",
  ]);
});

// F5
Deno.test("RGOS: a question is agreed to for what was asked for, another is given up and reported", async () => {
  const { results } = await on("questions", { lines: ["delete flash:old.text", "crypto key generate rsa"] });
  assert.deepEqual(failures(results), [
    undefined,
    'The device waits for an answer: "How many bits in the modulus [512]:". The command was stopped.',
  ]);
});

// F2, F3, F10, F23
Deno.test("RGOS: booting and set-up dialogue, login and enable, a console left in configuration", async () => {
  assert.equal((await on("cold_boot", { commands: [CLOCK] })).of(CLOCK).failed, undefined);
  assert.equal((await on("login", { commands: [CLOCK], credentials })).of(CLOCK).failed, undefined);
  const { of, notes } = await on("found_in_config", { commands: [BRIEF] });
  assert.match(of(BRIEF).output, /^Interface/);
  assert.equal(notes.length, 1);
});
