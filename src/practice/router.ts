// A practice router as data: how one is made, its factory settings, and its configuration as text.
import { formatAddress, maskOf, networkOf } from "./address.ts";
import { macAddress, type Router, type RouterInterface, type Socket } from "./device.ts";
import type { OspfProcess } from "./ospf.ts";

/** Two slots of two FastEthernet ports, numbered as GNS3 numbers such a router's adapters. */
export const ROUTER_SOCKETS: readonly Socket[] = [[0, 0], [0, 1], [1, 0], [1, 1]].map(([adapter, port]) => ({
  name: `FastEthernet${adapter}/${port}`,
  shortName: `f${adapter}/${port}`,
  adapter: adapter!,
  port: port!,
}));

/** A router that is switched off. `number` makes its hardware addresses unlike the others'. */
export function createRouter(id: string, name: string, number: number, startup: string): Router {
  return {
    kind: "router",
    id,
    name,
    power: "stopped",
    boots: 0,
    sockets: ROUTER_SOCKETS.map((socket) => ({ ...socket })),
    hostname: "Router",
    banner: "",
    interfaces: factoryInterfaces(number),
    routes: [],
    ospf: null,
    arp: new Map(),
    startup,
    bootedAt: 0,
    dirty: false,
    journal: [],
  };
}

function factoryInterfaces(number: number): RouterInterface[] {
  return ROUTER_SOCKETS.map((socket, index) => newInterface(socket.name, index, number));
}

export function newInterface(name: string, socket: number | null, number: number): RouterInterface {
  const mac = macAddress("ca:01:00", (number & 0xffff) * 256 + (socket ?? 0));
  return {
    name,
    socket,
    mac,
    address: null,
    bits: 0,
    // A loopback is on as soon as it exists, a real port waits for `no shutdown`.
    shutdown: socket !== null,
    description: "",
    method: "unset",
    ospfCost: null,
    ospfHello: null,
    ospfArea: null,
  };
}

/** Back to what it is without any configuration; ports keep their hardware addresses. */
export function eraseRunning(router: Router): void {
  router.hostname = "Router";
  router.banner = "";
  router.routes = [];
  router.ospf = null;
  router.interfaces = router.interfaces.filter((i) => i.socket !== null)
    .map((i) => ({ ...newInterface(i.name, i.socket, 0), mac: i.mac }));
}

/** The startup configuration that a router made from the template has. */
export function baseConfig(name: string): string {
  return `!\nhostname ${name}\n!\nend\n`;
}

/** The running configuration, in IOS's order and layout. */
export function runningConfig(router: Router): string {
  const lines = [
    "version 15.2",
    "service timestamps log datetime msec",
    "!",
    `hostname ${router.hostname}`,
    "!",
    "no ip domain lookup",
    "!",
  ];
  for (const iface of router.interfaces) lines.push(...interfaceConfig(iface), "!");
  if (router.ospf) lines.push(...ospfLines(router.ospf), "!");
  for (const route of router.routes) {
    const distance = route.distance === 1 ? "" : ` ${route.distance}`;
    lines.push(
      `ip route ${formatAddress(route.network)} ${formatAddress(maskOf(route.bits))} ${
        formatAddress(route.nextHop)
      }${distance}`,
    );
  }
  if (router.routes.length) lines.push("!");
  if (router.banner) lines.push(`banner motd ^C${router.banner}^C`, "!");
  lines.push("line con 0", " exec-timeout 0 0", " privilege level 15", " logging synchronous", "!", "end");
  return `${lines.join("\n")}\n`;
}

/** The configuration of one interface, a line each. */
export function interfaceConfig(iface: RouterInterface): string[] {
  const lines = [`interface ${iface.name}`];
  if (iface.description) lines.push(` description ${iface.description}`);
  lines.push(
    iface.address === null
      ? " no ip address"
      : ` ip address ${formatAddress(iface.address)} ${formatAddress(maskOf(iface.bits))}`,
  );
  // Proxy ARP would hide the wrong masks and gateways that this lab is meant to show.
  if (iface.socket !== null) lines.push(" no ip proxy-arp");
  if (iface.ospfArea) lines.push(` ip ospf ${iface.ospfArea.process} area ${iface.ospfArea.area}`);
  if (iface.ospfHello !== null) lines.push(` ip ospf hello-interval ${iface.ospfHello}`);
  if (iface.ospfCost !== null) lines.push(` ip ospf cost ${iface.ospfCost}`);
  if (iface.shutdown) lines.push(" shutdown");
  if (iface.socket !== null) lines.push(" duplex auto", " speed auto");
  return lines;
}

function ospfLines(process: OspfProcess): string[] {
  const lines = [`router ospf ${process.id}`];
  if (process.routerId !== null) lines.push(` router-id ${formatAddress(process.routerId)}`);
  if (process.passiveDefault) lines.push(" passive-interface default");
  for (const name of process.passive) {
    lines.push(process.passiveDefault ? ` no passive-interface ${name}` : ` passive-interface ${name}`);
  }
  for (const { network, wildcard, area } of process.networks) {
    lines.push(` network ${formatAddress(network)} ${formatAddress(wildcard)} area ${area}`);
  }
  return lines;
}

/** The interface whose network would overlap, if any; IOS refuses such an address. */
export function overlapping(
  router: Router,
  own: RouterInterface,
  address: number,
  bits: number,
): RouterInterface | undefined {
  return router.interfaces.find((iface) => {
    if (iface === own || iface.address === null) return false;
    const shorter = Math.min(bits, iface.bits);
    return networkOf(iface.address, shorter) === networkOf(address, shorter);
  });
}
