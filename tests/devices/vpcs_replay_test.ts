// Real VPCS consoles of GNS3 3.1 and 3.0, replayed one byte at a time: what was sent must be sent again.
import assert from "node:assert/strict";
import { Channel } from "../../src/devices/channel.ts";
import { Driver } from "../../src/devices/driver.ts";
import type { CommandResult } from "../../src/devices/output.ts";
import { overTelnet } from "../../src/devices/telnet.ts";
import { parse, replay } from "./recording.ts";
import { VPCS_SCENES as SCENES } from "./scenes.ts";

const FOLDER = new URL("../testdata/consoles/vpcs/", import.meta.url);
const VERSIONS = ["3.1.0a7", "3.0.6"];

async function replayed(scene: string, version: string): Promise<Map<string, CommandResult>> {
  const { platform, limits, commands } = SCENES.find(({ name }) => name === scene)!;
  const recording = replay(parse(await Deno.readTextFile(new URL(`${scene}_${version}.txt`, FOLDER))));
  const channel = new Channel(overTelnet(recording));
  const driver = new Driver(channel, platform, limits);
  const { signal } = new AbortController();
  const results = new Map<string, CommandResult>();
  try {
    await driver.open(signal);
    for (const command of commands) results.set(command, await driver.run(command, { signal }));
    await driver.leave(signal);
  } finally {
    await channel.close();
  }
  assert.deepEqual(recording.mismatches, []);
  assert.equal(recording.left(), 0);
  assert.deepEqual([...driver.notes], []);
  return results;
}

for (const version of VERSIONS) {
  // F1, F8, F13, F25
  Deno.test(`Driver gets clean output from VPCS on GNS3 ${version}`, async () => {
    const results = await replayed("show", version);
    const ip = results.get("show ip")!;
    assert.match(
      ip.output,
      /^NAME {8}: PC1\[1\]\nIP\/MASK {5}: 0\.0\.0\.0\/0\nGATEWAY {5}: 0\.0\.0\.0\nDNS {9}:\nMAC/,
    );
    assert.match(ip.output, /\nMTU: {8}: 0$/);
    assert.equal(ip.failed, undefined);
    const help = results.get("?")!.output;
    assert.match(help, /^\? {24}Print help\n! \[command \[args\]\] {7}Invoke/);
    assert.match(help, /arp {22}Shortcut for: show arp\. Show arp table\n/);
    assert.match(results.get("version")!.output, /^Welcome to Virtual PC Simulator, version 0\.5b2\n/);
    assert.equal(results.get("bogus")!.output, 'Bad command: "bogus". Use ? for help.');
    assert.equal(results.get("bogus")!.failed, 'Bad command: "bogus". Use ? for help.');
    assert.equal(results.get("ip 10.0.0.300/24")!.failed, "Invalid address");
    assert.equal(results.get("echo PC1> is no prompt")!.output, "PC1> is no prompt");
    assert.equal(results.get("save")!.output, ".  done");
  });

  // F13
  Deno.test(`Driver waits for the end of slow commands on GNS3 ${version}`, async () => {
    const results = await replayed("ping", version);
    assert.equal(
      results.get("ip 10.0.0.1/24 10.0.0.254")!.output,
      "Checking for duplicate address...\nPC1 : 10.0.0.1 255.255.255.0 gateway 10.0.0.254",
    );
    assert.match(
      results.get("ping 10.0.0.2 -c 2")!.output,
      /^10\.0\.0\.2 icmp_seq=1 ttl=64 time=[\d.]+ ms\n10\.0\.0\.2 icmp_seq=2 ttl=64 time=[\d.]+ ms$/,
    );
    assert.equal(results.get("ping 10.0.0.9")!.output, "host (10.0.0.9) not reachable");
    assert.match(
      results.get("trace 10.0.0.2")!.output,
      /^trace to 10\.0\.0\.2, 8 hops max.*\n 1 {3}\*10\.0\.0\.2/,
    );
    assert.match(
      results.get("show arp")!.output,
      /^00:50:79:66:68:01 {2}10\.0\.0\.2 expires in \d+ seconds$/,
    );
  });

  // F13
  Deno.test(`Driver follows a prompt that changes on GNS3 ${version}`, async () => {
    const results = await replayed("rename", version);
    assert.deepEqual(
      [...results.values()].map(({ failed, output }) => [failed, output.split("\n")[0]]),
      [[undefined, ""], [undefined, "NAME        : PC1[1]"], [undefined, ""]],
    );
  });

  // F6
  Deno.test(`Driver stops a ping without end on GNS3 ${version}, keeps its output, and goes on`, async () => {
    const results = await replayed("endless", version);
    const ping = results.get("ping 10.0.0.2 -t")!;
    assert.match(ping.output, /^10\.0\.0\.2 icmp_seq=1 .* ms\n10\.0\.0\.2 icmp_seq=2 .* ms$/);
    assert.equal(ping.stopped, true);
    assert.equal(ping.failed, undefined);
    assert.match(ping.note!, /^It runs until it is stopped: that was done after \d+ s\.$/);
    assert.match(results.get("show arp")!.output, /expires in/);
  });
}
