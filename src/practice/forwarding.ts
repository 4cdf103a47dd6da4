// Sends one probe through the simulated lab and brings its answer back, hop by hop in both directions.
import { sameNetwork } from "./address.ts";
import { type Host, isUp, type Router, type RouterInterface } from "./device.ts";
import type { PacketKind } from "./filters.ts";
import { ipFrame } from "./frames.ts";
import { cross, type Heard, isLineUp, macAt, remembers, resolve } from "./layer2.ts";
import type { Network } from "./network.ts";
import { lookup, nextNeighbour, routingTable } from "./routing.ts";

/** What the sender of a probe gets to see. Times are milliseconds, `ttl` is that of the answer. */
export type ProbeResult =
  | { kind: "reply"; from: number; ttl: number; ms: number }
  | { kind: "error"; from: number; ttl: number; ms: number; type: 3 | 11; code: number }
  | { kind: "timeout" }
  /** The first hop did not answer ARP. */
  | { kind: "no_arp"; address: number }
  | { kind: "no_gateway" }
  | { kind: "no_route" };

interface Packet {
  source: number;
  destination: number;
  ttl: number;
  kind: PacketKind;
  icmp: { type: number; code: number };
}

type Journey =
  | { end: "delivered"; to: Host; ttl: number; ms: number }
  | { end: "refused"; by: Router; from: number; type: 3 | 11; code: number; ms: number }
  | { end: "lost" }
  | { end: "no_arp"; address: number }
  | { end: "no_gateway" }
  | { end: "no_route" };

/** Sends a probe and waits for what comes back. `udp` probes are answered by "port unreachable", as a traceroute wants. */
export function probe(
  net: Network,
  from: Host,
  destination: number,
  options: { ttl?: number; kind?: "icmp" | "udp"; source?: number } = {},
): ProbeResult {
  const kind = options.kind ?? "icmp";
  const ttl = options.ttl ?? (from.kind === "pc" ? 64 : 255);
  const source = options.source ?? sourceFor(net, from, destination);
  if (source === null) return { kind: from.kind === "pc" ? "no_gateway" : "no_route" };
  if (hasAddress(net, from, destination)) return { kind: "reply", from: destination, ttl, ms: 0.001 };

  const there = travel(net, from, { source, destination, ttl, kind, icmp: { type: 8, code: 0 } });
  if (there.end === "lost") return { kind: "timeout" };
  if (there.end === "no_arp") return { kind: "no_arp", address: there.address };
  if (there.end === "no_gateway" || there.end === "no_route") return { kind: there.end };
  const answering = there.end === "delivered" ? there.to : there.by;
  const answer = there.end === "delivered" ? destination : there.from;
  const icmp = there.end === "refused" ? there : kind === "udp" ? { type: 3, code: 3 } : { type: 0, code: 0 };
  const back = travel(net, answering, {
    source: answer,
    destination: source,
    ttl: answering.kind === "pc" ? 64 : 255,
    kind: "icmp",
    icmp,
  });
  if (back.end !== "delivered" || back.to.id !== from.id) return { kind: "timeout" };
  const seen = { from: answer, ttl: back.ttl, ms: there.ms + back.ms };
  if (there.end === "refused") return { kind: "error", ...seen, type: there.type, code: there.code };
  return kind === "udp" ? { kind: "error", ...seen, type: 3, code: 3 } : { kind: "reply", ...seen };
}

/** The address a host would use as sender, null when it has none that fits. */
export function sourceFor(net: Network, from: Host, destination: number): number | null {
  if (from.kind === "pc") return from.address;
  const table = routingTable(net, from);
  const route = lookup(table, destination);
  return route ? nextNeighbour(table, route, destination).iface.address : null;
}

function hasAddress(net: Network, host: Host, address: number): boolean {
  if (host.kind === "pc") return host.address === address && address !== 0;
  return host.interfaces.some((i) => i.address === address && isLineUp(net, host, i));
}

interface Exit {
  socket: number;
  hop: number;
  sender: { address: number; mac: string };
}

function pcExit(pc: Host & { kind: "pc" }, destination: number): Exit | "no_gateway" {
  const local = sameNetwork(pc.address, destination, pc.bits);
  if (!local && pc.gateway === 0) return "no_gateway";
  return { socket: 0, hop: local ? destination : pc.gateway, sender: pc };
}

function routerExit(net: Network, router: Router, destination: number): Exit | "no_route" {
  const table = routingTable(net, router);
  const route = lookup(table, destination);
  if (!route) return "no_route";
  const { hop, iface } = nextNeighbour(table, route, destination);
  if (iface.socket === null || iface.address === null) return "no_route";
  return { socket: iface.socket, hop, sender: { address: iface.address, mac: iface.mac } };
}

function travel(net: Network, origin: Host, packet: Packet): Journey {
  let here = origin;
  let arrivedOn: RouterInterface | null = null;
  let ttl = packet.ttl;
  let ms = 0;
  for (;;) {
    if (here !== origin) {
      if (!isUp(here)) return { end: "lost" };
      if (hasAddress(net, here, packet.destination)) return { end: "delivered", to: here, ttl, ms };
      if (here.kind === "pc") return { end: "lost" };
      const from = arrivedOn?.address ?? 0;
      if (--ttl <= 0) return { end: "refused", by: here, from, type: 11, code: 0, ms };
      if (routerExit(net, here, packet.destination) === "no_route") {
        return { end: "refused", by: here, from, type: 3, code: 1, ms };
      }
    }
    const exit: Exit | "no_gateway" | "no_route" = here.kind === "pc"
      ? pcExit(here, packet.destination)
      : routerExit(net, here, packet.destination);
    if (typeof exit === "string") return { end: exit };
    const knew = remembers(net, here, exit.hop);
    const next: Heard | null = resolve(net, here, exit.socket, exit.sender, exit.hop);
    // Only the sender itself learns that ARP failed; a router on the way drops the packet without a word.
    if (!next) return here === origin && !knew ? { end: "no_arp", address: exit.hop } : { end: "lost" };
    const { sender } = exit;
    const took = cross(
      net,
      next.path,
      packet.kind,
      () =>
        ipFrame({
          ...packet,
          ttl,
          sourceMac: sender.mac,
          targetMac: macAt(next) ?? "",
          id: next.path[0]!.count,
        }),
    );
    if (took === null || next.device.kind === "switch") return { end: "lost" };
    ms += took;
    here = next.device;
    arrivedOn = here.kind === "router" ? here.interfaces.find((i) => i.socket === next.socket) ?? null : null;
  }
}
