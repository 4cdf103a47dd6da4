// The lab as the topology tool described it, and the ways through it.
import { asList, asObject, asText, type SeenCall } from "./evidence.ts";

export interface ViewNode {
  name: string;
  id: string;
  type: string;
  status: string;
  freePorts: string[];
}

export interface ViewEnd {
  node: string;
  port: string;
}

export interface ViewLink {
  id: string;
  ends: [ViewEnd, ViewEnd];
  suspended: boolean;
  filters: string;
}

export interface LabView {
  nodes: ViewNode[];
  links: ViewLink[];
}

/** The newest topology among the results, or null. */
export function labOf(calls: SeenCall[]): LabView | null {
  const call = calls.findLast(({ name, value }) =>
    name === "gns3_topology_reader" && Array.isArray(asObject(value).nodes)
  );
  if (!call) return null;
  const { nodes, links } = asObject(call.value);
  return {
    nodes: asList(nodes).map((node) => ({
      name: asText(node.name),
      id: asText(node.node_id),
      type: asText(node.type),
      status: asText(node.status),
      freePorts: Array.isArray(node.free_ports) ? node.free_ports.map(String) : [],
    })),
    links: asList(links).map((link) => ({
      id: asText(link.link_id),
      ends: [endOf(asText(link.from)), endOf(asText(link.to))],
      suspended: link.suspended === true,
      filters: link.filters === undefined ? "" : JSON.stringify(link.filters),
    })),
  };
}

/** `PC1 Ethernet0`: the name of a node, then that of its port. */
function endOf(text: string): ViewEnd {
  const space = text.lastIndexOf(" ");
  return space < 0 ? { node: text, port: "" } : { node: text.slice(0, space), port: text.slice(space + 1) };
}

export function nodeNamed(lab: LabView, name: string): ViewNode | undefined {
  return lab.nodes.find((node) => node.name.toLowerCase() === name.toLowerCase());
}

export const isPc = (node: ViewNode) => node.type === "vpcs";
export const isRouter = (node: ViewNode) => ["dynamips", "iou", "qemu", "docker"].includes(node.type);

export function linksOf(lab: LabView, name: string): ViewLink[] {
  return lab.links.filter((link) => link.ends.some((end) => end.node === name));
}

/** The end of a link at a node, and the one that is not there. */
export function sides(link: ViewLink, name: string): { here: ViewEnd; there: ViewEnd } {
  const [a, b] = link.ends;
  return a.node === name ? { here: a, there: b } : { here: b, there: a };
}

/** `R1 FastEthernet0/1 – R2 FastEthernet0/1` */
export function linkText(link: ViewLink): string {
  return link.ends.map((end) => `${end.node} ${end.port}`).join(" – ");
}

/** The links from one node to another on a shortest way, or null. A way without suspended links is preferred. */
export function wayBetween(lab: LabView, from: string, to: string): ViewLink[] | null {
  return search({ ...lab, links: lab.links.filter((link) => !link.suspended) }, from, to) ??
    search(lab, from, to);
}

function search(lab: LabView, from: string, to: string): ViewLink[] | null {
  const ways = new Map<string, ViewLink[]>([[from, []]]);
  const open = [from];
  for (let here = open.shift(); here !== undefined; here = open.shift()) {
    if (here === to) return ways.get(here)!;
    for (const link of linksOf(lab, here)) {
      const next = sides(link, here).there.node;
      if (ways.has(next)) continue;
      ways.set(next, [...ways.get(here)!, link]);
      open.push(next);
    }
  }
  return null;
}

/** Everything that hangs together with a node by links, suspended ones included. */
export function islandOf(lab: LabView, name: string): string[] {
  return lab.nodes.map((node) => node.name).filter((other) =>
    other === name || search(lab, name, other) !== null
  );
}

/** The nodes on a way, in order, without its start. */
export function nodesOnWay(way: ViewLink[], from: string): string[] {
  let here = from;
  return way.map((link) => here = sides(link, here).there.node);
}

/** The node names of a text, in the order in which they stand there. */
export function namesIn(lab: LabView, text: string): string[] {
  const found: { name: string; at: number }[] = [];
  for (const { name } of lab.nodes) {
    const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const at = text.search(new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, "i"));
    if (at >= 0) found.push({ name, at });
  }
  return found.sort((a, b) => a.at - b.at).map(({ name }) => name);
}
