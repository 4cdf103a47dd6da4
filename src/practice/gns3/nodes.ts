// Nodes of a practice project: made, renamed, removed, and their startup files.
import type { Device } from "../device.ts";
import { addDevice, cablesOf, removeDevice } from "../network.ts";
import { baseScript, createPc, renamedScript } from "../pc.ts";
import { baseConfig, createRouter } from "../router.ts";
import { conflict, Gns3Error } from "./error.ts";
import { removeLink } from "./links.ts";
import { nodeDirectory, nodeJson } from "./render.ts";
import { type LabNode, type LabProject, publish, type ServerState } from "./state.ts";
import type { Template } from "./templates.ts";

/** A node to be; `startup` left out means the template's, or none without a template. */
export interface NewNode {
  nodeId?: string;
  name: string;
  nodeType: LabNode["nodeType"];
  template: Template | null;
  x: number;
  y: number;
  z?: number;
  startup?: string;
  tags?: string[];
  symbol?: string;
  label?: Record<string, unknown>;
}

const SWITCH_PORTS = 8;

/** Adds a node, stopped; a switch is always on. */
export function addNode(state: ServerState, project: LabProject, wanted: NewNode): LabNode {
  const nodeId = wanted.nodeId ?? crypto.randomUUID();
  if (project.nodes.has(nodeId)) throw conflict(`Node ID ${nodeId} already exists`);
  const name = freeName(project, wanted.name);
  const { template } = wanted;
  const node: LabNode = {
    nodeId,
    nodeType: wanted.nodeType,
    template,
    x: wanted.x,
    y: wanted.y,
    z: wanted.z ?? 1,
    symbol: wanted.symbol ?? template?.symbol ?? ":/symbols/computer.svg",
    locked: false,
    tags: wanted.tags ?? [...(template?.tags ?? [])],
    label: wanted.label ?? { text: name, style: null, x: null, y: -40, rotation: 0 },
    netmikoDeviceType: template?.tags[0]?.replace("device_type:", "") ?? null,
    username: null,
    password: null,
  };
  project.nodes.set(nodeId, node);
  addDevice(project.net, makeDevice(project, node, name, wanted.startup));
  publish(state, project.projectId, "node.created", nodeJson(state, project, node));
  return node;
}

function makeDevice(project: LabProject, node: LabNode, name: string, startup: string | undefined): Device {
  const number = ++project.made;
  // GNS3 fills the node's name in where a template or script says %h.
  const given = startup?.replaceAll("%h", name);
  if (node.nodeType === "vpcs") {
    return createPc(node.nodeId, name, number, given ?? (node.template ? baseScript(name) : null));
  }
  if (node.nodeType === "dynamips") {
    return createRouter(node.nodeId, name, number, given ?? (node.template ? baseConfig(name) : ""));
  }
  const sockets = Array.from({ length: SWITCH_PORTS }, (_, port) => ({
    name: `Ethernet${port}`,
    shortName: `e${port}`,
    adapter: 0,
    port,
  }));
  return { kind: "switch", id: node.nodeId, name, power: "started", sockets, boots: 1 };
}

/** The name as GNS3 takes it: spaces go, `{0}` and a name that is taken get the first free number. */
export function freeName(project: LabProject, wanted: string, own?: string): string {
  const taken = new Set([...project.net.devices.values()].filter((d) => d.id !== own).map((d) => d.name));
  const plain = wanted.replaceAll(/\s/g, "");
  if (!plain.includes("{0}") && !taken.has(plain)) return plain;
  const format = plain.includes("{0}") ? plain : `${plain.replace(/\d+$/, "")}{0}`;
  for (let number = 1;; number++) {
    const name = format.replace("{0}", String(number));
    if (!taken.has(name)) return name;
  }
}

/** Renames a node and, in its startup file, the device. Throws 409 while it runs. */
export function renameNode(project: LabProject, node: LabNode, wanted: string): void {
  const device = project.net.devices.get(node.nodeId)!;
  if (device.kind !== "switch" && device.power !== "stopped") {
    throw conflict("Sorry, it is not possible to rename a node that is already powered on");
  }
  const name = freeName(project, wanted, node.nodeId);
  if (device.kind === "pc" && device.startup !== null) device.startup = renamedScript(device.startup, name);
  if (device.kind === "router") device.startup = device.startup.replace(/^hostname .*$/m, `hostname ${name}`);
  if (node.label.text === device.name) node.label = { ...node.label, text: name };
  device.name = name;
}

/** Removes a node with its links. Throws 409 when it is locked. */
export function removeNode(state: ServerState, project: LabProject, node: LabNode): void {
  const device = project.net.devices.get(node.nodeId)!;
  if (node.locked) throw conflict(`Node ${device.name} cannot be deleted because it is locked`);
  for (const cable of cablesOf(project.net, node.nodeId)) {
    removeLink(state, project, project.links.get(cable.id)!);
  }
  const event = {
    command_line: "",
    console: null,
    console_type: device.kind === "switch" ? "none" : "telnet",
    name: device.name,
    node_directory: nodeDirectory(project, node),
    node_id: node.nodeId,
    project_id: project.projectId,
    status: "stopped",
  };
  removeDevice(project.net, node.nodeId);
  project.nodes.delete(node.nodeId);
  publish(state, project.projectId, "node.deleted", event);
}

/** The names under which a node's startup file can be read and written. */
function startupNames(device: Device): string[] {
  if (device.kind === "pc") return ["startup.vpc"];
  return device.kind === "router" ? ["startup-config.cfg", "configs/i1_startup-config.cfg"] : [];
}

/** The files of a node; a startup file is read at the next start or reload. */
export function filesOf(device: Device): { path: string; text: string }[] {
  const [path] = startupNames(device);
  if (!path || device.kind === "switch" || !device.startup) return [];
  return [{ path, text: device.startup }];
}

export function readFile(device: Device, path: string): string {
  const known = startupNames(device).includes(path) && device.kind !== "switch" ? device.startup : null;
  if (!known) throw new Gns3Error(404, `File '${path}' not found on node '${device.name}'`, "not_found");
  return known;
}

export function writeFile(device: Device, path: string, text: string): void {
  if (!startupNames(device).includes(path) || device.kind === "switch") {
    throw conflict(`The practice lab keeps no file '${path}' of ${device.name}, only its startup file`);
  }
  device.startup = text.replaceAll("%h", device.name);
}
