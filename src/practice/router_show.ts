// The `show` commands of a practice router: text in IOS's layout, made from the simulation at the moment of asking.
import { formatAddress, formatPrefix, maskOf } from "./address.ts";
import type { Router, RouterInterface } from "./device.ts";
import { hasSignal, isLineUp } from "./layer2.ts";
import type { Network } from "./network.ts";
import { neighboursOf, ospfInterfaces, routerIdOf } from "./ospf.ts";
import { lookup, type Route, routingTable } from "./routing.ts";

/** Physical state and line protocol of an interface, as IOS words them. */
function states(net: Network, router: Router, iface: RouterInterface): { status: string; protocol: string } {
  if (iface.shutdown) return { status: "administratively down", protocol: "down" };
  const up = isLineUp(net, router, iface) ? "up" : "down";
  return { status: up, protocol: up };
}

export function showIpInterfaceBrief(net: Network, router: Router): string {
  const rows = router.interfaces.map((iface) => {
    const { status, protocol } = states(net, router, iface);
    const address = iface.address === null ? "unassigned" : formatAddress(iface.address);
    return `${iface.name.padEnd(26)} ${address.padEnd(15)} YES ${iface.method.padEnd(6)} ${
      status.padEnd(21)
    } ${protocol}\n`;
  });
  return `Interface                  IP-Address      OK? Method Status                Protocol\n${
    rows.join("")
  }`;
}

export function showInterface(net: Network, router: Router, iface: RouterInterface): string {
  const { status, protocol } = states(net, router, iface);
  const word = status === "administratively down" ? status : `${status}`;
  const lines = [`${iface.name} is ${word}, line protocol is ${protocol}`];
  lines.push(
    `  Hardware is ${
      iface.socket === null ? "Loopback" : `practice FastEthernet, address is ${dotted(iface.mac)}`
    }`,
  );
  if (iface.description) lines.push(`  Description: ${iface.description}`);
  if (iface.address !== null) lines.push(`  Internet address is ${formatPrefix(iface.address, iface.bits)}`);
  lines.push("  MTU 1500 bytes, BW 100000 Kbit/sec, DLY 100 usec");
  if (iface.socket !== null && !hasSignal(net, router.id, iface.socket)) {
    lines.push("  No signal from the other end of the cable");
  }
  return `${lines.join("\n")}\n`;
}

/** `ca01.0001.0000`, IOS's way to write a hardware address. */
export function dotted(mac: string): string {
  return mac.replaceAll(":", "").replace(/(.{4})(.{4})(.{4})/, "$1.$2.$3");
}

export function showOspfNeighbors(net: Network, router: Router): string {
  const neighbours = neighboursOf(net, router);
  if (!router.ospf) return "";
  const rows = neighbours.map((n) =>
    `${formatAddress(n.routerId).padEnd(15)} ${"1".padStart(3)}   ${n.state.padEnd(15)} 00:00:3${
      n.routerId % 10
    }    ${formatAddress(n.address).padEnd(15)} ${n.iface.name}\n`
  );
  return `\nNeighbor ID     Pri   State           Dead Time   Address         Interface\n${rows.join("")}`;
}

export function showOspfInterfaceBrief(net: Network, router: Router): string {
  if (!router.ospf) return "";
  const neighbours = neighboursOf(net, router);
  const rows = ospfInterfaces(net, router).map(({ iface, area, cost }) => {
    const around = neighbours.filter((n) => n.iface === iface);
    const full = around.filter((n) => n.state.startsWith("FULL")).length;
    const address = `${formatAddress(iface.address ?? 0)}/${iface.bits}`;
    return `${shortName(iface.name).padEnd(12)} ${String(router.ospf!.id).padEnd(5)} ${
      String(area).padEnd(15)
    } ${address.padEnd(18)} ${String(cost).padEnd(5)} ${full}/${around.length}\n`;
  });
  return `Interface    PID   Area            IP Address/Mask    Cost  Nbrs F/C\n${rows.join("")}`;
}

function shortName(name: string): string {
  return name.replace("FastEthernet", "Fa").replace("Loopback", "Lo");
}

export function showIpProtocols(net: Network, router: Router): string {
  const process = router.ospf;
  if (!process) return "*** IP Routing is NSF aware ***\n\n";
  const statements = process.networks.map((n) =>
    `    ${formatAddress(n.network)} ${formatAddress(n.wildcard)} area ${n.area}\n`
  );
  const passive = router.interfaces.filter((i) => process.passiveDefault !== process.passive.has(i.name));
  return `Routing Protocol is "ospf ${process.id}"\n  Router ID ${formatAddress(routerIdOf(net, router))}\n` +
    `  Routing for Networks:\n${statements.join("")}` +
    (passive.length ? `  Passive Interface(s):\n${passive.map((i) => `    ${i.name}\n`).join("")}` : "") +
    "  Distance: (default is 110)\n\n";
}

