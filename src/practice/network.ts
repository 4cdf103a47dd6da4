// The simulated lab: devices and the cables between them. Consoles and the GNS3 API only show what is kept here.
// Switching devices on and off is in power.ts, how packets move in forwarding.ts.
import type { Device, Power } from "./device.ts";
import { blocksAll, type Filters } from "./filters.ts";

/** One end of a cable. */
export interface End {
  device: string;
  socket: number;
}

/** A cable between two sockets; `suspended` means that it carries nothing. */
export interface Cable {
  id: string;
  ends: [End, End];
  suspended: boolean;
  filters: Filters;
  /** Packets that came by, for "drop every Nth". */
  count: number;
  /** Sees every frame that the cable carries, while a capture runs. */
  tap: ((frame: Uint8Array) => void) | null;
}

export interface Network {
  devices: Map<string, Device>;
  cables: Map<string, Cable>;
  now(): number;
  /** A number from 0 up to 1; tests pass their own. */
  random(): number;
  /** Called after every change, in the order of registration. */
  listeners: Set<(change: Change) => void>;
}

export type Change =
  | { type: "power"; device: string; power: Power }
  | { type: "log"; device: string; text: string }
  | { type: "removed"; device: string }
  | { type: "lab" };

/** An empty lab. */
export function createNetwork(options: { now?: () => number; random?: () => number } = {}): Network {
  return {
    devices: new Map(),
    cables: new Map(),
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    listeners: new Set(),
  };
}

export function announce(net: Network, change: Change): void {
  for (const listener of net.listeners) listener(change);
}

/** To be called after any change of addresses, routes, cables or power. */
export function touched(net: Network): void {
  announce(net, { type: "lab" });
}

export function addDevice(net: Network, device: Device): void {
  net.devices.set(device.id, device);
  touched(net);
}

/** Takes a device away together with its cables. */
export function removeDevice(net: Network, id: string): void {
  for (const cable of cablesOf(net, id)) disconnect(net, cable.id);
  net.devices.delete(id);
  announce(net, { type: "removed", device: id });
  touched(net);
}

export function cablesOf(net: Network, id: string): Cable[] {
  return [...net.cables.values()].filter((cable) => cable.ends.some((end) => end.device === id));
}

/** The cable in a socket, if there is one. */
export function cableAt(net: Network, device: string, socket: number): Cable | undefined {
  for (const cable of net.cables.values()) {
    if (cable.ends.some((end) => end.device === device && end.socket === socket)) return cable;
  }
  return undefined;
}

export function otherEnd(cable: Cable, device: string, socket: number): End {
  const [a, b] = cable.ends;
  return a.device === device && a.socket === socket ? b : a;
}

/** Plugs a cable in. The caller has checked that both sockets exist and are free. */
export function connect(net: Network, id: string, a: End, b: End): Cable {
  const cable: Cable = { id, ends: [a, b], suspended: false, filters: {}, count: 0, tap: null };
  net.cables.set(id, cable);
  forgetNeighbours(net, cable);
  touched(net);
  return cable;
}

export function disconnect(net: Network, id: string): void {
  const cable = net.cables.get(id);
  if (!cable) return;
  net.cables.delete(id);
  forgetNeighbours(net, cable);
  touched(net);
}

/** Suspends a cable, resumes it, or puts filters on it. */
export function changeCable(
  net: Network,
  cable: Cable,
  to: { suspended?: boolean; filters?: Filters },
): void {
  if (to.filters) Object.assign(cable, { filters: to.filters, count: 0 });
  if (to.suspended !== undefined && to.suspended !== cable.suspended) {
    cable.suspended = to.suspended;
    forgetNeighbours(net, cable);
  }
  touched(net);
}

// A port that loses or gains its cable starts with an empty neighbour table, as hardware with link detection does.
function forgetNeighbours(net: Network, cable: Cable): void {
  for (const end of cable.ends) {
    const device = net.devices.get(end.device);
    if (device && device.kind !== "switch") device.arp.clear();
  }
}

/** True when a signal gets through the cable at all. */
export function carries(cable: Cable | undefined): cable is Cable {
  return cable !== undefined && !cable.suspended;
}

/** True when nothing of this kind ever passes the cable: suspended, or filtered completely. */
export function blocked(cable: Cable, kind: "arp" | "icmp" | "ospf"): boolean {
  return cable.suspended || blocksAll(cable.filters, kind);
}
