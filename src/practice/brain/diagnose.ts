// Why a ping fails, from the physical to the logical: nodes, links, addresses, routers, and what the ping itself said.
// Every sentence rests on something that a tool returned.
import {
  islandOf,
  isPc,
  isRouter,
  type LabView,
  linksOf,
  linkText,
  nodesOnWay,
  sides,
  type ViewLink,
  type ViewNode,
  wayBetween,
} from "./lab_view.ts";
import { inSubnet, type PcSettings, type PingOutcome, settingsOf } from "./pc_facts.ts";
import type { Ends } from "./reach.ts";
import { hasRoute, type RouterFacts, routerFacts, samePort } from "./router_facts.ts";
import type { Situation } from "./thought.ts";

/** All causes that show, most physical first. */
export function findings(situation: Situation, lab: LabView, ends: Ends, ping: PingOutcome | null): string[] {
  const way = ends.to ? wayBetween(lab, ends.from.name, ends.to.name) : [];
  const wrong = addresses(situation, lab, ends, way ?? []);
  const found = [
    ...stopped(lab, ends, way),
    ...cables(lab, ends, way),
    ...refusedTools(situation, ends),
    ...wrong,
    ...routers(situation, lab, ends, way ?? []),
  ];
  const near = wrong.length > 0 || !isFirstHopWell(lab, ends.from.name);
  const said = ping ? fromPing(ends, ping, { near, anywhere: found.length > 0 }) : [];
  return [...found, ...said];
}

/** True when a started node is at the other end of a link that carries. */
function isFirstHopWell(lab: LabView, name: string): boolean {
  return linksOf(lab, name).some((link) => {
    const { there } = sides(link, name);
    return !link.suspended && lab.nodes.some((node) => node.name === there.node && node.status === "started");
  });
}

function stopped(lab: LabView, { from, to }: Ends, way: ViewLink[] | null): string[] {
  const names = new Set([from.name, ...(to ? [to.name] : []), ...(way ? nodesOnWay(way, from.name) : [])]);
  return lab.nodes.filter((node) => names.has(node.name) && node.status !== "started").map((
    { name, status, type },
  ) => `${name} (${type}) is ${status}: start it.`);
}

function cables(lab: LabView, { from, to }: Ends, way: ViewLink[] | null): string[] {
  if (linksOf(lab, from.name).length === 0) return [`${from.name} has no link at all: its cable is missing.`];
  if (!to) return [];
  if (linksOf(lab, to.name).length === 0) return [`${to.name} has no link at all: its cable is missing.`];
  if (way === null) return [missingLink(lab, from.name, to.name)];
  return way.flatMap((link) => [
    ...(link.suspended ? [`The link ${linkText(link)} is suspended: it carries nothing.`] : []),
    ...(link.filters ? [`The link ${linkText(link)} has packet filters: ${link.filters}.`] : []),
  ]);
}

function missingLink(lab: LabView, from: string, to: string): string {
  const [here, there] = [islandOf(lab, from), islandOf(lab, to)];
  const joins = (names: string[]) =>
    lab.nodes.filter((node) => names.includes(node.name) && !isPc(node)).map((n) => n.name);
  const [a, b] = [joins(here), joins(there)];
  const where = a.length === 1 && b.length === 1 ? ` The link between ${a[0]} and ${b[0]} is missing.` : "";
  return `There is no way by cable: ${here.join(", ")} hang together, and ${
    there.join(", ")
  }, but no link joins the two.${where}`;
}

function refusedTools(situation: Situation, { from, to }: Ends): string[] {
  return [from, to].flatMap((node) => {
    if (!node || node.status !== "started") return [];
    const failed = (situation.outputs.get(node.name) ?? []).find((one) => one.command === "" && one.error);
    return failed ? [`I could not use the console of ${node.name}: ${failed.error}`] : [];
  });
}

interface Gateway {
  router: string;
  port: string;
  address: string;
}

/** The router port at the other end of a PC's cable, as far as the router told its address. */
function gatewayAt(situation: Situation, lab: LabView, pc: string): Gateway | null {
  for (const link of linksOf(lab, pc)) {
    const { there } = sides(link, pc);
    const node = lab.nodes.find((one) => one.name === there.node);
    if (!node || !isRouter(node)) continue;
    const ports = routerFacts(situation.outputs.get(node.name) ?? []).ports;
    const port = ports?.find((one) => samePort(one.name, there.port));
    if (port?.address) return { router: node.name, port: port.name, address: port.address };
  }
  return null;
}

