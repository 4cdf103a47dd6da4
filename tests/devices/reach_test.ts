// From a node to its console: who has none, where it is, and what GNS3's ways of refusing mean.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Node } from "../../src/domain/project.ts";
import { Channel } from "../../src/devices/channel.ts";
import { type ConsoleAccess, consoleHost, openConsole, requireConsole } from "../../src/devices/reach.ts";
import { openWebSocket } from "../../src/devices/transport.ts";
import { Gns3Client } from "../../src/gns3/client.ts";
import { FakeGns3, PROJECT_ID } from "../gns3/fake_gns3.ts";
import { FakeConsole } from "./fake_console.ts";

const { signal: never } = new AbortController();

const node = (more: Partial<Node> = {}): Node => ({
  node_id: "n1",
  name: "PC1",
  node_type: "vpcs",
  status: "started",
  console: 5000,
  console_type: "telnet",
  console_host: "127.0.0.1",
  compute_id: "local",
  tags: [],
  x: 0,
  y: 0,
  ports: [],
  ...more,
});

// F22
Deno.test("requireConsole says for each kind of node why it has no text console", () => {
  const cases: [Partial<Node>, RegExp][] = [
    [
      { node_type: "ethernet_switch", console_type: "none" },
      /PC1 has no console: its type is ethernet_switch/,
    ],
    [{ node_type: "cloud", console_type: "telnet" }, /has no console/],
    [{ console_type: "none" }, /has no console/],
    [{ console_type: undefined, console: undefined }, /has no console/],
    [{ console_type: "vnc" }, /graphical console \(vnc\)/],
    [{ console_type: "spice+agent" }, /graphical console/],
    [{ console_type: "https" }, /web page \(https\)/],
    [{ console_type: "quantum" }, /of type quantum, which is not supported/],
    [{ status: "stopped" }, /PC1 is stopped: start it first \(start_gns3_node\)/],
    [{ status: "suspended" }, /is suspended/],
  ];
  for (const [more, message] of cases) {
    assert.throws(() => requireConsole(node(more)), { code: "conflict", message });
  }
  requireConsole(node());
  requireConsole(node({ console_type: "docker_exec" }));
  assert.throws(() => requireConsole(node({ console_type: "ssh" }), "telnet"), { message: /of type ssh/ });
  assert.throws(() => requireConsole(node({ console: null }), "telnet"), { message: /no console port/ });
});

// F21
Deno.test("consoleHost finds the machine behind wildcard and local addresses", async () => {
  const access = (
    origin: string,
    computes: ConsoleAccess["computes"] = () => Promise.resolve([]),
  ): ConsoleAccess => ({
    templates: () => Promise.resolve([]),
    credentials: () => Promise.resolve(undefined),
    origin,
    computes,
    version: () => Promise.resolve("3.1.0"),
    node: () => Promise.resolve(node()),
    consoleUrl: () => "ws://x",
  });
  const far = () => Promise.resolve([{ compute_id: "far", host: "192.0.2.7" }]);
  const six = () => Promise.resolve([{ compute_id: "far", host: "[2001:db8::7]" }]);
  const refused = () => Promise.reject(new Error("403"));
  const host = (from: ConsoleAccess, console_host: string | null, compute_id = "local") =>
    consoleHost(from, node({ console_host, compute_id }), never);
  assert.equal(await host(access("http://192.0.2.1:3080"), "192.0.2.9"), "192.0.2.9");
  assert.equal(await host(access("http://192.0.2.1:3080"), "0.0.0.0"), "192.0.2.1");
  assert.equal(await host(access("http://192.0.2.1:3080"), "::"), "192.0.2.1");
  assert.equal(await host(access("http://192.0.2.1:3080"), null), "192.0.2.1");
  assert.equal(await host(access("http://192.0.2.1:3080"), "localhost"), "192.0.2.1");
  assert.equal(await host(access("http://127.0.0.1:3080"), "127.0.0.1"), "127.0.0.1");
  assert.equal(await host(access("http://[2001:db8::1]:3080"), "0.0.0.0"), "2001:db8::1");
  assert.equal(await host(access("http://192.0.2.1:3080", far), "0.0.0.0", "far"), "192.0.2.7");
  assert.equal(await host(access("http://192.0.2.1:3080", far), "localhost", "far"), "192.0.2.7");
  assert.equal(await host(access("http://192.0.2.1:3080", six), "::", "far"), "2001:db8::7");
  assert.equal(await host(access("http://192.0.2.1:3080", refused), "0.0.0.0", "far"), "192.0.2.1");
});

