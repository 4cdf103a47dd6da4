// What the devices of the practice lab are made of: PCs, routers and switches, as plain data.
import type { OspfProcess } from "./ospf.ts";

export type Power = "stopped" | "started" | "suspended";

/** A socket of a device; the numbers are GNS3's, the names are for people. */
export interface Socket {
  name: string;
  shortName: string;
  adapter: number;
  port: number;
}

/** A neighbour's hardware address and the moment (ms) at which it is forgotten. */
export interface ArpEntry {
  mac: string;
  until: number;
}

interface Base {
  id: string;
  /** The name in the project; what the device calls itself is its own affair. */
  name: string;
  power: Power;
  sockets: Socket[];
  /** Goes up with every power-on, so that a console knows that its device was replaced under it. */
  boots: number;
}

/** A virtual PC with one Ethernet port, as VPCS is. `startup` is its `startup.vpc`, null when it has none. */
export interface Pc extends Base {
  kind: "pc";
  mac: string;
  pcname: string;
  address: number;
  bits: number;
  gateway: number;
  arp: Map<number, ArpEntry>;
  startup: string | null;
}

/** One interface of a router; `socket` is its index in `sockets`, null for a loopback. */
export interface RouterInterface {
  name: string;
  socket: number | null;
  mac: string;
  address: number | null;
  bits: number;
  shutdown: boolean;
  description: string;
  /** "NVRAM" when the address came from the startup configuration, "manual" when it was typed. */
  method: "unset" | "NVRAM" | "manual";
  ospfCost: number | null;
  ospfHello: number | null;
  ospfArea: { process: number; area: number } | null;
}

export interface StaticRoute {
  network: number;
  bits: number;
  nextHop: number;
  distance: number;
}

/** An IOS-like router. `startup` is its saved configuration, "" when there is none. */
export interface Router extends Base {
  kind: "router";
  hostname: string;
  banner: string;
  interfaces: RouterInterface[];
  routes: StaticRoute[];
  ospf: OspfProcess | null;
  arp: Map<number, ArpEntry>;
  startup: string;
  bootedAt: number;
  /** Changed since it was last saved. */
  dirty: boolean;
  /** What it reported on its own, newest last. */
  journal: string[];
}

/** An unmanaged Ethernet switch: every port in one network, always on. */
export interface Switch extends Base {
  kind: "switch";
}

export type Device = Pc | Router | Switch;
export type Host = Pc | Router;

/** A started PC or router; a switch takes no part above layer 2. */
export function isUp(device: Device): boolean {
  return device.power === "started";
}

/** A hardware address made from a number, in the form a PC prints it. */
export function macAddress(vendor: string, number: number): string {
  const tail = [(number >>> 16) & 255, (number >>> 8) & 255, number & 255];
  return `${vendor}:${tail.map((byte) => byte.toString(16).padStart(2, "0")).join(":")}`;
}