function addresses(situation: Situation, lab: LabView, { from, to, given }: Ends, way: ViewLink[]): string[] {
  const settings = (node: ViewNode | null) =>
    node && isPc(node) ? settingsOf(situation.outputs.get(node.name) ?? []) : null;
  const [mine, theirs] = [settings(from), settings(to)];
  const target = given || theirs?.address || "";
  const source = mine?.address ?? "";
  const found = [
    ...(mine ? ofPc(from.name, mine, target, gatewayAt(situation, lab, from.name)) : []),
    ...(to && theirs ? ofPc(to.name, theirs, source, gatewayAt(situation, lab, to.name)) : []),
  ];
  const routed = nodesOnWay(way, from.name).some((name) =>
    isRouter(lab.nodes.find((node) => node.name === name)!)
  );
  if (
    mine && theirs && to && source && target && routed && inSubnet(mine, target) && inSubnet(theirs, source)
  ) {
    found.push(
      `${from.name} (${source}/${mine.bits}) and ${to.name} (${target}/${theirs.bits}) think that they are in one subnet, ` +
        "but a router lies between them.",
    );
  }
  return found;
}

function ofPc(
  name: string,
  { address, bits, gateway }: PcSettings,
  other: string,
  port: Gateway | null,
): string[] {
  if (!address) return [`${name} has no IP address.`];
  const own = { address, bits };
  const found: string[] = [];
  const needsGateway = other !== "" && !inSubnet(own, other);
  if (port && !inSubnet(own, port.address)) {
    found.push(
      `${name} is ${address}/${bits}, but ${port.router} has ${port.address} on ${port.port}: not the same subnet.`,
    );
  }
  if (needsGateway && !gateway) {
    found.push(`${name} (${address}/${bits}) has no gateway, but ${other} is outside its subnet.`);
  }
  if (gateway && port && gateway !== port.address && inSubnet(own, port.address)) {
    found.push(
      `${name} uses the gateway ${gateway}, but ${port.router} has ${port.address} on ${port.port}: wrong gateway.`,
    );
  }
  return found;
}

function routers(situation: Situation, lab: LabView, { from, to, given }: Ends, way: ViewLink[]): string[] {
  const factsOf = (name: string): RouterFacts => routerFacts(situation.outputs.get(name) ?? []);
  const isStarted = (name: string) =>
    lab.nodes.some((n) => n.name === name && isRouter(n) && n.status === "started");
  const found: string[] = [];
  for (const link of way) {
    for (const end of link.ends) {
      const port = factsOf(end.node).ports?.find((one) => samePort(one.name, end.port));
      if (port?.status === "administratively down") found.push(`${end.node} ${end.port} is shut down.`);
      else if (port && !port.address) found.push(`${end.node} ${end.port} has no IP address.`);
    }
    const [a, b] = link.ends;
    if (link.suspended || !isStarted(a.node) || !isStarted(b.node)) continue;
    for (const [here, there] of [[a, b], [b, a]] as const) {
      const { neighbours } = factsOf(here.node);
      if (neighbours && !neighbours.some((one) => samePort(one.port, here.port))) {
        found.push(`${here.node} has no OSPF neighbour on ${here.port}, where ${there.node} is.`);
      }
    }
  }
  const pcAddress = (node: ViewNode | null) =>
    node && isPc(node) ? settingsOf(situation.outputs.get(node.name) ?? [])?.address ?? "" : "";
  const wanted = [[to?.name ?? given, given || pcAddress(to)], [from.name, pcAddress(from)]] as const;
  for (const router of nodesOnWay(way, from.name).filter(isStarted)) {
    const { routes } = factsOf(router);
    for (const [name, address] of wanted) {
      if (routes && address && !hasRoute(routes, address)) {
        found.push(`${router} has no route to ${address} (${name}).`);
      }
    }
  }
  return found;
}

function fromPing(
  { from }: Ends,
  ping: PingOutcome,
  explained: { near: boolean; anywhere: boolean },
): string[] {
  if (ping.replies === ping.sent && ping.replies > 0) return [];
  if (ping.noGateway) return [`${from.name} has no gateway for ${ping.target}.`];
  if (ping.notReachable) {
    const what = ping.notReachable === ping.target ? "the target itself" : "its gateway";
    return [
      `Nobody answers ARP for ${ping.notReachable}, ${what}${
        explained.near
          ? "."
          : ": the address is wrong, or the device that has it is off or not on this cable."
      }`,
    ];
  }
  if (ping.refusedBy) {
    return [`${ping.refusedBy} answers "${ping.reason}": that router has no route to ${ping.target}.`];
  }
  if (ping.timeouts && !explained.anywhere) {
    return [
      `${ping.timeouts} packets got no answer: they are lost on the way there, or the answers on the way back.`,
    ];
  }
  return [];
}
