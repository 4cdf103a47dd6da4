// `ping` and `trace` of a virtual PC, with the lines that VPCS 0.8 prints.
import { formatAddress, parseAddress } from "./address.ts";
import type { Pc } from "./device.ts";
import { probe, type ProbeResult } from "./forwarding.ts";
import type { Network } from "./network.ts";
import type { ShellIo } from "./terminal.ts";
import type { Timing } from "./timing.ts";

/** A second: an answer that a filter delays longer than that is too late, however fast the lab's clock runs. */
const LATE_MS = 1000;
const DEFAULT_HOPS = 8;

const ICMP_TEXT: Record<string, string> = {
  "3.0": "Destination network unreachable",
  "3.1": "Destination host unreachable",
  "3.3": "Destination port unreachable",
  "11.0": "TTL expired in transit",
};

interface PingOptions {
  host: string;
  count: number;
  interval: number;
  wait: number;
  size: number;
  ttl: number;
}

export const PING_HELP = `
\x1b[1mping <host> [-options]\x1b[0m
  Sends ICMP echo requests to <host>, an IPv4 address.
    -c <count>     how many, default 5
    -t             until Ctrl+C
    -i <ms>        pause between two requests
    -w <ms>        how long to wait for an answer
    -l <size>      bytes of data
    -T <ttl>       time to live, default 64

`;

export const TRACE_HELP = `
\x1b[1mtrace <host> [-options]\x1b[0m
  Shows the routers on the way to <host>, an IPv4 address.
    -P <protocol>  1 ICMP, 17 UDP (default)
    -m <hops>      at most this many, default ${DEFAULT_HOPS}

`;

function readOptions(args: string[], timing: Timing): PingOptions | string {
  const options: PingOptions = {
    host: args[0] ?? "",
    count: 5,
    interval: timing.pingInterval,
    wait: timing.replyTimeout,
    size: 56,
    ttl: 64,
  };
  const fields: Record<string, "count" | "interval" | "wait" | "size" | "ttl"> = {
    "-c": "count",
    "-i": "interval",
    "-w": "wait",
    "-l": "size",
    "-T": "ttl",
  };
  for (let i = 1; i < args.length; i++) {
    const word = args[i]!;
    const field = fields[word];
    if (field) {
      const value = Number(args[++i]);
      if (!Number.isInteger(value) || value <= 0) return "Invalid options";
      options[field] = value;
    } else if (word === "-t") options.count = Infinity;
    else if (word === "-1" || (word === "-P" && args[i + 1] === "1")) i += word === "-P" ? 1 : 0;
    else if (["-2", "-3", "-P"].includes(word)) return "The practice PC sends ICMP only.";
    else return "Invalid options";
  }
  return options;
}

/** Runs `ping`; ends early by throwing when it is interrupted. */
export async function ping(net: Network, pc: Pc, args: string[], io: ShellIo, timing: Timing): Promise<void> {
  const options = readOptions(args, timing);
  if (typeof options === "string") return io.print(`${options}\n\n`);
  const target = parseAddress(options.host);
  if (target === null) return io.print(`Cannot resolve ${options.host}\n\n`);
  io.print("\n");
  for (let sequence = 1; sequence <= options.count; sequence++) {
    const result = probe(net, pc, target, { ttl: options.ttl });
    await io.pause(waitFor(result, options.wait, timing));
    io.print(`${pingLine(result, sequence, options)}\n`);
    if (result.kind === "no_arp" || result.kind === "no_gateway") break;
    if (sequence < options.count) await io.pause(options.interval);
  }
  io.print("\n");
}

function waitFor(result: ProbeResult, wait: number, timing: Timing): number {
  if (result.kind === "reply" || result.kind === "error") return Math.min(result.ms, wait);
  if (result.kind === "no_gateway") return 0;
  return result.kind === "no_arp" ? timing.arpTimeout : wait;
}

function pingLine(result: ProbeResult, sequence: number, options: PingOptions): string {
  if (result.kind === "no_arp") return `host (${formatAddress(result.address)}) not reachable`;
  if (result.kind === "no_gateway" || result.kind === "no_route") return "No gateway found";
  if (result.kind === "timeout" || result.ms > LATE_MS) return `${options.host} icmp_seq=${sequence} timeout`;
  const answer = `icmp_seq=${sequence} ttl=${result.ttl} time=${result.ms.toFixed(3)} ms`;
  const from = formatAddress(result.from);
  if (result.kind === "reply") return `${options.size + 28} bytes from ${from} ${answer}`;
  return `*${from} ${answer} ${icmp(result)}`;
}

function icmp({ type, code }: { type: number; code: number }): string {
  return `(ICMP type:${type}, code:${code}, ${ICMP_TEXT[`${type}.${code}`] ?? "Unknown"})`;
}

/** Runs `trace`: three probes a hop, one line a hop. */
export async function trace(
  net: Network,
  pc: Pc,
  args: string[],
  io: ShellIo,
  timing: Timing,
): Promise<void> {
  const target = parseAddress(args[0] ?? "");
  if (target === null) return io.print(`Cannot resolve ${args[0]}\n\n`);
  let hops = DEFAULT_HOPS;
  let kind: "icmp" | "udp" = "udp";
  for (let i = 1; i < args.length; i++) {
    if (args[i] === "-m") hops = Number(args[++i]);
    else if (args[i] === "-P" && (args[i + 1] === "1" || args[i + 1] === "17")) {
      kind = args[++i] === "1" ? "icmp" : "udp";
    } else if (/^\d+$/.test(args[i]!)) hops = Number(args[i]);
    else return io.print("Invalid options\n\n");
  }
  if (!(hops >= 1 && hops <= 64)) return io.print("Invalid options\n\n");
  io.print(`trace to ${args[0]}, ${hops} hops max, press Ctrl+C to stop\n`);
  for (let ttl = 1; ttl <= hops; ttl++) {
    const ended = await hop(net, pc, { target, ttl, kind }, io, timing);
    if (ended) break;
  }
  io.print("\n");
}

async function hop(
  net: Network,
  pc: Pc,
  { target, ttl, kind }: { target: number; ttl: number; kind: "icmp" | "udp" },
  io: ShellIo,
  timing: Timing,
): Promise<boolean> {
  let shown = false;
  for (let i = 0; i < 3; i++) {
    const result = probe(net, pc, target, { ttl, kind });
    await io.pause(waitFor(result, timing.replyTimeout, timing));
    if (result.kind === "no_arp") {
      io.print(`host (${formatAddress(result.address)}) not reachable\n`);
      return true;
    }
    if (result.kind === "no_gateway" || result.kind === "no_route") {
      io.print("No gateway found\n");
      return true;
    }
    if (i === 0) io.print(`${String(ttl).padStart(2)}  ${result.kind === "timeout" ? "  " : " "}`);
    if (result.kind === "timeout") io.print("  *".slice(i === 0 ? 1 : 0));
    else if (result.kind === "error" && result.type === 3) {
      io.print(`*${formatAddress(result.from)}   ${result.ms.toFixed(3)} ms ${icmp(result)}\n`);
      return true;
    } else {
      io.print(`${shown ? "" : `${formatAddress(result.from)} `}  ${result.ms.toFixed(3)} ms`);
      shown = true;
    }
    if (i === 2) {
      io.print("\n");
      return result.kind === "reply";
    }
  }
  return false;
}
