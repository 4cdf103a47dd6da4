// OSPF of the practice routers, worked out from the state of the lab at the moment of asking: who is a neighbour of
// whom, and the shortest paths within and between areas (RFC 2328, without virtual links and external routes).
import { networkOf } from "./address.ts";
import type { Router, RouterInterface } from "./device.ts";
import { isLineUp, segment } from "./layer2.ts";
import { blocked, type Network } from "./network.ts";

export interface OspfNetwork {
  network: number;
  wildcard: number;
  area: number;
}

export interface OspfProcess {
  id: number;
  routerId: number | null;
  /** Chosen when the process first needed one, and kept until it is cleared. */
  chosenId: number | null;
  networks: OspfNetwork[];
  passive: Set<string>;
  passiveDefault: boolean;
}

export interface OspfInterface {
  iface: RouterInterface;
  area: number;
  cost: number;
  passive: boolean;
}

export interface OspfNeighbour {
  router: Router;
  routerId: number;
  address: number;
  iface: RouterInterface;
  area: number;
  state: string;
}

export interface OspfRoute {
  network: number;
  bits: number;
  cost: number;
  nextHop: number;
  iface: RouterInterface;
  interArea: boolean;
}

/** The router's id: configured, else the highest loopback address, else the highest address that is up. 0 when none. */
export function routerIdOf(net: Network, router: Router): number {
  const process = router.ospf;
  if (!process) return 0;
  if (process.chosenId !== null) return process.chosenId;
  const up = router.interfaces.filter((i) => i.address !== null && isLineUp(net, router, i));
  const loopbacks = up.filter((i) => i.socket === null);
  const best = Math.max(0, ...(loopbacks.length ? loopbacks : up).map((i) => i.address ?? 0));
  const id = process.routerId ?? best;
  if (id) process.chosenId = id;
  return id;
}

/** The interfaces that take part, with the area of the first `network` statement that covers each. */
export function ospfInterfaces(net: Network, router: Router): OspfInterface[] {
  const process = router.ospf;
  if (!process || routerIdOf(net, router) === 0) return [];
  const list: OspfInterface[] = [];
  for (const iface of router.interfaces) {
    if (iface.address === null || !isLineUp(net, router, iface)) continue;
    const address = iface.address;
    const statement = process.networks.find((n) => ((address ^ n.network) & ~n.wildcard) >>> 0 === 0);
    const area = iface.ospfArea?.process === process.id ? iface.ospfArea.area : statement?.area;
    if (area === undefined) continue;
    const passive = process.passiveDefault !== process.passive.has(iface.name);
    list.push({ iface, area, cost: iface.ospfCost ?? 1, passive });
  }
  return list;
}

/** Everybody on the wire with whom hellos agree: same subnet, mask, area and hello interval, neither side passive. */
export function neighboursOf(net: Network, router: Router): OspfNeighbour[] {
  const found: OspfNeighbour[] = [];
  for (const own of ospfInterfaces(net, router)) {
    if (own.passive || own.iface.socket === null) continue;
    const peers: OspfNeighbour[] = [];
    for (const heard of segment(net, router.id, own.iface.socket)) {
      const peer = heard.device;
      if (peer.kind !== "router" || heard.path.some((cable) => blocked(cable, "ospf"))) continue;
      const theirs = ospfInterfaces(net, peer).find((o) => o.iface.socket === heard.socket);
      if (!theirs || !agree(own, theirs)) continue;
      const routerId = routerIdOf(net, peer);
      if (routerId === routerIdOf(net, router)) continue;
      const address = theirs.iface.address ?? 0;
      peers.push({ router: peer, routerId, address, iface: own.iface, area: own.area, state: "" });
    }
    found.push(...elect(routerIdOf(net, router), peers));
  }
  return found;
}

function agree(a: OspfInterface, b: OspfInterface): boolean {
  return !b.passive && a.area === b.area && a.iface.bits === b.iface.bits &&
    networkOf(a.iface.address ?? 0, a.iface.bits) === networkOf(b.iface.address ?? 0, b.iface.bits) &&
    (a.iface.ospfHello ?? 10) === (b.iface.ospfHello ?? 10);
}

