// What does not end with one answer: notification streams, and consoles over WebSocket.
import type { Exchange } from "../http1.ts";
import { acceptWebSocket } from "../websocket_server.ts";
import { Gns3Error } from "./error.ts";
import { sleep } from "../timing.ts";
import { runningCapture } from "./captures.ts";
import { closeProject } from "./projects.ts";
import { tokenOf } from "./request.ts";
import {
  type Capture,
  type LabProject,
  linkOf,
  listen,
  type Notification,
  projectOf,
  type ServerState,
} from "./state.ts";

const CONSOLE = /^\/v3\/projects\/([^/]+)\/nodes\/([^/]+)\/console\/ws$/;
const CAPTURE = /^\/v3\/projects\/([^/]+)\/links\/([^/]+)\/capture\/stream$/;
const PROJECT_STREAM = /^\/v3\/projects\/([^/]+)\/notifications$/;

export interface StreamTiming {
  /** Milliseconds between two pings. */
  ping: number;
  /** Milliseconds after which a project with `auto_close` is closed when nobody listens to its own stream any more. */
  autoClose: number;
  /** Aborted when the server goes. */
  closing: AbortSignal;
}

/** The id of a console's WebSocket in a path, if it is one. */
export function consolePath(path: string): { projectId: string; nodeId: string } | null {
  const found = CONSOLE.exec(path);
  return found ? { projectId: found[1]!, nodeId: found[2]! } : null;
}

/** The project of a notification stream's path; "" for the controller's, null when it is no such path. */
export function streamPath(path: string): string | null {
  return path === "/v3/notifications" ? "" : PROJECT_STREAM.exec(path)?.[1] ?? null;
}

/** The link of a capture stream's path. */
export function capturePath(path: string): { projectId: string; linkId: string } | null {
  const found = CAPTURE.exec(path);
  return found ? { projectId: found[1]!, linkId: found[2]! } : null;
}

/** Answers a notification stream: JSON lines, a ping at once and then regularly, until the client leaves. */
export async function serveNotifications(
  state: ServerState,
  exchange: Exchange,
  stream: string,
  timing: StreamTiming,
): Promise<void> {
  let project: LabProject | null = null;
  try {
    const user = state.users.authenticate(tokenOf(exchange.headers, exchange.url));
    if (stream) {
      state.users.require(user, "Project.Audit", stream);
      project = projectOf(state, stream);
    }
  } catch (error) {
    if (!(error instanceof Gns3Error)) throw error;
    return await exchange.respond(error.response(state.version));
  }
  const writer = await exchange.begin(200, { "content-type": "application/json" });
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  let sending = Promise.resolve();
  const send = ({ action, event }: Notification) => {
    const line = new TextEncoder().encode(`${JSON.stringify({ action, event })}\n`);
    sending = sending.then(() => writer.write(line)).catch(leave);
  };
  const ping = () =>
    send({ action: "ping", event: { cpu_usage_percent: 1, disk_usage_percent: 1, memory_usage_percent: 1 } });
  const stop = listen(state, stream, send);
  ping();
  const timer = setInterval(ping, timing.ping);
  exchange.signal.addEventListener("abort", () => leave(), { once: true });
  await left;
  clearInterval(timer);
  stop();
  exchange.cut();
  if (!project?.autoClose) return;
  await sleep(timing.autoClose, timing.closing).catch(() => {});
  const watched = state.listeners.get(project.projectId)?.size ?? 0;
  if (!watched && !timing.closing.aborted && state.projects.get(stream) === project) {
    closeProject(state, project);
  }
}

/** Answers a running capture's stream: the file's content so far, then packet by packet until the capture stops. */
export async function serveCapture(
  state: ServerState,
  exchange: Exchange,
  { projectId, linkId }: { projectId: string; linkId: string },
): Promise<void> {
  let capture: Capture;
  try {
    const user = state.users.authenticate(tokenOf(exchange.headers, exchange.url));
    state.users.require(user, "Link.Capture", projectId);
    capture = runningCapture(linkOf(projectOf(state, projectId), linkId));
  } catch (error) {
    if (!(error instanceof Gns3Error)) throw error;
    return await exchange.respond(error.response(state.version));
  }
  const writer = await exchange.begin(200, { "content-type": "application/vnd.tcpdump.pcap" });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let sending = writer.write(Deno.readFileSync(capture.path)).catch(end);
  const reader = {
    packet: (bytes: Uint8Array) => void (sending = sending.then(() => writer.write(bytes)).catch(end)),
    end,
  };
  capture.readers.add(reader);
  exchange.signal.addEventListener("abort", () => end(), { once: true });
  await ended;
  capture.readers.delete(reader);
  await sending;
  if (!exchange.signal.aborted) await writer.end();
}

/**
 * A console over WebSocket: the bytes of its telnet session. As the real server, without a token it refuses the
 * handshake; without the right, or for a node that is off, it completes the handshake and drops the connection.
 */
export async function serveConsole(
  state: ServerState,
  exchange: Exchange,
  { projectId, nodeId }: { projectId: string; nodeId: string },
): Promise<void> {
  // A browser cannot set headers here, so the token comes in the query only.
  const token = exchange.url.searchParams.get("token");
  if (!token) return await exchange.respond(new Response(null, { status: 403 }));
  const socket = await acceptWebSocket(exchange);
  let project: LabProject;
  try {
    const user = state.users.authenticate(token);
    state.users.require(user, "Node.Console", projectId);
    project = projectOf(state, projectId);
  } catch (error) {
    if (!(error instanceof Gns3Error)) throw error;
    if (error.status === 401) {
      const text = `Could not authenticate while connecting to controller WebSocket: ${error.message}`;
      await socket.sendText(JSON.stringify({ action: "log.error", event: { message: text } }));
      return await socket.close(1008);
    }
    return socket.drop();
  }
  const attachment = project.consoles.of(nodeId)?.attach({
    write: (bytes) => socket.send(bytes),
    close: () => socket.drop(),
  });
  if (!attachment) return socket.drop();
  try {
    for await (const bytes of socket.messages()) attachment.receive(bytes);
  } finally {
    attachment.detach();
  }
}
