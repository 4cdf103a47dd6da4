// One HTTP request passed on to GNS3 and its answer passed back, both as streams. Node's client is used because it
// leaves bodies as they are: Deno's `fetch` unpacks compressed ones and chooses `Host` by itself.
import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { unreachable } from "../../gns3/messages.ts";
import { type Origin, requestHeaders, responseHeaders } from "./headers.ts";

/** A connection for each request: one that GNS3 closes just when it is used again would fail a request for nothing. */
const agent = new Agent({ keepAlive: false });

/** Answers without a body, whatever their headers say. */
const BODYLESS = new Set([204, 205, 304]);

/** Older versions of Deno compress what they serve, and hold a stream's parts back while they do. */
const COMPRESSES = Number(Deno.version.deno.split(".")[1]) < 9;

/** The request's target at `base`, which may have a path of its own; query and spelling stay as they are. */
export function targetOf(base: URL, requestUrl: string): URL {
  const { pathname, search } = new URL(requestUrl);
  return new URL(base.pathname.replace(/\/+$/, "") + pathname + search, base);
}

/**
 * Resolves when GNS3's answer begins. Redirects go to the client. Throws `unavailable` when GNS3 does not answer; each
 * of `signals` cuts both sides.
 */
export async function forward(
  request: Request,
  base: URL,
  origin: Origin,
  signals: readonly AbortSignal[],
): Promise<Response> {
  for (const signal of signals) signal.throwIfAborted();
  const url = targetOf(base, request.url);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const out = send(url, {
    method: request.method,
    headers: requestHeaders(request.headers, origin),
    ...(url.protocol === "https:" ? {} : { agent }),
    setHost: false,
  });
  const stop = () => out.destroy();
  for (const signal of signals) signal.addEventListener("abort", stop, { once: true });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    out.once("response", resolve);
    // Node's texts hold addresses.
    out.on("error", (error) => reject(unreachable(base.origin, error)));
    out.on("close", () => reject(unreachable(base.origin, undefined)));
  });
  // An answer may come before the body is read to its end; whether it was sent is then of no interest any more.
  const sent = upload(request.body, out).catch(() => out.destroy());
  const incoming = await answered;
  incoming.once("close", () => {
    for (const signal of signals) signal.removeEventListener("abort", stop);
    void sent.then(() => out.destroy());
  });
  const headers = responseHeaders(incoming.rawHeaders);
  const status = incoming.statusCode ?? 502;
  if (request.method === "HEAD" || BODYLESS.has(status)) {
    incoming.resume();
    return new Response(null, { status, headers });
  }
  if (COMPRESSES && !headers.has("content-encoding")) headers.append("cache-control", "no-transform");
  return new Response(bodyOf(incoming, base), { status, statusText: incoming.statusMessage, headers });
}

/** Pulled at the client's pace. It fails when GNS3 breaks off, so that the client is cut off too and not told of an end. */
function bodyOf(incoming: IncomingMessage, base: URL): ReadableStream<Uint8Array> {
  const chunks = incoming[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(new Uint8Array(value));
      } catch (error) {
        controller.error(unreachable(base.origin, error));
      }
    },
    cancel: () => void incoming.destroy(),
  }, { highWaterMark: 0 });
}

/** Sends the body at the pace at which GNS3 takes it. */
async function upload(body: ReadableStream<Uint8Array> | null, out: ClientRequest): Promise<void> {
  if (body) {
    for await (const chunk of body) {
      if (out.destroyed) return;
      if (!out.write(chunk)) await drained(out);
    }
  }
  out.end();
}

function drained(out: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      out.off("drain", done);
      out.off("close", done);
      resolve();
    };
    out.once("drain", done);
    out.once("close", done);
  });
}
