// A server that shows a request exactly as it came, and answers with exactly the bytes that a test wants.

export interface RawRequest {
  head: string;
  body: Uint8Array;
  /** Sends bytes as they are. */
  write(bytes: string | Uint8Array): Promise<void>;
  close(): void;
}

const encoder = new TextEncoder();

/** Calls `answer` for every connection, after its head and as much of the body as has come with it. */
export function rawServer(answer: (request: RawRequest, connection: Deno.TcpConn) => Promise<void> | void) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.TcpConn>();
  const serve = async (connection: Deno.TcpConn) => {
    open.add(connection);
    let seen = new Uint8Array(0);
    for (;;) {
      const chunk = new Uint8Array(65536);
      const size = await connection.read(chunk);
      if (size === null) return;
      seen = new Uint8Array([...seen, ...chunk.subarray(0, size)]);
      const text = new TextDecoder("latin1").decode(seen);
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) continue;
      const close = () => {
        open.delete(connection);
        try {
          connection.close();
        } catch {
          // It was closed before.
        }
      };
      const write = async (bytes: string | Uint8Array) => {
        const all = typeof bytes === "string" ? encoder.encode(bytes) : bytes;
        for (let at = 0; at < all.length;) at += await connection.write(all.subarray(at));
      };
      await answer({ head: text.slice(0, end), body: seen.slice(end + 4), write, close }, connection);
      return;
    }
  };
  const accepting = (async () => {
    for await (const connection of listener) void serve(connection).catch(() => {});
  })().catch(() => {});
  return {
    url: `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      for (const connection of open) {
        try {
          connection.close();
        } catch {
          // It was closed before.
        }
      }
      await accepting;
    },
  };
}
