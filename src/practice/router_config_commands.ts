// Configuration commands outside of interfaces: global ones, `router ospf` and `line`.
import { bitsOf, networkOf, parseAddress } from "./address.ts";
import type { StaticRoute } from "./device.ts";
import { findInterface, fullName } from "./interface_name.ts";
import type { OspfProcess } from "./ospf.ts";
import { newInterface } from "./router.ts";
import type { ConfigCommand, ConfigSession } from "./router_config.ts";

function enterInterface(session: ConfigSession, text: string): void {
  const { router } = session;
  let iface = findInterface(router, text);
  const name = fullName(text);
  if (!iface && name?.startsWith("Loopback")) {
    iface = newInterface(name, null, 0);
    router.interfaces.push(iface);
  }
  if (!iface) return session.print("% Invalid interface type and number\n");
  // In a startup configuration a port that is not shut down says nothing about it.
  if (session.method === "NVRAM") iface.shutdown = false;
  session.iface = iface;
  session.mode = "config-if";
}

function removeInterface(session: ConfigSession, text: string): void {
  const iface = findInterface(session.router, text);
  if (iface && iface.socket === null) {
    session.router.interfaces = session.router.interfaces.filter((i) => i !== iface);
  } else session.print("% Removal of physical interfaces is not permitted\n");
}

function enterOspf(session: ConfigSession, id: number): void {
  const { router } = session;
  if (router.ospf && router.ospf.id !== id) {
    return session.print(`% The practice router runs one OSPF process; ${router.ospf.id} is configured\n`);
  }
  router.ospf ??= {
    id,
    routerId: null,
    chosenId: null,
    networks: [],
    passive: new Set(),
    passiveDefault: false,
  };
  session.mode = "config-router";
  session.iface = null;
}

function staticRoute(session: ConfigSession, args: string[]): StaticRoute | null {
  const [network, mask, nextHop, distance = "1"] = args;
  const bits = bitsOf(parseAddress(mask ?? "") ?? -1);
  const address = parseAddress(network ?? "") ?? 0;
  if (bits === null || networkOf(address, bits) !== address) {
    session.print("%Inconsistent address and mask\n");
    return null;
  }
  return { network: address, bits, nextHop: parseAddress(nextHop ?? "") ?? 0, distance: Number(distance) };
}

const sameRoute = (a: StaticRoute, b: StaticRoute) =>
  a.network === b.network && a.bits === b.bits && a.nextHop === b.nextHop;

function addRoute(session: ConfigSession, args: string[]): void {
  const route = staticRoute(session, args);
  if (!route) return;
  session.router.routes = [...session.router.routes.filter((r) => !sameRoute(r, route)), route];
}

function removeRoute(session: ConfigSession, args: string[]): void {
  const route = staticRoute(session, args);
  if (!route) return;
  const left = session.router.routes.filter((r) => !sameRoute(r, route));
  if (left.length === session.router.routes.length) session.print("%No matching route to delete\n");
  session.router.routes = left;
}

function startBanner(session: ConfigSession, text: string): void {
  // A running configuration shows the delimiter as the two characters ^C.
  const delimiter = text.startsWith("^C") ? "^C" : text[0] ?? "#";
  const rest = text.slice(delimiter.length);
  const end = rest.indexOf(delimiter);
  if (end >= 0) {
    session.router.banner = rest.slice(0, end);
    return;
  }
  session.banner = { delimiter, lines: rest ? [rest] : [] };
  if (session.method === "manual") {
    session.print(`Enter TEXT message.  End with the character '${delimiter}'.\n`);
  }
}

const understood = (pattern: string): ConfigCommand => ({ pattern, run: () => {} });

