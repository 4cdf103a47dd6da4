// The practice server's WebSocket: messages of all sizes both ways, ping, close and drop.
import assert from "node:assert/strict";
import { serveHttp } from "../../src/practice/http1.ts";
import { acceptWebSocket, isUpgrade, type ServerSocket } from "../../src/practice/websocket_server.ts";

async function withSockets(
  serve: (socket: ServerSocket) => Promise<void>,
  work: (socket: WebSocket) => Promise<void>,
): Promise<void> {
  const server = serveHttp(async (exchange) => {
    assert.ok(isUpgrade(exchange.headers));
    await serve(await acceptWebSocket(exchange));
  });
  const socket = new WebSocket(server.url.replace("http", "ws"));
  socket.binaryType = "arraybuffer";
  const closed = new Promise<void>((resolve) => socket.addEventListener("close", () => resolve()));
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  try {
    await work(socket);
  } finally {
    socket.close();
    await closed;
    await server.close();
  }
}

const next = (socket: WebSocket) =>
  new Promise<Uint8Array>((resolve) =>
    socket.addEventListener("message", ({ data }) => resolve(new Uint8Array(data)), { once: true })
  );

Deno.test("messages of every length come back as they were sent", async () => {
  await withSockets(async (socket) => {
    for await (const message of socket.messages()) await socket.send(message);
  }, async (socket) => {
    for (const length of [0, 1, 125, 126, 127, 65535, 65536, 300_000]) {
      const sent = new Uint8Array(length).map((_, i) => (i * 7) & 255);
      const answer = next(socket);
      socket.send(sent);
      const got = await answer;
      assert.equal(got.length, length);
      assert.ok(got.every((byte, i) => byte === sent[i]));
    }
  });
});

Deno.test("a close frame carries its code, a drop none", async () => {
  const codeOf = async (serve: (socket: ServerSocket) => Promise<void>) => {
    let code = 0;
    await withSockets(serve, (socket) =>
      new Promise((resolve) => {
        socket.addEventListener("error", () => {});
        socket.addEventListener("close", (event) => {
          code = event.code;
          resolve();
        });
        socket.send("go");
      }));
    return code;
  };
  const first = async (socket: ServerSocket) => void await socket.messages().next();
  assert.equal(
    await codeOf(async (socket) => {
      await first(socket);
      await socket.close(1008);
    }),
    1008,
  );
  assert.notEqual(
    await codeOf(async (socket) => {
      await first(socket);
      socket.drop();
    }),
    1000,
  );
});
