// From a node to an open console: who has none, where it listens, and what a refused or dropped connection means.
import { AppError } from "../domain/error.ts";
import type { Node } from "../domain/project.ts";
import { PROOF_MS, provenInTime } from "./proof.ts";
import { connectTelnet } from "./telnet.ts";
import { sleep } from "./timing.ts";
import { ConsoleDropped, openWebSocket, type Transport } from "./transport.ts";

/** What is needed of the GNS3 client, bound to the caller: GNS3 decides who may open a console. */
export interface ConsoleAccess {
  /** The server's address without path or credential. */
  readonly origin: string;
  version(): Promise<string>;
  node(projectId: string, nodeId: string, signal?: AbortSignal): Promise<Node>;
  templates(signal?: AbortSignal): Promise<{ template_id: string; name: string; tags: string[] }[]>;
  /** What the console is logged in with, where GNS3 has it: never shown, never logged. */
  credentials(
    projectId: string,
    nodeId: string,
    signal?: AbortSignal,
  ): Promise<{ username: string; password: string } | undefined>;
  computes(signal?: AbortSignal): Promise<{ compute_id: string; host: string }[]>;
  /** Holds the credential: never shown, never logged. */
  consoleUrl(projectId: string, nodeId: string): string;
}

export type ConsoleTransport = "websocket" | "telnet";

export interface ReachOptions {
  transport: ConsoleTransport;
  connectMs: number;
  signal: AbortSignal;
  /** How long the caller's right counts as proven, in milliseconds; then GNS3 is asked again before anything is typed. */
  proofMs?: number;
}

const NO_CONSOLE = new Set([
  "ethernet_switch",
  "ethernet_hub",
  "cloud",
  "nat",
  "frame_relay_switch",
  "atm_switch",
]);
const TEXT_CONSOLES: Record<ConsoleTransport, string[]> = {
  websocket: ["telnet", "ssh", "docker_exec"],
  telnet: ["telnet"],
};
const FIRST_PAUSE_MS = 250;

/** Throws `conflict` that says why `node` has no console that can be used now. */
export function requireConsole(node: Node, transport: ConsoleTransport = "websocket"): void {
  const type = node.console_type ?? "none";
  const refuse = (why: string) => new AppError("conflict", `${node.name} ${why}`);
  if (NO_CONSOLE.has(node.node_type)) throw refuse(`has no console: its type is ${node.node_type}.`);
  if (type === "none") throw refuse("has no console.");
  if (type === "vnc" || type.startsWith("spice")) {
    throw refuse(`has a graphical console (${type}), which cannot be read as text.`);
  }
  if (type.startsWith("http")) throw refuse(`has a web page (${type}) as its console, not a text console.`);
  if (!TEXT_CONSOLES[transport].includes(type)) {
    throw refuse(`has a console of type ${type}, which is not supported.`);
  }
  if (transport === "telnet" && !node.console) throw refuse("has no console port.");
  if (node.status !== "started") throw refuse(`is ${node.status}: start it first (start_gns3_node).`);
}

/**
 * An open console of `node`, telnet still inside. A node that has just started is tried again with growing pauses.
 * Throws `forbidden` (the caller lacks the right Node.Console), `unauthorized`, `conflict` (stopped), `unavailable`.
 */
export async function openConsole(
  access: ConsoleAccess,
  projectId: string,
  node: Node,
  options: ReachOptions,
): Promise<Transport> {
  const transport = await reach(access, projectId, node, options);
  const prove = async () => {
    const again = await reach(access, projectId, node, { ...options, transport: "websocket" });
    await again.close();
  };
  return provenInTime(transport, prove, options.proofMs ?? PROOF_MS);
}

async function reach(
  access: ConsoleAccess,
  projectId: string,
  node: Node,
  options: ReachOptions,
): Promise<Transport> {
  requireConsole(node, options.transport);
  const deadline = performance.now() + options.connectMs;
  const commands = !(await access.version()).startsWith("3.0");
  let unclean = 0;
  for (let pause = FIRST_PAUSE_MS;; pause *= 2) {
    try {
      return await attempt(access, projectId, node, commands, deadline, options);
    } catch (error) {
      if (!(error instanceof ConsoleDropped)) throw error;
      if (error.closeCode === 1008) throw signInRefused();
      node = await access.node(projectId, node.node_id, options.signal);
      requireConsole(node, options.transport);
      // GNS3 drops a caller without the right so; 3.0 also does when the device's own port is not open yet.
      if (error.opened && error.closeCode !== 1000 && ++unclean > 1) throw noRight(node);
      if (performance.now() + pause > deadline) throw notListening(node);
      await sleep(pause, options.signal);
    }
  }
}

async function attempt(
  access: ConsoleAccess,
  projectId: string,
  node: Node,
  commands: boolean,
  deadline: number,
  options: ReachOptions,
): Promise<Transport> {
  const open = { signal: options.signal, limitMs: Math.max(500, deadline - performance.now()) };
  const socket = await openWebSocket(access.consoleUrl(projectId, node.node_id), { ...open, commands });
  if (options.transport === "websocket") return socket;
  // The telnet port asks nobody: that GNS3 accepted the WebSocket is the proof of the caller's right.
  await socket.close();
  const host = await consoleHost(access, node, options.signal);
  return await connectTelnet(host, node.console ?? 0, open);
}

/** Where a node's console port is from here: wildcard and local addresses mean the machine that runs the node. */
export async function consoleHost(access: ConsoleAccess, node: Node, signal: AbortSignal): Promise<string> {
  const controller = bare(new URL(access.origin).hostname);
  const host = bare(node.console_host ?? "");
  const local = !node.compute_id || node.compute_id === "local";
  if (!isWildcard(host) && !isLoopback(host)) return host;
  if (!local) {
    // A caller without the right to list computes still has the controller's address.
    const computes = await access.computes(signal).catch(() => []);
    const compute = bare(computes.find(({ compute_id }) => compute_id === node.compute_id)?.host ?? "");
    if (compute && !isWildcard(compute)) return compute;
  }
  return isLoopback(host) && isLoopback(controller) ? host : controller;
}

const bare = (host: string) => host.replace(/^\[|\]$/g, "");
const isWildcard = (host: string) => ["", "0.0.0.0", "::", "0:0:0:0:0:0:0:0"].includes(host);
const isLoopback = (host: string) => host === "localhost" || host === "::1" || host.startsWith("127.");

function noRight(node: Node): AppError {
  return new AppError(
    "forbidden",
    `GNS3 does not let you use the console of ${node.name}: the privilege Node.Console is needed. ` +
      "An administrator can give it.",
  );
}

function signInRefused(): AppError {
  return new AppError(
    "unauthorized",
    "GNS3 does not accept this sign-in for consoles: sign in again (GNS3 takes no API keys there).",
  );
}

function notListening(node: Node): AppError {
  return new AppError(
    "unavailable",
    `The console of ${node.name} accepts no connection although the node is started: wait until it has booted, ` +
      "or reset its console.",
    { retryAfter: 5 },
  );
}
