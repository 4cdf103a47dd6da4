// One TCP connection of the practice HTTP server: reads requests off it, and notices when the client leaves.
import type { Handler, RawConnection } from "./http1.ts";
import { OpenExchange } from "./http1_exchange.ts";
import { TcpSocket } from "./tcp.ts";

const MAX_HEAD = 64 * 1024;
const READ_SIZE = 64 * 1024;
const CRLF2 = [13, 10, 13, 10];

/** Head of a request. */
export interface Head {
  method: string;
  target: string;
  headers: Headers;
}

function parseHead(text: string): Head | null {
  const [first = "", ...lines] = text.trimEnd().split("\r\n");
  const [method, target, version] = first.split(" ");
  if (!method || !target?.startsWith("/") || !version?.startsWith("HTTP/1.")) return null;
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
  }
  return { method, target, headers };
}

function indexOf(bytes: Uint8Array, pattern: number[]): number {
  for (let at = bytes.indexOf(pattern[0]!); at >= 0; at = bytes.indexOf(pattern[0]!, at + 1)) {
    if (pattern.every((byte, i) => bytes[at + i] === byte)) return at;
  }
  return -1;
}

/** A connection; `serve` answers its requests one after the other until it ends. */
export class Connection implements RawConnection {
  #buffer = new Uint8Array(0);
  #wake: (() => void) | null = null;
  #ended = false;
  #gone = new AbortController();
  readonly #socket: TcpSocket;

  constructor(connection: Deno.TcpConn) {
    this.#socket = new TcpSocket(connection);
  }

  close(): void {
    this.#socket.close();
    this.#end();
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#socket.write(bytes);
  }

  async read(): Promise<Uint8Array | null> {
    while (this.#buffer.length === 0) {
      if (this.#ended) return null;
      await this.#more();
    }
    return this.#take(this.#buffer.length);
  }

  #take(count: number): Uint8Array<ArrayBuffer> {
    const taken = this.#buffer.slice(0, count);
    this.#buffer = this.#buffer.slice(count);
    return taken;
  }

  #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    return promise;
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#gone.abort(new Error("The client left."));
    this.#wake?.();
  }

  // Reads all the time, also while a request is being answered: that is how a client that leaves is noticed at once.
  async #pump(): Promise<void> {
    const chunk = new Uint8Array(READ_SIZE);
    try {
      for (;;) {
        const count = await this.#socket.read(chunk);
        if (count === null) break;
        const joined = new Uint8Array(this.#buffer.length + count);
        joined.set(this.#buffer);
        joined.set(chunk.subarray(0, count), this.#buffer.length);
        this.#buffer = joined;
        this.#wake?.();
      }
    } catch {
      // A reset is an end like any other.
    }
    this.#end();
  }

  async serve(handler: Handler, origin: string): Promise<void> {
    const pumping = this.#pump();
    try {
      for (;;) {
        const head = await this.#readHead();
        if (!head) break;
        const exchange = new OpenExchange(
          this,
          head,
          await this.#readBody(head),
          new URL(head.target, origin),
          this.#gone.signal,
        );
        await handler(exchange).catch(() => exchange.fail());
        if (exchange.taken) await this.#lost();
        if (!exchange.keepAlive || this.#ended) break;
      }
    } finally {
      this.close();
      await pumping;
    }
  }

  async #lost(): Promise<void> {
    while (!this.#ended) await this.#more();
  }

  async #readHead(): Promise<Head | null> {
    for (;;) {
      const end = indexOf(this.#buffer, CRLF2);
      if (end >= 0) {
        const text = new TextDecoder().decode(this.#take(end + 4));
        return parseHead(text);
      }
      if (this.#ended || this.#buffer.length > MAX_HEAD) return null;
      await this.#more();
    }
  }

  async #readBody(head: Head): Promise<Uint8Array<ArrayBuffer>> {
    if (head.headers.get("expect")?.toLowerCase() === "100-continue") {
      await this.write(new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n"));
    }
    if (head.headers.get("transfer-encoding")?.toLowerCase() === "chunked") return await this.#readChunks();
    return await this.#readExactly(Number(head.headers.get("content-length") ?? 0));
  }

  async #readExactly(count: number): Promise<Uint8Array<ArrayBuffer>> {
    while (this.#buffer.length < count) {
      if (this.#ended) throw new Error("The request ended early.");
      await this.#more();
    }
    return this.#take(count);
  }

  async #readChunks(): Promise<Uint8Array<ArrayBuffer>> {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for (;;) {
      const size = parseInt(await this.#readLine(), 16);
      if (!Number.isFinite(size)) throw new Error("A chunk without a size.");
      const part = await this.#readExactly(size);
      await this.#readLine();
      if (size === 0) return new Uint8Array(await new Blob(parts).arrayBuffer());
      parts.push(part);
    }
  }

  async #readLine(): Promise<string> {
    for (;;) {
      const end = indexOf(this.#buffer, [13, 10]);
      if (end >= 0) return new TextDecoder().decode(this.#take(end + 2)).trim();
      if (this.#ended) throw new Error("The request ended early.");
      await this.#more();
    }
  }
}