// All have priority 1, so the highest id becomes designated router and the next one its backup.
function elect(ownId: number, peers: OspfNeighbour[]): OspfNeighbour[] {
  const ids = [ownId, ...peers.map((p) => p.routerId)].sort((a, b) => b - a);
  const role = (id: number) => id === ids[0] ? "DR" : id === ids[1] ? "BDR" : "DROTHER";
  for (const peer of peers) {
    const full = role(ownId) !== "DROTHER" || role(peer.routerId) !== "DROTHER";
    peer.state = `${full ? "FULL" : "2WAY"}/${role(peer.routerId)}`;
  }
  return peers;
}

interface Reached {
  router: Router;
  cost: number;
  nextHop: number;
  iface: RouterInterface | null;
}

/** Dijkstra over the routers of one area, seen from `start`. */
function shortestPaths(net: Network, start: Router, area: number): Map<string, Reached> {
  const done = new Map<string, Reached>();
  const open: Reached[] = [{ router: start, cost: 0, nextHop: 0, iface: null }];
  while (open.length) {
    open.sort((a, b) => a.cost - b.cost);
    const here = open.shift()!;
    if (done.has(here.router.id)) continue;
    done.set(here.router.id, here);
    for (const peer of neighboursOf(net, here.router)) {
      if (peer.area !== area) continue;
      const cost = here.cost + (peer.iface.ospfCost ?? 1);
      const first = here.iface ? here : { nextHop: peer.address, iface: peer.iface };
      open.push({ router: peer.router, cost, nextHop: first.nextHop, iface: first.iface });
    }
  }
  return done;
}

type Known = Map<string, OspfRoute>;

function keep(known: Known, route: OspfRoute): void {
  const key = `${route.network}/${route.bits}`;
  const old = known.get(key);
  if (
    !old || (old.interArea && !route.interArea) ||
    (old.interArea === route.interArea && route.cost < old.cost)
  ) {
    known.set(key, route);
  }
}

function areasOf(net: Network, router: Router): Set<number> {
  return new Set(ospfInterfaces(net, router).map((o) => o.area));
}

/** Routes to the networks of one area, the router's own included (their `nextHop` is 0). */
function intraArea(net: Network, router: Router, area: number, known: Known): void {
  for (const reached of shortestPaths(net, router, area).values()) {
    for (const { iface, area: theirs, cost } of ospfInterfaces(net, reached.router)) {
      if (theirs !== area) continue;
      // A loopback is announced as one host, whatever its mask.
      const bits = iface.socket === null ? 32 : iface.bits;
      keep(known, {
        network: networkOf(iface.address ?? 0, bits),
        bits,
        cost: reached.cost + cost,
        nextHop: reached.nextHop,
        iface: reached.iface ?? iface,
        interArea: false,
      });
    }
  }
}

/** What the border routers of `area` announce into it, as `router` in that area sees it. */
function fromBorders(net: Network, router: Router, area: number, known: Known, depth: number): void {
  for (const reached of shortestPaths(net, router, area).values()) {
    const areas = areasOf(net, reached.router);
    if (reached.router.id === router.id || !areas.has(0) || areas.size < 2) continue;
    const theirs: Known = new Map();
    for (const other of areas) if (other !== area) intraArea(net, reached.router, other, theirs);
    // Into a leaf area a border router also announces what it learned over the backbone; never the other way round.
    if (area !== 0 && depth > 0) fromBorders(net, reached.router, 0, theirs, depth - 1);
    for (const route of theirs.values()) {
      const { nextHop, iface } = reached;
      if (iface) keep(known, { ...route, cost: reached.cost + route.cost, nextHop, iface, interArea: true });
    }
  }
}

/** The router's OSPF routes, without the networks it is connected to. */
export function ospfRoutes(net: Network, router: Router): OspfRoute[] {
  const known: Known = new Map();
  const areas = areasOf(net, router);
  for (const area of areas) intraArea(net, router, area, known);
  const border = areas.has(0) && areas.size > 1;
  for (const area of areas) if (!border || area === 0) fromBorders(net, router, area, known, 1);
  return [...known.values()].filter((route) => route.nextHop !== 0);
}
