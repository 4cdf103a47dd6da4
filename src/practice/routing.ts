// The routing table of a practice router: connected, local, static and OSPF routes, the best of each prefix.
import { networkOf } from "./address.ts";
import type { Router, RouterInterface } from "./device.ts";
import { isLineUp } from "./layer2.ts";
import type { Network } from "./network.ts";
import { ospfRoutes } from "./ospf.ts";

/** `code` is the letter of `show ip route`; `nextHop` is null for connected and local routes. */
export interface Route {
  code: "C" | "L" | "S" | "O" | "O IA";
  network: number;
  bits: number;
  distance: number;
  metric: number;
  nextHop: number | null;
  iface: RouterInterface;
}

/** All routes in use, sorted by prefix. */
export function routingTable(net: Network, router: Router): Route[] {
  const best = new Map<string, Route>();
  const offer = (route: Route) => {
    const key = `${route.network}/${route.bits}`;
    const old = best.get(key);
    if (!old || route.distance < old.distance) best.set(key, route);
  };
  for (const iface of router.interfaces) {
    if (iface.address === null || !isLineUp(net, router, iface)) continue;
    const { address, bits } = iface;
    const own = { distance: 0, metric: 0, nextHop: null, iface };
    offer({ code: "C", network: networkOf(address, bits), bits, ...own });
    if (bits < 32) offer({ code: "L", network: address, bits: 32, ...own });
  }
  for (const { network, bits, cost, nextHop, iface, interArea } of ospfRoutes(net, router)) {
    offer({ code: interArea ? "O IA" : "O", network, bits, distance: 110, metric: cost, nextHop, iface });
  }
  for (const { network, bits, nextHop, distance } of router.routes) {
    // A static route counts only while its next hop can be reached some other way.
    const via = lookup([...best.values()].filter((r) => r.network !== network || r.bits !== bits), nextHop);
    if (via) offer({ code: "S", network, bits, distance, metric: 0, nextHop, iface: via.iface });
  }
  return [...best.values()].sort((a, b) => a.network - b.network || a.bits - b.bits);
}

/** The most specific route to an address. */
export function lookup(table: Route[], address: number): Route | null {
  let best: Route | null = null;
  for (const route of table) {
    if (networkOf(address, route.bits) === route.network && (!best || route.bits > best.bits)) best = route;
  }
  return best;
}

/** The neighbour to hand a packet to: next hops that are not directly connected are looked up again. */
export function nextNeighbour(
  table: Route[],
  route: Route,
  address: number,
): { hop: number; iface: RouterInterface } {
  let current = route;
  let hop = current.nextHop ?? address;
  for (let depth = 0; current.nextHop !== null && depth < 8; depth++) {
    const via = lookup(table.filter((r) => r !== current), current.nextHop);
    if (!via || via.nextHop === null) break;
    current = via;
    hop = via.nextHop;
  }
  return { hop, iface: current.iface };
}
