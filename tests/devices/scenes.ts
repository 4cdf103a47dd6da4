// What is done on the recorded consoles: the recorder does it for real, the replay tests do the same again.
import type { DriverLimits } from "../../src/devices/driver.ts";
import type { Platform } from "../../src/devices/platform.ts";
import { frr } from "../../src/devices/platforms/frr.ts";
import { linux } from "../../src/devices/platforms/linux.ts";
import { vpcs } from "../../src/devices/platforms/vpcs.ts";

export interface Scene {
  name: string;
  what: string;
  node: string;
  platform: Platform;
  limits: DriverLimits;
  /** Keys of somebody who was there before, with pauses between them. */
  found?: string[];
  /** Whether GNS3 knows name and password of the node, or has wrong ones. */
  credentials?: "right" | "wrong";
  commands: string[];
  /** Configuration lines, typed after the commands. */
  lines?: string[];
}

/** Name and password of the lab's node with a login, made up in `tests/lab/mkrouter.py`. */
export const LAB_LOGIN = { username: "root", password: "lab-router-password" };

const limits: DriverLimits = { wakeMs: 15_000, commandMs: 30_000, restoreMs: 5_000, outputChars: 1_000_000 };
const LONG = `description ${Array.from({ length: 30 }, (_, i) => `part${i}`).join(" ")}`;

export const VPCS_SCENES: Scene[] = [
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
    platform: { ...vpcs, limits: [{ pattern: /-t$/, seconds: 1.5, endless: true }] },
    limits,
    commands: ["ping 10.0.0.2 -t", "show arp"],
  },
];

/** R1 shows vtysh at once, on a terminal of which nothing is known; H1 asks for a login and has a shell. */
export const FRR_SCENES: Scene[] = [
  {
    name: "show",
    what: "Reading, errors, a ping without end stopped after 1.5 s",
    node: "R1",
    platform: { ...frr, limits: [{ pattern: /ping/, seconds: 1.5, endless: true }] },
    limits,
    commands: [
      "show version",
      "show ip route",
      "show running-config | include hostname",
      "bogus",
      "sh r",
      "show",
      "ping 127.0.0.1",
      "show interface brief",
    ],
  },
  {
    name: "config",
    what:
      "Configuring: parts, a long line, a name that changes, reading in between, a line that is not taken",
    node: "R1",
    platform: frr,
    limits,
    commands: [],
    lines: [
      "configure terminal",
      "interface eth3",
      LONG,
      "no description",
      "exit",
      "!",
      "hostname Alice",
      "do show interface brief",
      "hostname R1",
      "interface eth3",
      "ip address 10.9.9.300/24",
      "shutdown",
    ],
  },
  {
    name: "found_in_config",
    what: "Somebody had left the configuration of an interface and half a line",
    node: "R1",
    platform: frr,
    limits,
    found: ["\x03", "configure terminal\r", "interface eth3\r", "ip address 10.6"],
    commands: ["show ip route", "show interface brief"],
  },
  {
    name: "found_in_user",
    what: "Somebody had left the view with fewer rights",
    node: "R1",
    platform: frr,
    limits,
    found: ["\x03", "end\r", "disable\r"],
    commands: ["show version"],
  },
  {
    name: "login",
    what: "A login, vtysh from the shell behind it, and out again",
    node: "H1",
    platform: frr,
    limits,
    credentials: "right",
    commands: ["show version", "show ip route"],
    lines: ["interface eth2", LONG, "no description"],
  },
];

export const LINUX_SCENES: Scene[] = [
  {
    name: "login",
    what: "A login, reading, errors, a line longer than the terminal, a ping without end, and out again",
    node: "H1",
    platform: { ...linux, limits: [{ pattern: /ping/, seconds: 1.5, endless: true }] },
    limits,
    credentials: "right",
    commands: [
      "uname -a",
      "ip addr show lo",
      "bogus",
      "cat /nofile",
      `echo ${Array.from({ length: 30 }, (_, i) => `part${i}`).join(" ")}`,
      "ping 127.0.0.1",
      "hostname",
    ],
  },
  {
    name: "no_credentials",
    what: "A login for which GNS3 has no name",
    node: "H1",
    platform: linux,
    limits,
    commands: ["uname -a"],
  },
  {
    name: "wrong_credentials",
    what: "A login that refuses what GNS3 has",
    node: "H1",
    platform: linux,
    limits,
    credentials: "wrong",
    commands: ["uname -a"],
  },
  {
    name: "found_half_line",
    what: "Somebody was logged in and had left half a line",
    node: "H1",
    platform: linux,
    limits,
    found: ["\r", "root\r", "lab-router-password\r", "reboot -f"],
    commands: ["hostname"],
  },
  {
    name: "found_program",
    what: "Somebody was logged in and had left a program that waits for a line",
    node: "H1",
    platform: linux,
    limits,
    found: ["\x15", "read answer\r"],
    commands: ["hostname"],
  },
  {
    name: "found_busy",
    what: "Somebody had left a program that prints nothing and does not end",
    node: "H1",
    platform: linux,
    limits: { ...limits, wakeMs: 3_000 },
    found: ["\x15", "sleep 1000\r"],
    commands: ["hostname"],
  },
];
