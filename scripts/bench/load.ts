// Many streams at once, as a process of its own that does as little as possible for each read. Takes a `Load` as JSON on
// standard input and prints `Streams` as JSON.
import { quantile, round } from "./statistics.ts";

export interface Load {
  url: string;
  headers: Record<string, string>;
  body: unknown;
  /** How many streams. */
  count: number;
  /** What the first text of the answer looks like. */
  marker: string;
}

/** Milliseconds since the request was sent; of `gaps`, between two reads, only quantiles. */
export interface Streams {
  first: number[];
  total: number[];
  bytes: number[];
  gaps: { p50: number; p95: number; longest: number };
  failed: string[];
}

const LATIN = new TextDecoder("latin1");

async function stream({ url, headers, body, marker }: Load, gaps: number[]) {
  const { hostname, port, pathname } = new URL(url);
  const text = new TextEncoder().encode(JSON.stringify(body));
  const began = performance.now();
  using connection = await Deno.connect({ hostname, port: Number(port) });
  connection.setNoDelay(true);
  const head = Object.entries({
    host: `${hostname}:${port}`,
    "content-type": "application/json",
    "content-length": String(text.length),
    connection: "close",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await write(connection, new TextEncoder().encode(`POST ${pathname} HTTP/1.1\r\n${head}\r\n`));
  await write(connection, text);
  const buffer = new Uint8Array(64 * 1024);
  let first = NaN;
  let bytes = 0;
  let start = "";
  let last = performance.now();
  for (;;) {
    const read = await connection.read(buffer);
    if (read === null) break;
    const now = performance.now();
    bytes += read;
    if (!Number.isNaN(first)) gaps.push(now - last);
    else {
      start += LATIN.decode(buffer.subarray(0, read));
      if (start.includes(marker)) first = now - began;
    }
    last = now;
  }
  if (Number.isNaN(first)) throw new Error(start.slice(0, 300) || "The connection was closed.");
  return { first, bytes, total: performance.now() - began };
}

async function write(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

if (import.meta.main) {
  const load: Load = JSON.parse(await new Response(Deno.stdin.readable).text());
  const gaps: number[] = [];
  const ends = await Promise.allSettled(Array.from({ length: load.count }, () => stream(load, gaps)));
  const done = ends.flatMap((end) => end.status === "fulfilled" ? [end.value] : []);
  const list = (name: "first" | "total" | "bytes") => done.map((one) => round(one[name]));
  const streams: Streams = {
    first: list("first"),
    total: list("total"),
    bytes: list("bytes"),
    gaps: { p50: quantile(gaps, 0.5), p95: quantile(gaps, 0.95), longest: quantile(gaps, 1) },
    failed: ends.flatMap((end) => end.status === "rejected" ? [String(end.reason)] : []),
  };
  console.log(JSON.stringify(streams));
}
