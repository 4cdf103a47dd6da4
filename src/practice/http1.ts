// A small HTTP/1.1 server on plain TCP (RFC 9112) for the practice servers. They need what a comfortable server does not
// give: cutting a connection in the middle of an answer, bytes exactly as a script says, and the moment a client leaves.

import { Connection } from "./http1_connection.ts";

/** One request and the connection it came on. Exactly one of `respond`, `begin`, `cut` or `hijack` answers it. */
export interface Exchange {
  method: string;
  url: URL;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
  /** Aborted when the client is gone or the server closes. */
  signal: AbortSignal;
  /** Answers with a whole response, its body collected first. */
  respond(response: Response): Promise<void>;
  /** Starts a chunked answer. Each `write` goes out at once as one chunk. */
  begin(status: number, headers: HeadersInit): Promise<BodyWriter>;
  /** Closes the connection without another word. */
  cut(): void;
  /** Takes the connection over after the head of an upgrade; the server then only closes it when it closes itself. */
  hijack(): RawConnection;
}

export interface BodyWriter {
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

/** Bytes in and out; `read` gives null at the end. */
export interface RawConnection {
  read(): Promise<Uint8Array | null>;
  write(bytes: Uint8Array): Promise<void>;
  close(): void;
}

export type Handler = (exchange: Exchange) => Promise<void>;

export interface HttpServer {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** Serves until `close()`, which drops all connections. An error of the handler becomes a 500 when nothing was sent yet. */
export function serveHttp(handler: Handler, options: { hostname?: string; port?: number } = {}): HttpServer {
  const listener = Deno.listen({ hostname: options.hostname ?? "127.0.0.1", port: options.port ?? 0 });
  const { hostname, port } = listener.addr as Deno.NetAddr;
  const connections = new Set<Connection>();
  const tasks = new Set<Promise<void>>();
  const accept = async () => {
    for await (const socket of listener) {
      const connection = new Connection(socket);
      connections.add(connection);
      const task = connection.serve(handler, `http://${hostname}:${port}`).catch(() => {}).finally(() => {
        connection.close();
        connections.delete(connection);
        tasks.delete(task);
      });
      tasks.add(task);
    }
  };
  const accepting = accept().catch(() => {});
  return {
    url: `http://${hostname}:${port}`,
    port,
    async close() {
      listener.close();
      for (const connection of connections) connection.close();
      await accepting;
      await Promise.allSettled(tasks);
    },
  };
}
