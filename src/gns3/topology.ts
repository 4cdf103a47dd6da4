// A lab as the prompt and the tools show it to the model: short JSON with names instead of ids wherever names do.
import type { Link, Node, Port, Topology } from "../domain/project.ts";

/** A whole lab. Ports stand by name; `free_ports` lists what no link uses. */
export interface TopologyView {
  nodes: NodeView[];
  links: LinkView[];
}

export interface NodeView {
  name: string;
  node_id: string;
  type: string;
  status: string;
  x: number;
  y: number;
  console?: string;
  tags?: string[];
  free_ports: string[];
}

export interface LinkView {
  link_id: string;
  /** `PC1 Ethernet0`: a node's name and its port's. */
  from: string;
  to: string;
  suspended?: true;
  capturing?: true;
  filters?: Record<string, unknown>;
}

/** A large lab in outline: `R1 (qemu, started)` and `R1 - SW1`. */
export interface TopologyOutline {
  nodes: string[];
  links: string[];
  note: string;
}

const MOST_FREE_PORTS = 16;

/** Everything that is worth knowing about a lab. */
export function viewOf(topology: Topology): TopologyView {
  const used = usedPorts(topology.links);
  return {
    nodes: topology.nodes.map((node) => nodeView(node, used)),
    links: topology.links.map((link) => linkView(link, topology.nodes)),
  };
}

/** Names, types, status and links only. */
export function outlineOf(topology: Topology): TopologyOutline {
  const name = namesOf(topology.nodes);
  return {
    nodes: topology.nodes.map((node) => `${node.name} (${node.node_type}, ${node.status})`),
    links: topology.links.map((link) => link.nodes.map((end) => name.get(end.node_id) ?? "?").join(" - ")),
    note: "Outline of a large lab: gns3_topology_reader tells ids, positions and ports.",
  };
}

/** `node_id adapter/port` of every port that a link uses. */
export function usedPorts(links: Link[]): Map<string, Link> {
  return new Map(
    links.flatMap((link) => link.nodes.map((end) => [portKey(end.node_id, end), link] as const)),
  );
}

/** A port's identity in the whole lab. */
export function portKey(
  nodeId: string,
  port: { adapter_number: number; port_number: number },
): string {
  return `${nodeId} ${port.adapter_number}/${port.port_number}`;
}

/** The names of the ports of `node` that no link uses. */
export function freePorts(node: Node, used: Map<string, Link>): string[] {
  return node.ports.filter((port) => !used.has(portKey(node.node_id, port))).map((port) => port.name);
}

/** `PC1 Ethernet0 - SW1 Ethernet3`. */
export function describeLink(link: Link, nodes: Node[]): string {
  return link.nodes.map((end) => endName(end, nodes)).join(" - ");
}

function nodeView(node: Node, used: Map<string, Link>): NodeView {
  const free = freePorts(node, used);
  const shown = free.slice(0, MOST_FREE_PORTS);
  if (free.length > shown.length) shown.push(`and ${free.length - shown.length} more`);
  return {
    name: node.name,
    node_id: node.node_id,
    type: node.node_type,
    status: node.status,
    x: node.x,
    y: node.y,
    ...(node.console_type && node.console_type !== "telnet" ? { console: node.console_type } : {}),
    ...(node.tags.length ? { tags: node.tags } : {}),
    free_ports: shown,
  };
}

function linkView(link: Link, nodes: Node[]): LinkView {
  const [from, to] = link.nodes.map((end) => endName(end, nodes));
  return {
    link_id: link.link_id,
    from: from ?? "?",
    to: to ?? "?",
    ...(link.suspend ? { suspended: true as const } : {}),
    ...(link.capturing ? { capturing: true as const } : {}),
    ...(Object.keys(link.filters).length ? { filters: link.filters } : {}),
  };
}

function endName(end: Link["nodes"][number], nodes: Node[]): string {
  const node = nodes.find((one) => one.node_id === end.node_id);
  const port = node?.ports.find((one) => samePort(one, end));
  return `${node?.name ?? "?"} ${port?.name ?? `${end.adapter_number}/${end.port_number}`}`;
}

function samePort(port: Port, end: { adapter_number: number; port_number: number }): boolean {
  return port.adapter_number === end.adapter_number && port.port_number === end.port_number;
}

function namesOf(nodes: Node[]): Map<string, string> {
  return new Map(nodes.map((node) => [node.node_id, node.name]));
}
