// What the practice GNS3 server keeps: its projects, their nodes and links, and who listens to its notifications.
import type { LabConsoles } from "../lab_consoles.ts";
import type { Network } from "../network.ts";
import type { Timing } from "../timing.ts";
import type { Gns3Version } from "./error.ts";
import { notFound } from "./error.ts";
import type { Template } from "./templates.ts";
import type { Users } from "./users.ts";

/** What GNS3 knows about a node beside the device itself. */
export interface LabNode {
  nodeId: string;
  nodeType: "vpcs" | "dynamips" | "ethernet_switch";
  template: Template | null;
  x: number;
  y: number;
  z: number;
  symbol: string;
  locked: boolean;
  tags: string[];
  label: Record<string, unknown>;
  netmikoDeviceType: string | null;
  username: string | null;
  password: string | null;
}

export interface LabDrawing {
  drawing_id: string;
  project_id: string;
  x: number;
  y: number;
  z: number;
  locked: boolean;
  rotation: number;
  svg: string;
}

/** What GNS3 knows about a link beside the cable. */
export interface LabLink {
  linkId: string;
  labels: [Record<string, unknown>, Record<string, unknown>];
  style: Record<string, unknown>;
  capture: Capture | null;
}

/** A capture, running or finished, with those who follow it. */
export interface Capture {
  name: string;
  path: string;
  active: boolean;
  readers: Set<{ packet(bytes: Uint8Array): void; end(): void }>;
}

export interface LabProject {
  projectId: string;
  name: string;
  path: string;
  status: "opened" | "closed";
  autoClose: boolean;
  autoOpen: boolean;
  autoStart: boolean;
  createdBy: string;
  sceneWidth: number;
  sceneHeight: number;
  variables: unknown;
  net: Network;
  consoles: LabConsoles;
  nodes: Map<string, LabNode>;
  links: Map<string, LabLink>;
  drawings: Map<string, LabDrawing>;
  snapshots: Map<string, LabSnapshot>;
  /** Numbers hardware addresses. */
  made: number;
}

export interface LabSnapshot {
  snapshot_id: string;
  name: string;
  createdAt: number;
  image: unknown;
  files: { path: string; bytes: Uint8Array }[];
}

export interface Notification {
  action: string;
  event: Record<string, unknown>;
}

export interface ServerState {
  version: Gns3Version;
  users: Users;
  projectsDir: string;
  projects: Map<string, LabProject>;
  templates: Template[];
  timing: Timing;
  logMessages: boolean;
  now(): number;
  /** Listeners of the controller's stream under "", of a project's own stream under its id. */
  listeners: Map<string, Set<(notification: Notification) => void>>;
}

export function projectOf(state: ServerState, id: string): LabProject {
  const project = state.projects.get(id);
  if (!project) throw notFound("project", id);
  return project;
}

export function nodeOf(project: LabProject, id: string): LabNode {
  const node = project.nodes.get(id);
  if (!node) throw notFound("node", id);
  return node;
}

export function linkOf(project: LabProject, id: string): LabLink {
  const link = project.links.get(id);
  if (!link) throw notFound("link", id);
  return link;
}

/** Tells the listeners of a stream; `stream` is a project's id or "" for the controller's. */
export function publish(
  state: ServerState,
  stream: string,
  action: string,
  event: Record<string, unknown>,
): void {
  for (const listener of state.listeners.get(stream) ?? []) listener({ action, event });
}

/** Adds a listener; the answer takes it away again. */
export function listen(
  state: ServerState,
  stream: string,
  listener: (notification: Notification) => void,
): () => void {
  const set = state.listeners.get(stream) ?? new Set();
  state.listeners.set(stream, set);
  set.add(listener);
  return () => set.delete(listener);
}
