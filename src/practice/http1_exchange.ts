// One request on a connection of the practice HTTP server, and the ways to answer it.
import type { BodyWriter, Exchange, RawConnection } from "./http1.ts";
import type { Connection, Head } from "./http1_connection.ts";

/** The server's side of an exchange. */
export class OpenExchange implements Exchange {
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly url: URL;
  readonly signal: AbortSignal;
  keepAlive: boolean;
  taken = false;
  #started = false;
  readonly #connection: Connection;

  constructor(
    connection: Connection,
    head: Head,
    body: Uint8Array<ArrayBuffer>,
    url: URL,
    signal: AbortSignal,
  ) {
    this.#connection = connection;
    this.method = head.method;
    this.headers = head.headers;
    this.body = body;
    this.url = url;
    this.signal = signal;
    this.keepAlive = head.headers.get("connection")?.toLowerCase() !== "close";
  }

  cut(): void {
    this.keepAlive = false;
    this.#started = true;
    this.#connection.close();
  }

  hijack(): RawConnection {
    this.taken = true;
    this.#started = true;
    this.keepAlive = false;
    return this.#connection;
  }

  async fail(): Promise<void> {
    if (this.#started) return this.cut();
    this.keepAlive = false;
    await this.respond(new Response("The practice server failed.", { status: 500 })).catch(() => {});
  }

  async #head(status: number, headers: Headers): Promise<void> {
    this.#started = true;
    if (!this.keepAlive) headers.set("connection", "close");
    headers.set("date", new Date().toUTCString());
    const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
    await this.#connection.write(
      new TextEncoder().encode(`HTTP/1.1 ${status} ${REASONS[status] ?? "Status"}\r\n${lines}\r\n`),
    );
  }

  async begin(status: number, init: HeadersInit): Promise<BodyWriter> {
    const headers = new Headers(init);
    headers.set("transfer-encoding", "chunked");
    await this.#head(status, headers);
    const encoder = new TextEncoder();
    return {
      write: async (bytes) => {
        if (bytes.length === 0) return;
        const size = encoder.encode(`${bytes.length.toString(16)}\r\n`);
        const chunk = new Uint8Array(size.length + bytes.length + 2);
        chunk.set(size);
        chunk.set(bytes, size.length);
        chunk.set([13, 10], size.length + bytes.length);
        await this.#connection.write(chunk);
      },
      end: () => this.#connection.write(encoder.encode("0\r\n\r\n")),
    };
  }

  async respond(response: Response): Promise<void> {
    const headers = new Headers(response.headers);
    const body = new Uint8Array(await response.arrayBuffer());
    if (response.status !== 204 && response.status !== 304) {
      headers.set("content-length", String(body.length));
    }
    await this.#head(response.status, headers);
    if (this.method !== "HEAD") await this.#connection.write(body);
  }
}

const REASONS: Record<number, string> = {
  101: "Switching Protocols",
  200: "OK",
  201: "Created",
  204: "No Content",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
};