/** A WebSocket server that ends the TCP connection right after the handshake, as GNS3 does without Node.Console. */
function dropping() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let count = 0;
  const serve = async () => {
    for await (const connection of listener) {
      count++;
      const buffer = new Uint8Array(4_096);
      const read = await connection.read(buffer);
      const key = /sec-websocket-key: (\S+)/i.exec(
        new TextDecoder().decode(buffer.subarray(0, read ?? 0)),
      )![1]!;
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      const head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
      await connection.write(new TextEncoder().encode(`${head}Sec-WebSocket-Accept: ${accept}\r\n\r\n`));
      connection.close();
    }
  };
  const served = serve();
  return {
    url: `ws://127.0.0.1:${listener.addr.port}/console/ws?token=secret`,
    count: () => count,
    async [Symbol.asyncDispose]() {
      listener.close();
      await served;
    },
  };
}

Deno.test("openConsole takes a connection that is dropped without a close frame for a missing right", async () => {
  await using server = dropping();
  const access: ConsoleAccess = {
    templates: () => Promise.resolve([]),
    credentials: () => Promise.resolve(undefined),
    origin: "http://127.0.0.1:1",
    version: () => Promise.resolve("3.1.0a7"),
    node: () => Promise.resolve(node()),
    computes: () => Promise.resolve([]),
    consoleUrl: () => server.url,
  };
  for (const transport of ["websocket", "telnet"] as const) {
    const open = openConsole(access, "p", node(), { transport, connectMs: 5_000, signal: never });
    await assert.rejects(open, { code: "forbidden", message: /privilege Node\.Console is needed/ });
  }
  assert.equal(server.count(), 4);
});

Deno.test("openConsole tells a node that has stopped meanwhile from a missing right", async () => {
  await using server = dropping();
  const access: ConsoleAccess = {
    templates: () => Promise.resolve([]),
    credentials: () => Promise.resolve(undefined),
    origin: "http://127.0.0.1:1",
    version: () => Promise.resolve("3.0.6"),
    node: () => Promise.resolve(node({ status: "stopped" })),
    computes: () => Promise.resolve([]),
    consoleUrl: () => server.url,
  };
  const open = openConsole(access, "p", node(), { transport: "websocket", connectMs: 5_000, signal: never });
  await assert.rejects(open, { code: "conflict", message: /PC1 is stopped/ });
});

Deno.test("openWebSocket's failures hold nothing of the address", async () => {
  await using server = dropping();
  const closed = "ws://127.0.0.1:1/console/ws?token=secret";
  for (const [url, opened] of [[server.url, true], [closed, false]] as const) {
    await assert.rejects(
      openWebSocket(url, { signal: never, limitMs: 2_000, commands: true }),
      (error: Error) => {
        assert.equal((error as Error & { opened: boolean }).opened, opened);
        return !`${error.stack} ${error.cause}`.includes("secret");
      },
    );
  }
});

Deno.test("openWebSocket reads no faster than its bytes are taken, and hangs up on a device that does not stop", async () => {
  const screenful = new Uint8Array(64 * 1024).fill(120);
  let sent = 0;
  let stopped = false;
  const left = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onopen = async () => {
      while (!stopped && socket.readyState === WebSocket.OPEN) {
        if (socket.bufferedAmount < 1_000_000) {
          socket.send(screenful);
          sent += screenful.length;
        } else await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    socket.onerror = () => {};
    socket.onclose = () => left.resolve();
    return response;
  });
  const url = `ws://127.0.0.1:${server.addr.port}/`;
  const console = await openWebSocket(url, { signal: never, limitMs: 2_000, commands: true });
  const reader = console.readable.getReader();
  assert.equal((await reader.read()).value!.length, screenful.length);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.ok(sent < 50_000_000, `${sent} bytes were taken from a device that nobody reads`);
  await console.close();
  let rest = 0;
  while (!(await reader.read()).done) rest++;
  assert.ok(rest < 10, "after hanging up nothing more is heard");
  stopped = true;
  await left.promise;
  await server.shutdown();
});

async function lab(version: string) {
  const fake = new FakeGns3();
  fake.version = version;
  const made = fake.add("PC1", { status: "started" });
  const console = new FakeConsole();
  fake.consoles.set(made.node_id, console);
  const gns3 = new Gns3Client({ baseUrl: fake.baseUrl, credential: "alice" });
  const [first] = await gns3.nodes(PROJECT_ID);
  return { fake, made, console, gns3, first: first! };
}

