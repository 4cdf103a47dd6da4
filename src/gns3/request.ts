// One HTTP request to the GNS3 server: credential, time limit, redirects, and its failures as `AppError`s.
import { AppError, errorText } from "../domain/error.ts";
import { joinSignals } from "../domain/signals.ts";
import { wellFormedFrom } from "../domain/unicode.ts";
import { AnswerTooLarge, textOf } from "./body.ts";
import { refusal, signInAgain, unavailable, unreachable } from "./messages.ts";

/** Where the server is and who asks. `baseUrl` may have a path in front of `/v3`, no trailing slash. */
export interface Server {
  baseUrl: string;
  credential: string;
}

export interface Gns3Request {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  body?: unknown;
  timeoutMs: number;
  signals: (AbortSignal | undefined)[];
}

const MAX_REDIRECTS = 3;
const STREAM_HEAD_MS = 15_000;

/**
 * The parsed JSON of the answer, `undefined` for an empty one. Throws `AppError` for what GNS3 refuses or cannot do,
 * and a signal's reason when one of `signals` aborts.
 */
export async function send(server: Server, request: Gns3Request): Promise<unknown> {
  // A credential that no header can carry would make fetch throw an error that quotes it.
  if (!/^[\x21-\x7e]+$/.test(server.credential)) throw signInAgain();
  using limited = joinSignals(request.signals, { ms: request.timeoutMs });
  const origin = originOf(server.baseUrl);
  try {
    const response = await follow(server, request, limited.signal);
    const text = await textOf(response);
    if (!response.ok) throw refusal(response.status, text, origin, server.credential);
    return text.trim() === "" ? undefined : parse(text, origin);
  } catch (error) {
    if (error instanceof AppError) throw error;
    for (const signal of request.signals) signal?.throwIfAborted();
    if (limited.late) {
      throw unavailable(`The GNS3 server at ${origin} did not answer within ${request.timeoutMs / 1000} s.`);
    }
    if (error instanceof AnswerTooLarge) {
      throw unavailable(`What answers at ${origin} sends more than a GNS3 server does: is it one?`);
    }
    throw unreachable(origin, error);
  }
}

/** An answer that does not end by itself. `close` ends it; whoever has one must call that. */
export interface OpenedStream {
  body: ReadableStream<Uint8Array>;
  close(): void;
}

/**
 * Opens an answer that does not end by itself; `signal` ends it too. Throws as `send` does; there is no time limit but for
 * the first byte of the answer's head.
 */
export async function openStream(
  server: Server,
  path: string,
  signal: AbortSignal,
): Promise<OpenedStream> {
  if (!/^[\x21-\x7e]+$/.test(server.credential)) throw signInAgain();
  const origin = originOf(server.baseUrl);
  const own = new AbortController();
  const close = () => own.abort();
  const timer = setTimeout(close, STREAM_HEAD_MS);
  const joined = joinSignals([own.signal, signal]);
  try {
    const request: Gns3Request = { method: "GET", path, timeoutMs: STREAM_HEAD_MS, signals: [] };
    const response = await follow(server, request, joined.signal);
    if (response.ok && response.body) return { body: response.body, close };
    throw refusal(response.status, await textOf(response), origin, server.credential);
  } catch (error) {
    close();
    if (error instanceof AppError) throw error;
    signal.throwIfAborted();
    throw unreachable(origin, error);
  } finally {
    clearTimeout(timer);
  }
}

/** The address as it may be shown: no path, no user name, no password. */
export function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}

async function follow(server: Server, request: Gns3Request, signal: AbortSignal): Promise<Response> {
  let url = server.baseUrl.replace(/\/+$/, "") + request.path;
  let method: string = request.method;
  let body = request.body === undefined ? undefined : JSON.stringify(request.body);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const headers: Record<string, string> = { authorization: `Bearer ${server.credential}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const response = await fetch(url, { method, headers, body, signal, redirect: "manual" });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || !location) return response;
    await response.body?.cancel();
    const next = new URL(location, url);
    if (next.origin !== new URL(url).origin) break;
    url = next.href;
    if (response.status < 307 && method !== "GET") [method, body] = ["GET", undefined];
  }
  throw unavailable(
    `The GNS3 server at ${originOf(server.baseUrl)} redirects elsewhere; that is not followed.`,
  );
}

function parse(text: string, origin: string): unknown {
  try {
    return wellFormedFrom(text, JSON.parse(text));
  } catch (error) {
    throw unavailable(`What answers at ${origin} is not a GNS3 server (${errorText(error).slice(0, 80)}).`);
  }
}
