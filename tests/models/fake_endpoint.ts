// A model endpoint under full control: a little HTTP server over raw sockets, so that a test decides every byte, every
// pause and where the connection breaks.

/** A piece of an answer's body: bytes, a pause in milliseconds, or the end of the connection in mid-air. */
export type Part = string | Uint8Array | number | { break: true };

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** Sent chunked, one chunk a part. */
  body?: string | Part[];
  /** Closes the connection without any answer. */
  hangUp?: boolean;
  /** Ends the body by closing the connection, as HTTP/1.0 servers do. */
  closeDelimited?: boolean;
}

export interface SeenRequest {
  method: string;
  path: string;
  headers: Headers;
  // deno-lint-ignore no-explicit-any -- tests look into any field of the body
  body: any;
  /** Resolves when the client closes the connection. */
  closed: Promise<void>;
  connection: number;
}

export interface FakeEndpoint extends AsyncDisposable {
  url: string;
  requests: SeenRequest[];
}

/** A stream of events from chunk objects, with `[DONE]`. */
export function sse(...chunks: unknown[]): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("") + "data: [DONE]\n\n";
}

/** A chunk with one delta. */
export function chunk(delta: unknown, finish: string | null = null): Record<string, unknown> {
  return {
    id: "c1",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

/** A whole ordinary answer. */
export function answer(...texts: string[]): Answer {
  return {
    body: sse(
      chunk({ role: "assistant", content: "" }),
      ...texts.map((content) => chunk({ content })),
      chunk({}, "stop"),
    ),
  };
}

/** Starts a server that gives the answers in order, the last one for ever. */
export function fakeEndpoint(
  answers: Answer[] | ((request: SeenRequest, at: number) => Answer),
): FakeEndpoint {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const requests: SeenRequest[] = [];
  const open = new Set<Deno.Conn>();
  let connections = 0;
  const served: Promise<void>[] = [];
  const serving = (async () => {
    for await (const conn of listener) {
      open.add(conn);
      served.push(
        serve(conn, connections++).catch(() => {}).finally(() => {
          open.delete(conn);
          try {
            conn.close();
          } catch {
            // It is closed already.
          }
        }),
      );
    }
  })();

  async function serve(conn: Deno.Conn, connection: number): Promise<void> {
    let rest: Uint8Array = new Uint8Array();
    for (;;) {
      const head = await readHead(conn, rest);
      if (!head) return;
      const { lines, left } = head;
      const [method = "", path = ""] = lines[0]!.split(" ");
      const headers = new Headers(
        lines.slice(1).map((
          line,
        ) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
      );
      const length = Number(headers.get("content-length") ?? 0);
      let body = left;
      while (body.length < length) body = join(body, (await read(conn)) ?? new Uint8Array());
      const text = new TextDecoder().decode(body.slice(0, length));
      rest = body.slice(length);
      const gone = Promise.withResolvers<void>();
      const request = {
        method,
        path,
        headers,
        body: text ? JSON.parse(text) : undefined,
        closed: gone.promise,
        connection,
      };
      const reply = Array.isArray(answers)
        ? answers[Math.min(requests.length, answers.length - 1)]!
        : answers(request, requests.length);
      requests.push(request);
      // Reads ahead only to notice that the client leaves; what a next request sends is kept.
      const ahead = read(conn).then((bytes) => {
        if (!bytes) gone.resolve();
        return bytes;
      }, () => {
        gone.resolve();
        return null;
      });
      if (!(await respond(conn, reply, gone.promise))) {
        gone.resolve();
        return;
      }
      const next = await ahead;
      if (!next) return;
      rest = join(rest, next);
    }
  }

  return {
    url: `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const conn of open) {
        try {
          conn.close();
        } catch {
          // It is closed already.
        }
      }
      await serving.catch(() => {});
      await Promise.all(served);
    },
  };
}

const encoder = new TextEncoder();

/** Writes an answer; false when the connection cannot be used again. Pauses end when the client is gone. */
async function respond(conn: Deno.Conn, reply: Answer, gone: Promise<void>): Promise<boolean> {
  if (reply.hangUp) {
    conn.close();
    return false;
  }
  const headers: Record<string, string> = { "content-type": "text/event-stream", ...reply.headers };
  if (reply.closeDelimited) headers.connection = "close";
  else headers["transfer-encoding"] = "chunked";
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await write(conn, encoder.encode(`HTTP/1.1 ${reply.status ?? 200} X\r\n${head}\r\n`));
  const parts = typeof reply.body === "string" ? [reply.body] : reply.body ?? [];
  for (const part of parts) {
    if (typeof part === "number") {
      let timer: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([new Promise((resolve) => timer = setTimeout(resolve, part)), gone]);
      clearTimeout(timer);
    } else if (typeof part === "object" && "break" in part) {
      conn.close();
      return false;
    } else {
      const bytes = typeof part === "string" ? encoder.encode(part) : part;
      if (bytes.length === 0) continue;
      if (reply.closeDelimited) await write(conn, bytes);
      else {await write(
          conn,
          join(join(encoder.encode(`${bytes.length.toString(16)}\r\n`), bytes), encoder.encode("\r\n")),
        );}
    }
  }
  if (reply.closeDelimited) {
    conn.close();
    return false;
  }
  await write(conn, encoder.encode("0\r\n\r\n"));
  return true;
}

async function write(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
}

async function read(conn: Deno.Conn): Promise<Uint8Array | null> {
  const buffer = new Uint8Array(65536);
  const count = await conn.read(buffer);
  return count === null ? null : buffer.subarray(0, count);
}

async function readHead(
  conn: Deno.Conn,
  start: Uint8Array,
): Promise<{ lines: string[]; left: Uint8Array } | undefined> {
  let bytes = start;
  for (;;) {
    const text = new TextDecoder("latin1").decode(bytes);
    const end = text.indexOf("\r\n\r\n");
    if (end >= 0) return { lines: text.slice(0, end).split("\r\n"), left: bytes.slice(end + 4) };
    const more = await read(conn);
    if (!more) return undefined;
    bytes = join(bytes, more);
  }
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
