// What is done on the recorded consoles: the recorder does it for real, the replay test does the same again.
import type { DriverLimits } from "../../src/devices/driver.ts";
import type { Platform } from "../../src/devices/platform.ts";
import { vpcs } from "../../src/devices/platforms/vpcs.ts";

export interface Scene {
  name: string;
  what: string;
  node: string;
  platform: Platform;
  limits: DriverLimits;
  commands: string[];
}

const limits: DriverLimits = { wakeMs: 15_000, commandMs: 30_000, restoreMs: 5_000, outputChars: 1_000_000 };

export const SCENES: Scene[] = [
  {
    name: "show",
    what: "Help, addresses, a bad command, saving",
    node: "PC1",
    platform: vpcs,
    limits,
    commands: [
      "?",
      "show ip",
      "show",
      "version",
      "bogus",
      "ip 10.0.0.300/24",
      "echo PC1> is no prompt",
      "save",
    ],
  },
  {
    name: "ping",
    what: "An address that takes three seconds, pings that end by themselves, a trace",
    node: "PC1",
    platform: vpcs,
    limits,
    commands: [
      "ip 10.0.0.1/24 10.0.0.254",
      "ping 10.0.0.2 -c 2",
      "ping 10.0.0.9",
      "trace 10.0.0.2",
      "show arp",
    ],
  },
  {
    name: "rename",
    what: "The prompt changes in the middle",
    node: "PC1",
    platform: vpcs,
    limits,
    commands: ["set pcname Alice", "show ip", "set pcname PC1", "show ip"],
  },
  {
    name: "endless",
    what: "A ping without end, stopped after 1.5 s",
    node: "PC1",
    // A shorter limit than the usual one, so that the replay is as short.
    platform: { ...vpcs, limits: [{ pattern: /-t$/, seconds: 1.5 }] },
    limits,
    commands: ["ping 10.0.0.2 -t", "show arp"],
  },
];
