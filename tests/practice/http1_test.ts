// The practice servers' own HTTP: what clients may send, and what a client that leaves sets off.
import assert from "node:assert/strict";
import { type Exchange, serveHttp } from "../../src/practice/http1.ts";

async function withServer(
  handler: (exchange: Exchange) => Promise<void>,
  work: (port: number, url: string) => Promise<void>,
): Promise<void> {
  const server = serveHttp(handler);
  try {
    await work(server.port, server.url);
  } finally {
    await server.close();
  }
}

const echo = (exchange: Exchange) =>
  exchange.respond(
    Response.json({
      method: exchange.method,
      path: exchange.url.pathname + exchange.url.search,
      body: new TextDecoder().decode(exchange.body),
      type: exchange.headers.get("content-type"),
    }),
  );

/** Sends text over one connection, piece by piece, and reads until `until` matches. */
async function raw(port: number, pieces: string[], until: RegExp): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const buffer = new Uint8Array(65536);
  let text = "";
  for (const piece of pieces) {
    await connection.write(new TextEncoder().encode(piece));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  while (!until.test(text)) {
    const count = await connection.read(buffer);
    if (count === null) break;
    text += new TextDecoder().decode(buffer.subarray(0, count));
  }
  connection.close();
  return text;
}

Deno.test("requests may come in pieces, in chunks and one after the other on a connection", async () => {
  await withServer(echo, async (port) => {
    const first = "POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Le";
    const second = "ngth: 5\r\n\r\nhel";
    const third = "loGET /next HTTP/1.1\r\nHost: x\r\n\r\n";
    const text = await raw(port, [first, second, third], /"\/next"[^]*\}$/);
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(text, /"path":"\/a\?b=c","body":"hello"/);
    const chunked =
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
    const answer = await raw(port, [chunked], /\}$/);
    assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
    assert.match(answer, /"body":"abcde"/);
    assert.equal(await raw(port, ["nonsense\r\n\r\n"], /never/), "", "no HTTP: closed");
  });
});

Deno.test("bodies and answers of many megabytes arrive whole", async () => {
  await withServer((exchange) => exchange.respond(new Response(exchange.body)), async (_, url) => {
    const sent = new Uint8Array(3 << 20).map((_, i) => i & 255);
    const got = await (await fetch(url, { method: "POST", body: sent })).bytes();
    assert.deepEqual(got.length, sent.length);
    assert.ok(got.every((byte, i) => byte === sent[i]));
  });
});

Deno.test("a handler that throws becomes a 500, or a cut when it had begun", async () => {
  await withServer(async (exchange) => {
    if (exchange.url.pathname === "/begun") {
      await (await exchange.begin(200, {})).write(new TextEncoder().encode("so far"));
    }
    throw new Error("broken");
  }, async (_, url) => {
    const early = await fetch(url);
    assert.deepEqual([early.status, await early.text()], [500, "The practice server failed."]);
    const late = await fetch(`${url}/begun`);
    await assert.rejects(() => late.text());
  });
});

Deno.test("closing the server ends answers that are still being given", async () => {
  const gone = Promise.withResolvers<void>();
  const server = serveHttp(async (exchange) => {
    exchange.signal.addEventListener("abort", () => gone.resolve(), { once: true });
    await exchange.begin(200, {});
    await gone.promise;
  });
  const response = await fetch(server.url);
  await server.close();
  await gone.promise;
  await assert.rejects(() => response.text());
});
