// Layer 2 of the practice lab: which sockets hear each other, whether a port has a signal, and ARP.
import { type Device, type Host, isUp, type RouterInterface } from "./device.ts";
import { sameNetwork } from "./address.ts";
import { type PacketKind, passFilters } from "./filters.ts";
import { arpFrame } from "./frames.ts";
import { type Cable, cableAt, carries, type Network, otherEnd } from "./network.ts";

const ARP_LIFE_MS = 120_000;
const ARP_TRIES = 3;

/** A socket that is heard, with the cables on the way to it. */
export interface Heard {
  device: Device;
  socket: number;
  path: Cable[];
}

/** Everything that a frame from this socket reaches, through any number of switches. Suspended cables carry nothing. */
export function segment(net: Network, device: string, socket: number): Heard[] {
  const heard: Heard[] = [];
  const visited = new Set<string>([device]);
  const follow = (from: string, at: number, path: Cable[]) => {
    const cable = cableAt(net, from, at);
    if (!carries(cable)) return;
    const end = otherEnd(cable, from, at);
    const next = net.devices.get(end.device);
    if (!next) return;
    if (next.kind !== "switch") {
      heard.push({ device: next, socket: end.socket, path: [...path, cable] });
    } else if (!visited.has(next.id)) {
      visited.add(next.id);
      next.sockets.forEach((_, index) => {
        if (index !== end.socket) follow(next.id, index, [...path, cable]);
      });
    }
  };
  follow(device, socket, []);
  return heard;
}

/** True when there is a signal at the socket: a cable that carries, and at its other end a port that is switched on. */
export function hasSignal(net: Network, device: string, socket: number): boolean {
  const cable = cableAt(net, device, socket);
  if (!carries(cable)) return false;
  const end = otherEnd(cable, device, socket);
  const peer = net.devices.get(end.device);
  if (!peer) return false;
  if (peer.kind === "switch") return true;
  if (peer.kind === "pc") return isUp(peer);
  return peer.power !== "stopped" && peer.interfaces.some((i) => i.socket === end.socket && !i.shutdown);
}

/** True when a router's interface can be used. Loopbacks always have a signal. */
export function isLineUp(net: Network, router: Device, iface: RouterInterface): boolean {
  return isUp(router) && !iface.shutdown &&
    (iface.socket === null || hasSignal(net, router.id, iface.socket));
}

/** A packet on these cables: null when a filter drops it, else the milliseconds it took. `frame` makes it for captures. */
export function cross(net: Network, path: Cable[], kind: PacketKind, frame: () => Uint8Array): number | null {
  let total = 0;
  for (const cable of path) {
    // A capture sits before the filters, at the sender's end.
    cable.tap?.(frame());
    const delay = passFilters(cable.filters, kind, ++cable.count, net.random);
    if (delay === null) return null;
    total += delay + 0.08 + net.random() * 0.12;
  }
  return total;
}

/** The address with which a host owns `address` on this socket, with its hardware address; null when it does not. */
function owns(host: Host, socket: number, address: number): { mac: string; bits: number } | null {
  if (host.kind === "pc") return host.address === address && address !== 0 ? host : null;
  const iface = host.interfaces.find((i) => i.socket === socket && i.address === address && !i.shutdown);
  return iface ?? null;
}

/** Who answers for `address` when this socket asks without caring for filters; used to find duplicates too. */
export function ownersOf(net: Network, device: string, socket: number, address: number): Heard[] {
  return segment(net, device, socket).filter((heard) =>
    heard.device.kind !== "switch" && isUp(heard.device) && owns(heard.device, heard.socket, address) !== null
  );
}

/**
 * Finds the neighbour that has `address`, as ARP does: from the table while the entry lives, else by asking three times.
 * A router does not answer a sender from outside its subnet. Null when nobody answers.
 */
export function resolve(
  net: Network,
  asker: Host,
  socket: number,
  sender: { address: number; mac: string },
  address: number,
): Heard | null {
  const known = asker.arp.get(address);
  const candidates = segment(net, asker.id, socket);
  if (known && known.until > net.now()) {
    // The frame goes to that hardware address whoever has it now; nobody there means that it is lost on the way.
    return candidates.find((heard) => macAt(heard) === known.mac) ?? null;
  }
  asker.arp.delete(address);
  for (let attempt = 0; attempt < ARP_TRIES; attempt++) {
    for (const heard of candidates) {
      const peer = heard.device;
      if (peer.kind === "switch" || !isUp(peer)) continue;
      const owner = owns(peer, heard.socket, address);
      if (!owner) continue;
      if (peer.kind === "router" && !sameNetwork(sender.address, address, owner.bits)) continue;
      const target = { address, mac: owner.mac };
      if (cross(net, heard.path, "arp", () => arpFrame(1, sender, target)) === null) continue;
      if (cross(net, heard.path, "arp", () => arpFrame(2, target, sender)) === null) continue;
      const until = net.now() + ARP_LIFE_MS;
      asker.arp.set(address, { mac: owner.mac, until });
      peer.arp.set(sender.address, { mac: sender.mac, until });
      return heard;
    }
  }
  return null;
}

/** True when the table still holds an answer, so that a missing neighbour shows as silence and not as a failed ARP. */
export function remembers(net: Network, asker: Host, address: number): boolean {
  const known = asker.arp.get(address);
  return known !== undefined && known.until > net.now();
}

/** The hardware address of a socket that was heard. */
export function macAt(heard: Heard): string | undefined {
  if (heard.device.kind === "pc") return heard.device.mac;
  if (heard.device.kind === "router") {
    return heard.device.interfaces.find((i) => i.socket === heard.socket)?.mac;
  }
  return undefined;
}