const CODES = `Codes: L - local, C - connected, S - static, R - RIP, M - mobile, B - BGP
       D - EIGRP, EX - EIGRP external, O - OSPF, IA - OSPF inter area
       * - candidate default, U - per-user static route

`;

/** The routing table; `only` keeps one kind, by its letter. */
export function showIpRoute(net: Network, router: Router, only?: "C" | "S" | "O"): string {
  const table = routingTable(net, router);
  const shown = only ? table.filter((route) => route.code.startsWith(only)) : table;
  const last = lookup(table, 0);
  const resort = last && last.bits === 0
    ? `Gateway of last resort is ${formatAddress(last.nextHop ?? 0)} to network 0.0.0.0`
    : "Gateway of last resort is not set";
  return `${CODES}${resort}\n\n${classful(shown).join("\n")}${shown.length ? "\n" : ""}`;
}

/** IOS groups routes under their classful network and says how it is subnetted. */
function classful(table: Route[]): string[] {
  const groups = Map.groupBy(table, (route) => {
    const first = route.network >>> 24;
    const bits = route.bits === 0 ? 0 : first < 128 ? 8 : first < 192 ? 16 : 24;
    return `${(route.network & maskOf(bits)) >>> 0}/${bits}`;
  });
  const lines: string[] = [];
  for (const [key, routes] of groups) {
    const [network = "0", bits = "0"] = key.split("/");
    const masks = new Set(routes.map((route) => route.bits)).size;
    const name = `${formatAddress(Number(network))}/${bits}`;
    if (bits !== "0") {
      lines.push(
        masks > 1
          ? `      ${name} is variably subnetted, ${routes.length} subnets, ${masks} masks`
          : `      ${formatAddress(Number(network))}/${
            routes[0]!.bits
          } is subnetted, ${routes.length} subnets`,
      );
    }
    lines.push(...routes.map(routeLine));
  }
  return lines;
}

function routeLine(route: Route): string {
  const code = (route.bits === 0 ? `${route.code}*` : route.code).padEnd(8);
  const prefix = formatPrefix(route.network, route.bits);
  if (route.nextHop === null) return `${code} ${prefix} is directly connected, ${route.iface.name}`;
  const via = `${code} ${prefix} [${route.distance}/${route.metric}] via ${formatAddress(route.nextHop)}`;
  return route.code === "S" ? via : `${via}, 00:01:00, ${route.iface.name}`;
}

/** One route in detail, or the sentence that there is none. */
export function showIpRouteTo(net: Network, router: Router, address: number): string {
  const route = lookup(routingTable(net, router), address);
  if (!route) return "% Network not in table\n";
  const source = {
    C: "connected",
    L: "connected",
    S: "static",
    O: `ospf ${router.ospf?.id}`,
    "O IA": `ospf ${router.ospf?.id}`,
  };
  const where = route.nextHop === null
    ? `  * directly connected, via ${route.iface.name}`
    : `  * ${formatAddress(route.nextHop)}, via ${route.iface.name}`;
  return `Routing entry for ${formatPrefix(route.network, route.bits)}\n  Known via "${
    source[route.code]
  }", distance ${route.distance}, metric ${route.metric}\n  Routing Descriptor Blocks:\n${where}\n`;
}

export function showArp(net: Network, router: Router): string {
  const rows: string[] = [];
  const row = (address: number, age: string, mac: string, name: string) =>
    rows.push(
      `Internet  ${formatAddress(address).padEnd(15)} ${age.padStart(9)}   ${dotted(mac)}  ARPA   ${name}\n`,
    );
  for (const iface of router.interfaces) {
    if (iface.address === null || iface.socket === null || !isLineUp(net, router, iface)) continue;
    row(iface.address, "-", iface.mac, iface.name);
    for (const [address, entry] of router.arp) {
      const local = ((address ^ iface.address) & maskOf(iface.bits)) === 0;
      if (local && entry.until > net.now()) row(address, "0", entry.mac, iface.name);
    }
  }
  return `Protocol  Address          Age (min)  Hardware Addr   Type   Interface\n${rows.join("")}`;
}

export function showVersion(net: Network, router: Router): string {
  const minutes = Math.floor((net.now() - router.bootedAt) / 60_000);
  return `Practice router with an IOS-like command line (this is a simulation, not Cisco software), version 15.2\n\n` +
    `${router.hostname} uptime is ${minutes} minute${minutes === 1 ? "" : "s"}\n\n` +
    `${router.interfaces.filter((i) => i.socket !== null).length} FastEthernet interfaces\n` +
    `Configuration register is 0x2102\n\n`;
}
