import assert from "node:assert/strict";
import { exchange, gatewayTo, upstream } from "./gateway_server.ts";
import { rawServer } from "./raw_server.ts";

type Message = string | number[];

/** A client of `url`; `closed` resolves with the close code and reason. */
function client(url: string, protocols: string[] = []) {
  const socket = new WebSocket(url.replace("http", "ws"), protocols);
  socket.binaryType = "arraybuffer";
  const messages: Message[] = [];
  let wake = () => {};
  socket.onmessage = ({ data }) => {
    messages.push(typeof data === "string" ? data : [...new Uint8Array(data)]);
    wake();
  };
  const closed = new Promise<[number, string]>((resolve) =>
    socket.onclose = ({ code, reason }) => resolve([code, reason])
  );
  return {
    socket,
    messages,
    opened: new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error("refused"));
    }),
    closed,
    async until(count: number) {
      while (messages.length < count) await new Promise<void>((resolve) => wake = resolve);
    },
  };
}

/** A server that answers every message with the same one, and closes when it is told "close CODE REASON". */
function echo(seen: { headers: Headers; url: string }[] = [], closes: [number, string][] = []) {
  return upstream((request) => {
    seen.push({ headers: new Headers(request.headers), url: request.url });
    if (request.headers.get("upgrade") !== "websocket") return new Response("no socket");
    const [protocol] = (request.headers.get("sec-websocket-protocol") ?? "").split(", ");
    const { socket, response } = Deno.upgradeWebSocket(request, protocol ? { protocol } : {});
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      const [, code, reason] = /^close (\d+) (.*)/.exec(typeof data === "string" ? data : "") ?? [];
      if (code) socket.close(Number(code), reason);
      else socket.send(data);
    };
    socket.onclose = ({ code, reason }) => closes.push([code, reason]);
    return response;
  });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

Deno.test("a WebSocket passes the gateway: text stays text, binary binary, in order, with path, query and headers", async () => {
  const seen: { headers: Headers; url: string }[] = [];
  await using gns3 = echo(seen);
  await using gateway = gatewayTo(gns3.url);
  const { socket, messages, opened, closed, until } = client(
    `${gateway.url}/v3/projects/p/nodes/n/console/ws?token=a.b.c`,
    ["binary", "xpra"],
  );
  await opened;
  assert.equal(socket.protocol, "binary");
  const sent: Message[] = ["text ü 网络", [0, 255, 13, 10], "", [], "more"];
  for (const message of sent) socket.send(typeof message === "string" ? message : new Uint8Array(message));
  await until(sent.length);
  assert.deepEqual(messages, sent);
  const large = new Uint8Array(3_000_000).fill(7);
  socket.send(large);
  await until(sent.length + 1);
  assert.equal(messages.at(-1)!.length, large.length);
  assert.equal(new URL(seen[0]!.url).pathname, "/v3/projects/p/nodes/n/console/ws");
  assert.equal(new URL(seen[0]!.url).search, "?token=a.b.c");
  assert.equal(seen[0]!.headers.get("x-forwarded-for"), "127.0.0.1");
  assert.equal(seen[0]!.headers.get("x-forwarded-host"), new URL(gateway.url).host);
  socket.close();
  await closed;
  assert.doesNotMatch(JSON.stringify(gateway.lines), /a\.b\.c/);
});

Deno.test("GNS3's close codes and reasons reach the client", async () => {
  await using gns3 = echo();
  await using gateway = gatewayTo(gns3.url);
  for (
    const [code, reason] of [[1000, "done"], [1008, "Could not authenticate"], [1011, "fault"], [
      4001,
      "own",
    ]] as const
  ) {
    const { socket, opened, closed } = client(`${gateway.url}/ws`);
    await opened;
    socket.send(`close ${code} ${reason}`);
    assert.deepEqual(await closed, [code, reason]);
  }
});

Deno.test("the client's close reaches GNS3, with its code where a client may send one", async () => {
  const closes: [number, string][] = [];
  await using gns3 = echo([], closes);
  await using gateway = gatewayTo(gns3.url);
  for (const [code, reason] of [[1000, "bye"], [3999, "own"], [undefined, ""]] as const) {
    const { socket, opened } = client(`${gateway.url}/ws`);
    await opened;
    socket.close(code, reason || undefined);
    await until(() => closes.length > 0);
    assert.deepEqual(closes.pop(), [code ?? 1005, reason]);
  }
});

