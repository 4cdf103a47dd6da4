// Reads what a virtual PC printed: its addresses, and how its pings and traces went.
import { parseAddress, sameNetwork } from "../address.ts";
import type { CommandOutput } from "./evidence.ts";

export interface PcSettings {
  /** "" when it has none. */
  address: string;
  bits: number;
  gateway: string;
}

export interface PingOutcome {
  target: string;
  sent: number;
  replies: number;
  ttl: number | null;
  /** The neighbour that did not answer ARP. */
  notReachable: string;
  /** The router that refused, with its reason. */
  refusedBy: string;
  reason: string;
  noGateway: boolean;
  timeouts: number;
  /** The line that shows it best. */
  quote: string;
  /** The command could not be run at all. */
  error: string;
}

/** The settings from the last `show ip`, or null. */
export function settingsOf(outputs: CommandOutput[]): PcSettings | null {
  const shown = outputs.findLast(({ command, output }) =>
    /^sh\w*\s+ip\b/.test(command) && /IP\/MASK/.test(output)
  );
  if (!shown) return null;
  const [, address = "", bits = "0"] = /IP\/MASK\s*:\s*([\d.]+)\/(\d+)/.exec(shown.output) ?? [];
  const [, gateway = ""] = /GATEWAY\s*:\s*([\d.]+)/.exec(shown.output) ?? [];
  const none = (text: string) => text === "0.0.0.0" ? "" : text;
  return { address: none(address), bits: Number(bits), gateway: none(gateway) };
}

/** How the last ping of this device to `target` went, VPCS's words or IOS's; null when there was none. */
export function pingOf(outputs: CommandOutput[], target: string): PingOutcome | null {
  const ran = outputs.findLast(({ command }) =>
    /^p\w*\s/.test(command) && command.split(/\s+/).includes(target)
  );
  if (!ran) return null;
  const lines = ran.output.split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
  const outcome: PingOutcome = {
    target,
    sent: 0,
    replies: 0,
    ttl: null,
    notReachable: "",
    refusedBy: "",
    reason: "",
    noGateway: false,
    timeouts: 0,
    quote: "",
    error: lines.length ? "" : ran.error,
  };
  for (const line of lines) readLine(outcome, line);
  outcome.sent = Math.max(outcome.sent, outcome.replies + outcome.timeouts + (outcome.refusedBy ? 1 : 0));
  return outcome;
}

function readLine(outcome: PingOutcome, line: string): void {
  const reply = /bytes from [\d.]+ icmp_seq=(\d+) ttl=(\d+)/.exec(line);
  const refused = /^\*([\d.]+) icmp_seq=(\d+).*\(ICMP type:\d+, code:\d+, ([^)]*)\)/.exec(line);
  const lost = /icmp_seq=(\d+) timeout/.exec(line);
  const silent = /host \(([\d.]+)\) not reachable/.exec(line);
  const ios = /Success rate is \d+ percent \((\d+)\/(\d+)\)/.exec(line);
  if (reply) {
    outcome.replies++;
    outcome.ttl = Number(reply[2]);
  } else if (refused) Object.assign(outcome, { refusedBy: refused[1], reason: refused[3] });
  else if (lost) outcome.timeouts++;
  else if (silent) outcome.notReachable = silent[1]!;
  else if (/No gateway found/.test(line)) outcome.noGateway = true;
  else if (ios) {
    Object.assign(outcome, {
      replies: Number(ios[1]),
      sent: Number(ios[2]),
      timeouts: Number(ios[2]) - Number(ios[1]),
    });
  } else return;
  const sequence = Number((reply ?? lost)?.[1] ?? refused?.[2] ?? 0);
  outcome.sent = Math.max(outcome.sent, sequence);
  // A line that shows a failure says more than one that shows success.
  if (!outcome.quote || !reply) outcome.quote = line;
}

/** The addresses that answered on the way of the last trace, "*" for silence; null when there was none. */
export function traceOf(outputs: CommandOutput[], target: string): string[] | null {
  const ran = outputs.findLast(({ command }) => /^tr\w*\s/.test(command) && command.includes(target));
  if (!ran) return null;
  const hops: string[] = [];
  for (const line of ran.output.split(/\r?\n/)) {
    const hop = /^\s*\d+\s+\*?\s*(\d+\.\d+\.\d+\.\d+|\*)/.exec(line);
    if (hop) hops.push(hop[1]!);
  }
  return hops;
}

/** True when the second address lies in the first one's subnet. */
export function inSubnet(settings: { address: string; bits: number }, other: string): boolean {
  const [a, b] = [parseAddress(settings.address), parseAddress(other)];
  return a !== null && b !== null && sameNetwork(a, b, settings.bits);
}
