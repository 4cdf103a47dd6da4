// A real FRR router's vtysh, and one behind a login and a shell, replayed one byte at a time.
import assert from "node:assert/strict";
import { replayed } from "./replaying.ts";
import { FRR_SCENES, LAB_LOGIN } from "./scenes.ts";

async function scene(name: string) {
  const { platform, limits, credentials, commands, lines } = FRR_SCENES.find((one) => one.name === name)!;
  const known = credentials ? { credentials: LAB_LOGIN } : {};
  return await replayed(`frr/${name}_3.1.0a7`, platform, { limits, commands, lines, ...known });
}

// F1, F6, F8
Deno.test("Driver reads from a real FRR router, reports its errors, stops a ping without end", async () => {
  const { of, results, notes } = await scene("show");
  assert.match(of("show version").output, /^FRRouting 8\.4\.4 \(R1\) on Linux.*\n.*'PYTHON=python3'$/s);
  assert.equal(of("show running-config | include hostname").output, "hostname R1");
  assert.match(
    of("show ip route").output,
    /^Codes: K - kernel route.*\nC>\* 1\.1\.1\.0\/24 is directly connected, eth1/s,
  );
  assert.equal(of("bogus").failed, "% Unknown command: bogus");
  assert.equal(of("sh r").failed, "% Ambiguous command: sh r");
  assert.equal(of("show").failed, "% Command incomplete: show");
  const ping = of("ping 127.0.0.1");
  assert.deepEqual([ping.stopped, ping.failed], [true, undefined]);
  assert.match(ping.output, /seq=1 ttl=64 time=.*\n--- 127\.0\.0\.1 ping statistics ---\n2 packets/s);
  assert.match(of("show interface brief").output, /\nlo {14}up {6}default$/);
  assert.deepEqual(results.map(({ failed }) => failed !== undefined), [
    false,
    false,
    false,
    true,
    true,
    true,
    false,
    false,
  ]);
  assert.deepEqual(notes, []);
});

// F8, F13
Deno.test("configure types lines on a real FRR router, follows its name, and stops where a line is not taken", async () => {
  const { results, error } = await scene("config");
  assert.equal(error, undefined);
  const said = results.map(({ input, failed, notSent }) => [
    input.slice(0, 20),
    failed ?? (notSent ? "not sent" : "ok"),
  ]);
  assert.deepEqual(said, [
    ["configure terminal", "not sent"],
    ["interface eth3", "ok"],
    ["description part0 pa", "ok"],
    ["no description", "ok"],
    ["exit", "ok"],
    ["hostname Alice", "ok"],
    ["do show interface br", "ok"],
    ["hostname R1", "ok"],
    ["interface eth3", "ok"],
    ["ip address 10.9.9.30", "% Unknown command: ip address 10.9.9.300/24"],
    ["shutdown", "Not run: a line before it failed."],
  ]);
  assert.match(results[6]!.output, /^Interface {7}Status/);
});

// F10
Deno.test("Driver reads on a real FRR router that was left in the middle of a configuration, and leaves it there", async () => {
  const { of, notes } = await scene("found_in_config");
  assert.match(of("show ip route").output, /^Codes: K/);
  assert.equal(of("show interface brief").failed, undefined);
  assert.deepEqual(notes, ["Somebody had left a half-typed line on this console; it was cleared, not run."]);
});

Deno.test("Driver gets its rights on a real FRR router, and gives them back", async () => {
  const { of, notes } = await scene("found_in_user");
  assert.match(of("show version").output, /^FRRouting/);
  assert.deepEqual(notes, []);
});

// F23
Deno.test("Driver logs in, starts vtysh, configures with a line that is longer than the terminal, and logs out", async () => {
  const { of, results, notes } = await scene("login");
  assert.match(of("show version").output, /^FRRouting 8\.4\.4 \(H1\)/);
  assert.deepEqual(results.map(({ failed }) => failed), results.map(() => undefined));
  assert.deepEqual(notes, []);
});