for (const version of ["3.1.0a7", "3.0.6"]) {
  Deno.test(`openConsole reaches the console through GNS3 ${version}'s WebSocket`, async () => {
    const { fake, console, gns3, first } = await lab(version);
    await using _ = fake;
    const options = { transport: "websocket", connectMs: 5_000, signal: never } as const;
    const transport = await openConsole(gns3, PROJECT_ID, first, options);
    // 3.0 closes the connection at a binary frame: telnet commands must not be sent there.
    transport.sendCommand!(Uint8Array.of(255, 252, 24));
    const writer = transport.writable.getWriter();
    await writer.write(new TextEncoder().encode("show ip\r"));
    const reader = transport.readable.getReader();
    let text = "";
    while (!text.includes("PC1> ")) text += new TextDecoder().decode((await reader.read()).value);
    assert.deepEqual(console.ran, ["show ip"]);
    await transport.close();
    assert.equal(console.clients, 0);
  });
}

Deno.test("openConsole reports a sign-in that GNS3 does not accept for consoles", async () => {
  const { fake, first } = await lab("3.1.0a7");
  await using _ = fake;
  const bad = new Gns3Client({ baseUrl: fake.baseUrl, credential: "gns3_key" });
  const open = openConsole(bad, PROJECT_ID, first, {
    transport: "websocket",
    connectMs: 5_000,
    signal: never,
  });
  await assert.rejects(open, { code: "unauthorized", message: /sign in again/ });
});

// F14
Deno.test("openConsole tries again while a started node does not listen yet, and gives up in time", async () => {
  const { fake, made, console, gns3, first } = await lab("3.1.0a7");
  await using _ = fake;
  fake.consoles.clear();
  const options = { transport: "websocket", connectMs: 1_500, signal: never } as const;
  await assert.rejects(openConsole(gns3, PROJECT_ID, first, options), {
    code: "unavailable",
    message: /PC1 accepts no connection although the node is started/,
  });
  const up = setTimeout(() => fake.consoles.set(made.node_id, console), 400);
  const transport = await openConsole(gns3, PROJECT_ID, first, { ...options, connectMs: 5_000 });
  await transport.close();
  clearTimeout(up);
});

Deno.test("openConsole goes to the telnet port only after GNS3 has let the caller in", async () => {
  const { fake, gns3, first } = await lab("3.1.0a7");
  await using _ = fake;
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  const options = { transport: "telnet", connectMs: 5_000, signal: never } as const;
  const target = { ...first, console: listener.addr.port, console_host: "0.0.0.0" };
  const transport = await openConsole(gns3, PROJECT_ID, target, options);
  const server = await accepted;
  await server.write(Uint8Array.of(80));
  assert.deepEqual([...(await transport.readable.getReader().read()).value!], [80]);
  assert.ok(fake.paths().some((path) => path.endsWith("/console/ws")));
  await transport.close();
  server.close();
  listener.close();
});

Deno.test("openConsole asks GNS3 again in time, and types nothing for a caller whose right was taken away", async () => {
  const { fake, made, console, gns3, first } = await lab("3.1.0a7");
  await using _ = fake;
  const options = { transport: "websocket", connectMs: 5_000, signal: never, proofMs: 50 } as const;
  const transport = await openConsole(gns3, PROJECT_ID, first, options);
  const channel = new Channel(transport);
  const asked = () => fake.paths().filter((path) => path.endsWith("/console/ws")).length;
  await channel.send("show ip\r");
  assert.equal(asked(), 1, "the proof of the opening still counts");
  await new Promise((resolve) => setTimeout(resolve, 60));
  await channel.send("show arp\r");
  assert.equal(asked(), 2);
  fake.instead.set(`GET /v3/projects/${PROJECT_ID}/nodes/${made.node_id}/console/ws`, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onopen = () => socket.close(4403);
    return response;
  });
  await new Promise((resolve) => setTimeout(resolve, 60));
  const refused = { code: "forbidden", message: /does not let you use the console of PC1/ };
  await assert.rejects(channel.send("ip 10.0.0.1\r"), refused);
  await assert.rejects(channel.send("\x03"), refused);
  await channel.close();
  assert.deepEqual(console.ran, ["show ip", "show arp"]);
});

Deno.test("openConsole ends with the signal's reason", async () => {
  const { fake, gns3, first } = await lab("3.1.0a7");
  await using _ = fake;
  fake.consoles.clear();
  const stop = new AbortController();
  const open = openConsole(gns3, PROJECT_ID, first, {
    transport: "websocket",
    connectMs: 5_000,
    signal: stop.signal,
  });
  setTimeout(() => stop.abort(new Error("enough")), 100);
  await assert.rejects(open, { message: "enough" });
});
