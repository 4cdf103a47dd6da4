// Huawei VRP on recordings that were written by hand, replayed one byte at a time.
import assert from "node:assert/strict";
import { huaweiVrp } from "../../src/devices/platforms/huawei_vrp.ts";
import { replayed, type Script } from "./replaying.ts";

const credentials = { username: "lab", password: "s3cret-of-R1" };
const BRIEF = "display ip interface brief";
const CLOCK = "display clock";
const on = (name: string, script: Script) => replayed(`huawei_vrp/${name}`, huaweiVrp, script);
const failures = (results: { failed?: string }[]) => results.map(({ failed }) => failed);

// F1, F6, F8
Deno.test("VRP: reading is whole and clean, errors are the device's own, a ping without end is stopped", async () => {
  const platform = { ...huaweiVrp, limits: [{ pattern: /-c 1000/, seconds: 0.8 }] };
  const { results, of, notes } = await replayed("huawei_vrp/show", platform, {
    commands: [
      BRIEF,
      "display banana",
      "display ip",
      "dis i",
      CLOCK,
      "display current-configuration | include sysname",
      "ping -c 1000 10.9.9.9",
      "display users",
    ],
  });
  assert.deepEqual(failures(results), [
    undefined,
    "Error: Unrecognized command found at '^' position.",
    "Error: Incomplete command found at '^' position.",
    "Error: Ambiguous command found at '^' position.",
    undefined,
    undefined,
    "It did not end by itself and was stopped after 1 s.",
    undefined,
  ]);
  assert.match(of(BRIEF).output, /^Interface .*\n10GE1\/0\/0 .* up {9}up/);
  assert.match(of(CLOCK).output, /^2024-03-01 10:00:01\nFriday\n+Mar {2}1 2024 10:00:00 HUAWEI %%01IFNET/);
  assert.equal(results[5]!.output, "sysname HUAWEI\n<HUAWEI> is only a text\n[HUAWEI]");
  assert.match(results[6]!.output, /Request time out\n+ {2}--- 10\.9\.9\.9 ping statistics ---/);
  assert.match(of("display users").output, /^ {2}User-Intf/);
  assert.deepEqual(notes, []);
});

// F4
Deno.test("VRP: pages end by themselves where paging cannot be switched off", async () => {
  const { of } = await on("paging", { commands: ["display version", CLOCK] });
  assert.deepEqual(of("display version").output.split("\n"), [
    "Huawei Versatile Routing Platform Software",
    "VRP (R) software, Version 5.170",
    "last line",
  ]);
});

// F5, F8
Deno.test("VRP 8: lines are committed once, before anything that needs another view, and saved only when told", async () => {
  const { results, error, notes } = await on("config_two_stage", {
    lines: [
      "system-view",
      "interface 10GE1/0/1",
      "undo portswitch",
      "description 上联到核心",
      "ip address 10.0.1.1 24",
      "quit",
      "sysname Core",
      "save",
    ],
  });
  assert.equal(error, undefined);
  assert.deepEqual(failures(results), results.map(() => undefined));
  assert.match(results.at(-1)!.output, /Save the configuration successfully/);
  assert.deepEqual(notes, []);
});

Deno.test("VRP 8: a commit that is refused leaves nothing behind, and is told", async () => {
  const { results } = await on("config_commit_fails", {
    lines: ["bgp 65001", "peer 10.0.0.2 as-number 65001"],
  });
  assert.deepEqual(failures(results.slice(0, 2)), [undefined, undefined]);
  assert.equal(
    results[2]!.failed,
    "Error: Failed to commit. The peer address conflicts with a local address. " +
      "Nothing was committed; the lines of this call were discarded.",
  );
});

// F8
Deno.test("VRP 8: a line that is not taken ends the batch; what was taken is committed", async () => {
  const { results } = await on("config_partial", {
    lines: ["interface LoopBack0", "ip address 300.1.1.1 32", "quit"],
  });
  assert.deepEqual(failures(results), [
    undefined,
    "Error: Wrong parameter found at '^' position.",
    "Not run: a line before it failed.",
    undefined,
  ]);
  assert.equal(results[3]!.input, "commit");
});

// F5
Deno.test("VRP 5: lines hold at once, nothing is committed, and questions are agreed to for what was asked for", async () => {
  const { results, error } = await on("config_at_once", {
    lines: [
      "interface GigabitEthernet0/0/1",
      "ip address 10.0.1.1 24",
      "quit",
      "#",
      "undo ospf 1",
      "sysname R1",
      "save",
    ],
  });
  assert.equal(error, undefined);
  assert.deepEqual(failures(results), results.map(() => undefined));
  assert.match(results.at(-1)!.output, /saved successfully/);
});

// F10
Deno.test("VRP: a console that was left in a view is read there and stays there", async () => {
  const { of, notes } = await on("found_in_view", { commands: [BRIEF] });
  assert.match(of(BRIEF).output, /^Interface .*\n10GE1\/0\/0/);
  assert.deepEqual(notes, ["Somebody had left a half-typed line on this console; it was cleared, not run."]);
});

// F10
Deno.test("VRP 8: lines of somebody else that are not committed are neither committed nor lost", async () => {
  const { of, error } = await on("found_pending", { commands: [BRIEF], lines: ["sysname X"] });
  assert.match(of(BRIEF).output, /^Interface/);
  assert.match(error!.message, /^it has changes of somebody else that are not committed/);
  assert.match((await on("found_leaving", { commands: [BRIEF] })).of(BRIEF).output, /^Interface/);
});

// F10
Deno.test("VRP: a pager that somebody left is quit", async () => {
  assert.equal((await on("found_in_pager", { commands: [CLOCK] })).of(CLOCK).output, "2024-03-01 10:00:01");
});

// F2, F23
Deno.test("VRP: booting, a login with an old password, and one that demands a new password", async () => {
  assert.equal((await on("cold_boot", { commands: [CLOCK] })).of(CLOCK).failed, undefined);
  assert.equal((await on("login", { commands: [CLOCK], credentials })).of(CLOCK).failed, undefined);
  const { error } = await on("first_login", { commands: [CLOCK], credentials });
  assert.match(error!.message, /^it needs its first set-up: it demands a new password/);
});

Deno.test("VRP: a restart does not save", async () => {
  const { results } = await on("reboot", { lines: ["reboot"] });
  assert.match(results[0]!.output, /System is rebooting/);
  assert.match(results[0]!.note!, /^The device restarts/);
});
