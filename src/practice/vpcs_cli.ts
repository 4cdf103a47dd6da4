// The command line of a virtual PC, as VPCS 0.8's: same commands, same words, but no way to a shell of the host.
import { formatAddress } from "./address.ts";
import type { Pc } from "./device.ts";
import { type Network, touched } from "./network.ts";
import { applyIp, bootPc, parseIp, settingsLine, startupOf } from "./pc.ts";
import { setPower } from "./power.ts";
import type { Shell, ShellIo } from "./terminal.ts";
import type { Timing } from "./timing.ts";
import { ping, PING_HELP, trace, TRACE_HELP } from "./vpcs_ping.ts";

interface Session {
  net: Network;
  pc: Pc;
  timing: Timing;
}

type Run = (session: Session, args: string[], io: ShellIo) => void | Promise<void>;

const HELP = `
?                        Print help
! [command [args]]       Not in the practice lab: it has no host shell
arp                      Shortcut for: show arp
clear ip|arp             Clear the address or the neighbour table
dhcp                     Shortcut for: ip dhcp
echo <text>              Print <text>
help                     Print help
ip <address> [/<mask>] [<gateway>]  Set address, mask and gateway
load                     Read startup.vpc again
ping <host> [-options]   Ping <host> with ICMP
quit                     Switch the PC off
save                     Write the settings to startup.vpc
set pcname <name>        Change the PC's name
show [arp|ip|version]    Print information
sleep <seconds>          Wait
trace <host> [-options]  Print the way to <host>
version                  Shortcut for: show version

`;

const VERSION = `
Virtual PC of the practice lab, answering as VPCS version 0.8 does

`;

// In VPCS's order, because the first command that begins with what was typed is meant.
const COMMANDS: Record<string, Run> = {
  "?": (_, __, io) => io.print(HELP),
  arp: (session, _, io) => showArp(session, io),
  clear: (session, args, io) => clear(session, args, io),
  dhcp: (session, _, io) => ip(session, ["dhcp"], io),
  disconnect: (_, __, io) => io.print("Close the connection in your telnet client.\n\n"),
  echo: (_, args, io) => io.print(`${args.join(" ")}\n`),
  help: (_, __, io) => io.print(HELP),
  history: (_, __, io) => io.print("\n"),
  ip: (session, args, io) => ip(session, args, io),
  load: ({ net, pc }, _, io) => {
    bootPc(net, pc);
    touched(net);
    io.print("\n");
  },
  ping: ({ net, pc, timing }, args, io) =>
    args.length && args[0] !== "?" ? ping(net, pc, args, io, timing) : io.print(PING_HELP),
  quit: ({ net, pc }, _, io) => {
    io.print("\nGood-bye\n");
    setPower(net, pc.id, "stopped");
  },
  relay: (_, __, io) => io.print("The practice lab has no relay.\n\n"),
  rlogin: (_, __, io) => io.print("The practice lab has no way to the host.\n\n"),
  save: ({ net, pc }, _, io) => {
    pc.startup = startupOf(pc);
    touched(net);
    io.print("Saving startup configuration to startup.vpc\n.  done\n\n");
  },
  set: (session, args, io) => set(session, args, io),
  show: (session, args, io) => show(session, args, io),
  sleep: async (_, args, io) => {
    await io.pause(Number(args[0] ?? 0) * 1000 || 0);
    io.print("\n");
  },
  trace: ({ net, pc, timing }, args, io) =>
    args.length && args[0] !== "?" ? trace(net, pc, args, io, timing) : io.print(TRACE_HELP),
  version: (_, __, io) => io.print(VERSION),
};

/** The shell of a PC that has just been switched on. */
export function vpcsShell(net: Network, pc: Pc, timing: Timing): Shell {
  return {
    interruptKey: "\x03",
    interruptEcho: "^C\n",
    doubleEnter: false,
    prompt: () => `\r${pc.pcname}> `,
    control: (key) => key === "\x03" ? "^C\n" : "",
    async run(line, io) {
      const [word = "", ...args] = line.trim().split(/\s+/);
      if (word === "") return;
      if (word.startsWith("!")) return io.print("The practice lab has no host shell.\n\n");
      const name = Object.keys(COMMANDS).find((command) => command.startsWith(word));
      if (name === undefined) return io.print(`Bad command: "${line.trim()}". Use ? for help.\n\n`);
      await COMMANDS[name]!({ net, pc, timing }, args, io);
    },
  };
}