export const GLOBAL_COMMANDS: readonly ConfigCommand[] = [
  { pattern: "hostname <word>", run: ({ router }, [name]) => void (router.hostname = name ?? "Router") },
  { pattern: "no hostname", run: ({ router }) => void (router.hostname = "Router") },
  { pattern: "interface <if>", run: (session, [name]) => enterInterface(session, name ?? "") },
  { pattern: "no interface <if>", run: (session, [name]) => removeInterface(session, name ?? "") },
  { pattern: "router ospf <num>", run: (session, [id]) => enterOspf(session, Number(id)) },
  {
    pattern: "no router ospf <num>",
    run: ({ router }, [id]) => void (router.ospf = router.ospf?.id === Number(id) ? null : router.ospf),
  },
  { pattern: "ip route <addr> <mask> <addr>", run: addRoute },
  { pattern: "ip route <addr> <mask> <addr> <num>", run: addRoute },
  { pattern: "no ip route <addr> <mask> <addr>", run: removeRoute },
  { pattern: "no ip route <addr> <mask> <addr> <num>", run: removeRoute },
  { pattern: "banner motd <line>", run: (session, [text]) => startBanner(session, text ?? "") },
  { pattern: "no banner motd", run: ({ router }) => void (router.banner = "") },
  { pattern: "line console <num>", run: (session) => void (session.mode = "config-line") },
  // Part of every running configuration; the practice router cannot change them.
  understood("version <word>"),
  understood("service timestamps log datetime msec"),
  understood("no ip domain lookup"),
  understood("no ip domain-lookup"),
];

export const LINE_COMMANDS: readonly ConfigCommand[] = [
  understood("exec-timeout <num> <num>"),
  understood("privilege level <num>"),
  understood("logging synchronous"),
];

function onOspf(
  pattern: string,
  run: (process: OspfProcess, args: string[], session: ConfigSession) => void,
): ConfigCommand {
  return {
    pattern,
    run(session, args) {
      if (session.router.ospf) run(session.router.ospf, args, session);
    },
  };
}

function statement(args: string[]) {
  const [network, wildcard, area] = args;
  return {
    network: parseAddress(network ?? "") ?? 0,
    wildcard: parseAddress(wildcard ?? "") ?? 0,
    area: areaNumber(area ?? "0"),
  };
}

function areaNumber(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : parseAddress(text) ?? 0;
}

function setPassive(process: OspfProcess, session: ConfigSession, text: string, passive: boolean): void {
  const iface = findInterface(session.router, text);
  if (!iface) return session.print("% Invalid interface type and number\n");
  if (passive !== process.passiveDefault) process.passive.add(iface.name);
  else process.passive.delete(iface.name);
}

export const OSPF_COMMANDS: readonly ConfigCommand[] = [
  ...["<num>", "<addr>"].flatMap((area) => [
    onOspf(`network <addr> <mask> area ${area}`, (process, args) => {
      const added = statement(args);
      const others = process.networks.filter((n) =>
        n.network !== added.network || n.wildcard !== added.wildcard
      );
      process.networks = [...others, added];
    }),
    onOspf(`no network <addr> <mask> area ${area}`, (process, args) => {
      const gone = statement(args);
      process.networks = process.networks.filter((n) =>
        n.network !== gone.network || n.wildcard !== gone.wildcard || n.area !== gone.area
      );
    }),
  ]),
  onOspf("router-id <addr>", (process, [id], session) => {
    process.routerId = parseAddress(id ?? "");
    if (session.method === "NVRAM" || process.chosenId === null) process.chosenId = null;
    else if (process.chosenId !== process.routerId) {
      session.print(`% OSPF: Reload or use "clear ip ospf process" command, for this to take effect\n`);
    }
  }),
  onOspf("no router-id", (process) => void (process.routerId = null)),
  onOspf("passive-interface default", (process) => {
    process.passiveDefault = true;
    process.passive.clear();
  }),
  onOspf("no passive-interface default", (process) => {
    process.passiveDefault = false;
    process.passive.clear();
  }),
  onOspf(
    "passive-interface <if>",
    (process, [name], session) => setPassive(process, session, name ?? "", true),
  ),
  onOspf(
    "no passive-interface <if>",
    (process, [name], session) => setPassive(process, session, name ?? "", false),
  ),
];
