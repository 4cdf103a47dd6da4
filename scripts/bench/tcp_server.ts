// As little of HTTP/1.1 as the bench's model needs: requests with a length, answers as bytes, connections kept open.
import { Buffer } from "node:buffer";

export interface Request {
  method: string;
  path: string;
  /** Its bytes, by `latin1`. */
  body: string;
}

/** One character for each byte, so that a text's length is that of the bytes: see `Buffer`'s "latin1". */
export const latin1 = {
  decode: (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"),
  encode: (text: string): Uint8Array => Buffer.from(text, "latin1"),
};

/** Answers one request by writing all of the response's bytes. */
export type Handler = (request: Request, write: (bytes: Uint8Array) => void) => Promise<void>;

/** Serves on 127.0.0.1 (`port` 0: a free one) until the process ends. Answers its address. */
export function serveTcp(port: number, handler: Handler): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port });
  (async () => {
    for await (const connection of listener) void serve(connection, handler).catch(() => {});
  })();
  return `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`;
}

async function serve(connection: Deno.TcpConn, handler: Handler): Promise<void> {
  connection.setNoDelay(true);
  using _ = connection;
  const buffer = new Uint8Array(256 * 1024);
  let held = "";
  // Written one after the other: the next write begins when the one before it has ended.
  let writing = Promise.resolve();
  let left = false;
  const write = (bytes: Uint8Array) => {
    writing = writing.then(() => left ? undefined : all(connection, bytes)).catch(() => {
      left = true;
    });
  };
  for (;;) {
    const end = held.indexOf("\r\n\r\n");
    const length = end < 0 ? 0 : Number(/content-length: *(\d+)/i.exec(held.slice(0, end))?.[1] ?? 0);
    if (end < 0 || held.length < end + 4 + length) {
      const read = await connection.read(buffer);
      if (read === null) return;
      held += latin1.decode(buffer.subarray(0, read));
      continue;
    }
    const [method = "", path = ""] = held.split(" ", 2);
    const body = held.slice(end + 4, end + 4 + length);
    const closes = /connection: *close/i.test(held.slice(0, end));
    held = held.slice(end + 4 + length);
    await handler({ method, path, body }, write);
    await writing;
    if (closes || left) return;
  }
}

async function all(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