async function ip({ net, pc, timing }: Session, args: string[], io: ShellIo): Promise<void> {
  if (args.length === 0 || args[0] === "?") {
    return io.print(
      "\n\x1b[1mip <address> [/<mask>] [<gateway>]\x1b[0m\n  The mask is /24 unless given.\n\n",
    );
  }
  if (args[0] === "dhcp") {
    for (let i = 0; i < 3; i++) {
      io.print("D");
      await io.pause(timing.replyTimeout);
    }
    return io.print("\nCan't find dhcp server\n\n");
  }
  if (["auto", "dns", "domain", "mtu"].includes(args[0]!)) {
    return io.print(`The practice PC has no "ip ${args[0]}".\n\n`);
  }
  const settings = parseIp(args);
  if (typeof settings === "string") return io.print(`${settings}\n\n`);
  io.print("Checking for duplicate address...\n");
  await io.pause(timing.addressCheck);
  const taken = applyIp(net, pc, settings);
  touched(net);
  if (taken.ok) return io.print(`${settingsLine(settings)}\n\n`);
  io.print(`${formatAddress(settings.address)} is being used by MAC ${taken.mac}\nAddress not changed\n\n`);
}

function clear({ net, pc }: Session, [what]: string[], io: ShellIo): void {
  if (what === "ip") {
    Object.assign(pc, { address: 0, bits: 0, gateway: 0 });
    pc.arp.clear();
    touched(net);
    io.print("IPv4 address/mask, gateway, DNS, and DHCP cleared\n\n");
  } else if (what === "arp") {
    pc.arp.clear();
    io.print("\n");
  } else if (what === "hist") io.print("\n");
  else io.print(what === undefined ? "\nclear [ip|arp|hist]\n\n" : "Invalid options\n\n");
}

function set({ pc }: Session, [what, value]: string[], io: ShellIo): void {
  if (what === "pcname" && value) {
    pc.pcname = value;
    io.print("\n");
  } else io.print(what === "pcname" ? "Incomplete command.\n\n" : "Invalid arguments\n\n");
}

function show(session: Session, args: string[], io: ShellIo): void {
  const what = args[0] ?? "";
  if (what === "" || what === "vpcs") return showAll(session.pc, io);
  if (what === "ip") return args[1] === "all" ? showAll(session.pc, io) : showIp(session.pc, io);
  if (what === "arp") return showArp(session, io);
  if (what === "version") return io.print(VERSION);
  if (what === "history") return io.print("\n");
  io.print("Invalid arguments\n\n");
}

function showIp(pc: Pc, io: ShellIo): void {
  io.print(
    `\nNAME        : ${pc.pcname}[1]\nIP/MASK     : ${formatAddress(pc.address)}/${pc.bits}\n` +
      `GATEWAY     : ${
        formatAddress(pc.gateway)
      }\nDNS         : \nMAC         : ${pc.mac}\nMTU         : 1500\n\n`,
  );
}

function showAll(pc: Pc, io: ShellIo): void {
  const address = `${formatAddress(pc.address)}/${pc.bits}`;
  io.print(
    `\nNAME   IP/MASK              GATEWAY           MAC\n` +
      `${pc.pcname.padEnd(6)} ${address.padEnd(20)} ${formatAddress(pc.gateway).padEnd(17)} ${pc.mac}\n\n`,
  );
}

function showArp({ net, pc }: Session, io: ShellIo): void {
  const alive = [...pc.arp].filter(([, entry]) => entry.until > net.now());
  if (alive.length === 0) return io.print("\narp table is empty\n\n");
  const lines = alive.map(([address, { mac, until }]) =>
    `${mac}  ${formatAddress(address)} expires in ${Math.ceil((until - net.now()) / 1000)} seconds \n`
  );
  io.print(`\n${lines.join("")}\n`);
}