Deno.test("a connection that GNS3 drops without a word ends the client's too, and a refused handshake is refused", async () => {
  const accept = async (head: string) => {
    const key = /sec-websocket-key: (.*)/i.exec(head)![1]!.trim();
    const text = new TextEncoder().encode(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
    return btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest("SHA-1", text))));
  };
  await using gns3 = rawServer(async ({ head, write, close }) => {
    if (head.startsWith("GET /refuse")) {
      await write("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    } else {
      await write(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n" +
          `sec-websocket-accept: ${await accept(head)}\r\n\r\n`,
      );
      await write(Uint8Array.of(0x81, 2, 0x68, 0x69));
    }
    close();
  });
  await using gateway = gatewayTo(gns3.url);
  const dropped = client(`${gateway.url}/drop`);
  assert.deepEqual(await dropped.closed, [1011, ""]);
  assert.deepEqual(dropped.messages, ["hi"]);
  const { head, body } = await exchange(
    gateway.url,
    "GET /refuse?token=a.b.c HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade, close\r\n" +
      "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  assert.match(head, /^HTTP\/1\.1 403 /);
  assert.equal(JSON.parse(new TextDecoder().decode(body)).code, "forbidden");
  await assert.rejects(client(`${gateway.url}/refuse`).opened);
  assert.doesNotMatch(JSON.stringify(gateway.lines), /a\.b\.c/);
});

Deno.test("GNS3 is read no faster than the client takes it: a flood does not fill memory", async () => {
  let sent = 0;
  const flood = new AbortController();
  await using gns3 = upstream((request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onopen = async () => {
      const piece = new Uint8Array(256 * 1024);
      while (!flood.signal.aborted && socket.readyState === WebSocket.OPEN && sent < 1e9) {
        if (socket.bufferedAmount < 1e6) {
          socket.send(piece);
          sent += piece.length;
        } else await new Promise((resolve) => setTimeout(resolve, 1));
      }
      socket.close();
    };
    return response;
  });
  await using gateway = gatewayTo(gns3.url);
  // A client that completes the handshake and then reads nothing.
  const { hostname, port } = new URL(gateway.url);
  using lazy = await Deno.connect({ hostname, port: Number(port) });
  await lazy.write(
    new TextEncoder().encode(
      "GET /flood HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n" +
        "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    ),
  );
  await until(() => sent > 0);
  let before = -1;
  while (sent !== before) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  assert.ok(sent < 100e6, `${sent} bytes were read for a client that takes none`);
  flood.abort();
});

Deno.test("what is still open is closed when the gateway closes", async () => {
  await using gns3 = echo();
  await using gateway = gatewayTo(gns3.url);
  const { opened, closed } = client(`${gateway.url}/ws`);
  await opened;
  gateway.close();
  assert.deepEqual(await closed, [1001, ""]);
});

/** A server that counts its open WebSockets and takes a while for a handshake. */
function counted(handshakeMs = 0) {
  const sockets = { open: 0, made: 0 };
  const server = upstream(async (request) => {
    if (request.headers.get("upgrade") !== "websocket") {
      return new Response(`${request.method} ${await request.text()}`);
    }
    const { signal } = request;
    await new Promise((resolve) => setTimeout(resolve, handshakeMs));
    // To Deno, one that has gone would never open nor close.
    if (signal.aborted) return new Response();
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onopen = () => (sockets.open++, sockets.made++);
    socket.onclose = () => sockets.open--;
    return response;
  });
  return { ...server, sockets };
}

const KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const VERSION_13 = "Sec-WebSocket-Version: 13\r\n";

Deno.test("a request that only names a WebSocket is plain HTTP, and half a handshake is refused before GNS3 hears of it", async () => {
  await using gns3 = counted();
  await using gateway = gatewayTo(gns3.url);
  const ask = async (start: string, rest: string) => {
    const { head, body } = await exchange(
      gateway.url,
      `${start} HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n${rest}`,
    );
    return [Number(head.split(" ")[1]), new TextDecoder().decode(body)] as const;
  };
  assert.deepEqual(await ask("GET /v3/notifications/ws?token=x", "Connection: close\r\n\r\n"), [200, "GET "]);
  assert.deepEqual(await ask("POST /v3/projects", "Connection: close\r\nContent-Length: 2\r\n\r\n{}"), [
    200,
    "POST {}",
  ]);
  for (
    const given of [
      "",
      KEY,
      VERSION_13,
      `${KEY}Sec-WebSocket-Version: 8\r\n`,
      `Sec-WebSocket-Key: short\r\n${VERSION_13}`,
    ]
  ) {
    const [status, body] = await ask(
      "GET /v3/notifications/ws?token=x",
      `Connection: Upgrade, close\r\n${given}\r\n`,
    );
    assert.deepEqual([status, JSON.parse(body).code], [400, "bad_request"], given);
  }
  assert.equal(gns3.sockets.made, 0);
  assert.deepEqual(gateway.lines.filter(({ level }) => level === "error"), []);
});

Deno.test("a client that leaves while GNS3 takes its time for the handshake leaves nothing open there", async () => {
  await using gns3 = counted(150);
  await using gateway = gatewayTo(gns3.url);
  const { hostname, port } = new URL(gateway.url);
  for (const leaveAfter of [0, 10, 50, 100]) {
    using client = await Deno.connect({ hostname, port: Number(port) });
    await client.write(
      new TextEncoder().encode(
        `GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${KEY}${VERSION_13}\r\n`,
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, leaveAfter));
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(gns3.sockets.open, 0);
  assert.deepEqual(gateway.lines.filter(({ level }) => level === "error"), []);
});
