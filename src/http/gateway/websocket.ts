// A WebSocket passed on to GNS3, message by message: consoles and notifications of its Web UI.
/// <reference lib="deno.unstable" />
import { AppError } from "../../domain/error.ts";
import { type Origin, requestHeaders } from "./headers.ts";
import { targetOf } from "./http.ts";

/** GNS3 is not read from while the client has not taken this much. */
const HIGH_WATER = 1_000_000;
/** A client that sends this much more than GNS3 takes is cut off. */
const MOST_PENDING = 16_000_000;
const DRAIN_POLL_MS = 20;

/** The handshake's own headers are made anew for each connection. */
const HANDSHAKE = /^(sec-websocket-|host$|content-length$)/;

/** As the standard and Deno have it (websockets.spec.whatwg.org); Deno's type declarations call the first one `code`. */
interface CloseInfo {
  closeCode?: number;
  reason?: string;
}

/** Whether the request asks for a WebSocket. */
export function isWebSocket(request: Request): boolean {
  return request.headers.get("upgrade")?.toLowerCase() === "websocket";
}

/**
 * Connects to GNS3 first, so that the client gets what GNS3 says to the handshake: the subprotocol it chose, or its
 * refusal. Text stays text and binary stays binary; close codes and reasons pass both ways where a close may carry them.
 */
export async function forwardWebSocket(
  request: Request,
  base: URL,
  origin: Origin,
  signal: AbortSignal,
): Promise<Response> {
  const url = targetOf(base, request.url);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const protocols = (request.headers.get("sec-websocket-protocol") ?? "").split(",").map((name) =>
    name.trim()
  );
  const headers = Object.entries(requestHeaders(request.headers, origin))
    .filter(([name]) => !HANDSHAKE.test(name)) as [string, string][];
  signal.throwIfAborted();
  // Of the handshake alone: aborted later, Deno's WebSocketStream throws.
  const handshake = new AbortController();
  const stop = () => handshake.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const upstream = new WebSocketStream(url.href, {
    headers,
    protocols: protocols.filter((name) => name !== ""),
    signal: handshake.signal,
  });
  // Whoever fails to open or to read hears of it there.
  upstream.closed.catch(() => {});
  const opened = await upstream.opened.catch((error) => {
    throw refusal(error, base);
  }).finally(() => signal.removeEventListener("abort", stop));
  const { socket, response } = Deno.upgradeWebSocket(request, { protocol: opened.protocol || undefined });
  join(socket, upstream, opened, signal);
  return response;
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
  const shutDown = () => closeClient(1001);
  signal.addEventListener("abort", shutDown, { once: true });

  client.onopen = () => open.resolve();
  client.onmessage = ({ data }) => {
    const message = typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer);
    const size = message.length;
    pending += size;
    if (pending > MOST_PENDING) return closeClient(1013, "GNS3 does not take this in so fast.");
    writer.write(message).then(() => void (pending -= size), () => {});
  };
  client.onclose = ({ code, reason }) => {
    gone = true;
    open.resolve();
    // What a browser may not send (1001 when its page goes, 1005 and 1006, which are no codes) is a plain close.
    const passes = code === 1000 || (code >= 3000 && code <= 4999);
    upstream.close(passes ? { closeCode: code, reason } as WebSocketCloseInfo : undefined);
  };
  client.onerror = () => {};

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
