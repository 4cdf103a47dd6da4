// `ping` and `traceroute` of a practice router, in IOS's words. Control-Shift-6 (0x1e) interrupts them, as on IOS.
import { formatAddress, parseAddress } from "./address.ts";
import type { Router } from "./device.ts";
import { probe, type ProbeResult, sourceFor } from "./forwarding.ts";
import { findInterface } from "./interface_name.ts";
import type { Network } from "./network.ts";
import type { ShellIo } from "./terminal.ts";
import type { Timing } from "./timing.ts";

/** IOS waits two seconds for an answer; a filter may delay one longer than that. */
const LATE_MS = 2000;
const MAX_HOPS = 30;

export interface RouterPingOptions {
  count: number;
  size: number;
  /** An interface name or an address. */
  source: string | null;
}

/** The sender's address, or null after having printed why there is none. */
function sourceOf(router: Router, source: string | null, io: ShellIo): number | null | undefined {
  if (source === null) return undefined;
  const address = parseAddress(source);
  const iface = address === null
    ? findInterface(router, source)
    : router.interfaces.find((i) => i.address === address);
  if (iface?.address != null) return iface.address;
  io.print("% Invalid source address- IP address not on any of our up interfaces\n");
  return null;
}

/** Runs `ping`: one character a probe, then the rate of success. */
export async function routerPing(
  net: Network,
  router: Router,
  host: string,
  options: RouterPingOptions,
  io: ShellIo,
  timing: Timing,
): Promise<void> {
  const target = parseAddress(host);
  if (target === null) return io.print("% Unrecognized host or address, or protocol not running.\n");
  const source = sourceOf(router, options.source, io);
  if (source === null) return;
  io.print("Type escape sequence to abort.\n");
  io.print(`Sending ${options.count}, ${options.size}-byte ICMP Echos to ${host}, timeout is 2 seconds:\n`);
  if (source !== undefined) io.print(`Packet sent with a source address of ${formatAddress(source)} \n`);
  const times: number[] = [];
  let sent = 0;
  try {
    for (; sent < options.count; sent++) {
      const result = probe(net, router, target, { source });
      await io.pause(
        result.kind === "reply" ? Math.min(result.ms, timing.routerTimeout) : timing.routerTimeout,
      );
      io.print(mark(result));
      if (result.kind === "reply" && result.ms <= LATE_MS) times.push(result.ms);
    }
  } finally {
    // Also after an interruption, as IOS does.
    io.print(summary(times, sent));
  }
}

function mark(result: ProbeResult): string {
  if (result.kind === "reply") return result.ms <= LATE_MS ? "!" : ".";
  return result.kind === "error" ? "U" : ".";
}

function summary(times: number[], sent: number): string {
  const percent = sent ? Math.floor((times.length * 100) / sent) : 0;
  const head = `\nSuccess rate is ${percent} percent (${times.length}/${sent})`;
  if (times.length === 0) return `${head}\n`;
  const whole = times.map((ms) => Math.max(1, Math.round(ms)));
  const average = Math.round(whole.reduce((a, b) => a + b, 0) / whole.length);
  return `${head}, round-trip min/avg/max = ${Math.min(...whole)}/${average}/${Math.max(...whole)} ms\n`;
}

/** Runs `traceroute`: three probes a hop, at most 30 hops. */
export async function routerTraceroute(
  net: Network,
  router: Router,
  host: string,
  io: ShellIo,
  timing: Timing,
): Promise<void> {
  const target = parseAddress(host);
  if (target === null) return io.print("% Unrecognized host or address.\n");
  io.print(`Type escape sequence to abort.\nTracing the route to ${host}\n`);
  const source = sourceFor(net, router, target) ?? undefined;
  for (let ttl = 1; ttl <= MAX_HOPS; ttl++) {
    io.print(`${String(ttl).padStart(3)}`);
    let shown = "";
    let ended = false;
    for (let i = 0; i < 3; i++) {
      const result = probe(net, router, target, { ttl, kind: "udp", source });
      const answered = result.kind === "reply" || result.kind === "error";
      await io.pause(answered ? Math.min(result.ms, timing.routerTimeout) : timing.routerTimeout);
      if (!answered) {
        io.print("  *");
        continue;
      }
      const from = formatAddress(result.from);
      if (from !== shown) io.print(` ${from}`);
      shown = from;
      const unreachable = result.kind === "error" && result.type === 3 && result.code !== 3;
      io.print(unreachable ? " !H " : ` ${Math.max(1, Math.round(result.ms))} msec`);
      ended = result.kind === "reply" || result.type === 3;
    }
    io.print("\n");
    if (ended) return;
  }
}
