// A WebSocket passed on to GNS3, message by message: consoles and notifications of its Web UI.
/// <reference lib="deno.unstable" />
import { AppError } from "../../domain/error.ts";
import { joinSignals } from "../../domain/signals.ts";
import { type Origin, requestHeaders } from "./headers.ts";
import { targetOf } from "./http.ts";

/** GNS3 is not read from while the client has not taken this much. */
const HIGH_WATER = 1_000_000;
/** A client that sends this much more than GNS3 takes is cut off. */
const MOST_PENDING = 16_000_000;
const DRAIN_POLL_MS = 20;
/** How long the client's side may take to open once GNS3's is: Deno never says so when the client goes right then. */
const OPEN_MS = 5000;

/** The handshake's own headers are made anew for each connection. */
const HANDSHAKE = /^(sec-websocket-|host$|content-length$)/;

/** As the standard and Deno have it (websockets.spec.whatwg.org); Deno's type declarations call the first one `code`. */
interface CloseInfo {
  closeCode?: number;
  reason?: string;
}

/** Whether the request asks for a WebSocket. What only names one, without asking to change the protocol, is plain HTTP. */
export function isWebSocket({ method, headers }: Request): boolean {
  const has = (name: string, token: string) =>
    (headers.get(name) ?? "").toLowerCase().split(",").some((part) => part.trim() === token);
  return method === "GET" && has("upgrade", "websocket") && has("connection", "upgrade");
}

/** Throws `bad_request` for a handshake that nobody could accept, before GNS3 is connected to. */
function checkHandshake(headers: Headers): void {
  const version = headers.get("sec-websocket-version");
  const key = headers.get("sec-websocket-key") ?? "";
  if (version === "13" && /^[A-Za-z0-9+/]{22}==$/.test(key)) return;
  throw new AppError(
    "bad_request",
    "This is no WebSocket handshake: it needs the headers Sec-WebSocket-Version: 13 and Sec-WebSocket-Key. " +
      "Does a proxy in between leave them out?",
  );
}

/**
 * Connects to GNS3 first, so that the client gets what GNS3 says to the handshake: the subprotocol it chose, or its
 * refusal. Text stays text and binary stays binary; close codes and reasons pass both ways where a close may carry them.
 * Whatever goes wrong on either side, nothing stays open on the other. Throws `bad_request` for what is no handshake, what
 * GNS3 refuses with, `unavailable`, or the reason of `signal` or of the request's.
 */
export async function forwardWebSocket(
  request: Request,
  base: URL,
  origin: Origin,
  signal: AbortSignal,
): Promise<Response> {
  checkHandshake(request.headers);
  const url = targetOf(base, request.url);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const protocols = (request.headers.get("sec-websocket-protocol") ?? "").split(",").map((name) =>
    name.trim()
  );
  const headers = Object.entries(requestHeaders(request.headers, origin))
    .filter(([name]) => !HANDSHAKE.test(name)) as [string, string][];
  signal.throwIfAborted();
  request.signal.throwIfAborted();
  const { upstream, opened } = await connect(url, headers, protocols, base, [signal, request.signal]);
  try {
    request.signal.throwIfAborted();
    const { socket, response } = Deno.upgradeWebSocket(request, { protocol: opened.protocol || undefined });
    join(socket, upstream, opened, signal);
    return response;
  } catch (error) {
    upstream.close();
    void drain(opened.readable);
    throw error;
  }
}

async function connect(
  url: URL,
  headers: [string, string][],
  protocols: string[],
  base: URL,
  signals: AbortSignal[],
): Promise<{ upstream: WebSocketStream; opened: WebSocketConnection }> {
  // Of the handshake alone: aborted later, Deno's WebSocketStream throws, and a request's signal aborts at its upgrade.
  using ending = joinSignals(signals);
  const upstream = new WebSocketStream(url.href, {
    headers,
    protocols: protocols.filter((name) => name !== ""),
    signal: ending.signal,
  });
  // Whoever fails to open or to read hears of it there.
  upstream.closed.catch(() => {});
  const opened = await upstream.opened.catch((error) => {
    ending.signal.throwIfAborted();
    throw refusal(error, base);
  });
  return { upstream, opened };
}

/** Reads and forgets what still comes: a close is only finished when all before it was read. */
async function drain(readable: WebSocketConnection["readable"]): Promise<void> {
  const reader = readable.getReader();
  try {
    while (!(await reader.read()).done);
  } catch {
    // It was dropped.
  }
}

function join(
  client: WebSocket,
  upstream: WebSocketStream,
  { readable, writable }: WebSocketConnection,
  signal: AbortSignal,
): void {
  client.binaryType = "arraybuffer";
  const writer = writable.getWriter();
  const open = Promise.withResolvers<void>();
  let gone = false;
  let pending = 0;

  const closeClient = (code: number, reason = "") => {
    if (client.readyState > WebSocket.OPEN) return;
    if (code === 1005) client.close();
    else client.close(code, reason);
  };
  const lost = (info?: CloseInfo) => {
    if (gone) return;
    gone = true;
    clearTimeout(opening);
    open.resolve();
    upstream.close(info as WebSocketCloseInfo);
  };
  const opening = setTimeout(lost, OPEN_MS);
  const shutDown = () => {
    if (client.readyState === WebSocket.CONNECTING) lost();
    closeClient(1001);
  };
  signal.addEventListener("abort", shutDown, { once: true });

  client.onopen = () => {
    clearTimeout(opening);
    open.resolve();
  };
  client.onmessage = ({ data }) => {
    const message = typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer);
    const size = message.length;
    pending += size;
    if (pending > MOST_PENDING) return closeClient(1013, "GNS3 does not take this in so fast.");
    writer.write(message).then(() => void (pending -= size), () => {});
  };
  client.onclose = ({ code, reason }) => {
    // What a browser may not send (1001 when its page goes, 1005 and 1006, which are no codes) is a plain close.
    const passes = code === 1000 || (code >= 3000 && code <= 4999);
    lost(passes ? { closeCode: code, reason } : undefined);
  };
  // One that never opened has no close.
  client.onerror = () => void (client.readyState === WebSocket.CONNECTING && lost());

  // Read to its end also when the client has gone: cancelled in the middle, Deno's WebSocketStream throws.
  const toClient = async () => {
    await open.promise;
    for await (const message of readable) {
      if (gone) continue;
      client.send(typeof message === "string" ? message : message as Uint8Array<ArrayBuffer>);
      while (client.bufferedAmount > HIGH_WATER && !gone) await pause(DRAIN_POLL_MS);
    }
  };
  const end = async () => {
    await toClient().catch(() => {});
    // A connection that GNS3 just drops ends in an error; a close frame cannot say that, 1011 comes closest.
    const { closeCode = 1005, reason }: CloseInfo = await upstream.closed.catch(() => ({ closeCode: 1011 }));
    signal.removeEventListener("abort", shutDown);
    closeClient(closeCode, reason);
  };
  void end();
}

/** The status is all that is known of a refused handshake. */
function refusal(error: unknown, base: URL): AppError {
  const status = /status code:? (\d{3})/i.exec(String(error))?.[1];
  if (status === "401") return new AppError("unauthorized", "GNS3 does not accept this sign-in.");
  if (status === "403") return new AppError("forbidden", "GNS3 refuses this connection.");
  if (status === "404") return new AppError("not_found", "GNS3 has nothing to connect to here.");
  return new AppError("unavailable", `The GNS3 server at ${base.origin} does not take this connection.`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
