import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { filesTaken } from "../../../src/http/gateway/gateway.ts";
import { exchange, gatewayTo, upstream } from "./gateway_server.ts";
import { rawServer } from "./raw_server.ts";

const headersIn = (head: string) =>
  head.split("\r\n").slice(1).map((line) => {
    const at = line.indexOf(":");
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const;
  });
const header = (head: string, name: string) =>
  headersIn(head).filter(([key]) => key === name).map(([, value]) => value);

Deno.test("the gateway passes a request on as it is: target, headers and Host, and says where it came from", async () => {
  let seen = "";
  await using gns3 = rawServer(async ({ head, write, close }) => {
    seen = head;
    await write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    close();
  });
  await using gateway = gatewayTo(gns3.url);
  const request = "GET /v3/projects/a%2Fb/files/x%20y?token=t.t.t&q=%C3%BC&q=2 HTTP/1.1\r\n" +
    "Host: lab.example:8080\r\nAuthorization: Bearer abc\r\nCookie: a=1; b=2\r\nX-Own: one\r\nAccept: */*\r\n" +
    "Accept-Encoding: gzip\r\nConnection: close, X-Hop\r\nX-Hop: mine\r\nTE: trailers\r\nKeep-Alive: timeout=5\r\n" +
    "Proxy-Authorization: Basic eA==\r\n\r\n";
  await exchange(gateway.url, request);
  assert.equal(
    seen.split("\r\n")[0],
    "GET /v3/projects/a%2Fb/files/x%20y?token=t.t.t&q=%C3%BC&q=2 HTTP/1.1",
  );
  assert.deepEqual(Object.fromEntries(headersIn(seen).filter(([name]) => name !== "connection")), {
    host: "lab.example:8080",
    authorization: "Bearer abc",
    cookie: "a=1; b=2",
    "x-own": "one",
    accept: "*/*",
    "accept-encoding": "gzip",
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-host": "lab.example:8080",
    "x-forwarded-proto": "http",
  });
});

Deno.test("the gateway keeps what a proxy in front of it says, and adds itself to the way", async () => {
  await using gns3 = upstream(({ headers }) =>
    Response.json(["for", "host", "proto"].map((name) => headers.get(`x-forwarded-${name}`)))
  );
  await using gateway = gatewayTo(gns3.url);
  const answer = await fetch(`${gateway.url}/x`, {
    headers: {
      "x-forwarded-for": "192.0.2.7",
      "x-forwarded-host": "lab.example",
      "x-forwarded-proto": "https",
    },
  });
  assert.deepEqual(await answer.json(), ["192.0.2.7, 127.0.0.1", "lab.example", "https"]);
});

Deno.test("the gateway passes an answer back as it is: status, repeated headers, a compressed body, a redirect", async () => {
  const packed = gzipSync("hello ".repeat(100));
  await using gns3 = rawServer(async ({ head, write, close }) => {
    if (head.startsWith("GET /redirect")) {
      await write(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://lab.example:8080/static/\r\ncontent-length: 0\r\n\r\n",
      );
    } else {
      await write(
        `HTTP/1.1 418 I am a teapot\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n` +
          'content-type: text/plain\r\nset-cookie: a=1\r\nset-cookie: b=2; Path=/\r\netag: "x"\r\n' +
          "connection: close, x-hop\r\nx-hop: theirs\r\nkeep-alive: timeout=5\r\nserver: uvicorn\r\n\r\n",
      );
      await write(packed);
    }
    close();
  });
  await using gateway = gatewayTo(gns3.url);
  const { head, body } = await exchange(
    gateway.url,
    "GET / HTTP/1.1\r\nhost: x\r\naccept-encoding: gzip\r\nconnection: close\r\n\r\n",
  );
  assert.match(head, /^HTTP\/1\.1 418 /);
  assert.deepEqual(header(head, "set-cookie"), ["a=1", "b=2; Path=/"]);
  assert.deepEqual(header(head, "content-encoding"), ["gzip"]);
  assert.deepEqual(header(head, "content-length"), [String(packed.length)]);
  assert.deepEqual([header(head, "etag"), header(head, "server"), header(head, "x-hop")], [['"x"'], [
    "uvicorn",
  ], []]);
  assert.deepEqual(body, new Uint8Array(packed));
  const redirect = await exchange(
    gateway.url,
    "GET /redirect HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
  );
  assert.match(redirect.head, /^HTTP\/1\.1 307 /);
  assert.deepEqual(header(redirect.head, "location"), ["http://lab.example:8080/static/"]);
});

Deno.test("the gateway answers HEAD, 204, 304 and ranges as GNS3 does", async () => {
  await using gns3 = upstream(({ method, url, headers }) => {
    const { pathname } = new URL(url);
    if (pathname === "/204") return new Response(null, { status: 204 });
    if (pathname === "/304") return new Response(null, { status: 304, headers: { etag: '"e"' } });
    if (headers.get("range") === "bytes=2-4") {
      return new Response("cde", { status: 206, headers: { "content-range": "bytes 2-4/10" } });
    }
    return new Response(method === "HEAD" ? null : "abcdefghij", { headers: { "content-length": "10" } });
  });
  await using gateway = gatewayTo(gns3.url);
  const head = await exchange(gateway.url, "HEAD /f HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  assert.deepEqual([header(head.head, "content-length"), head.body.length], [["10"], 0]);
  const none = await fetch(`${gateway.url}/204`, { method: "DELETE" });
  assert.deepEqual([none.status, await none.text()], [204, ""]);
  const same = await fetch(`${gateway.url}/304`);
  assert.deepEqual([same.status, same.headers.get("etag"), await same.text()], [304, '"e"', ""]);
  const part = await fetch(`${gateway.url}/f`, { headers: { range: "bytes=2-4" } });
  assert.deepEqual(
    [part.status, part.headers.get("content-range"), await part.text()],
    [206, "bytes 2-4/10", "cde"],
  );
});

Deno.test("the gateway holds nothing back: each piece of a stream passes when it comes", async () => {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const left = Promise.withResolvers<void>();
  await using gns3 = upstream(() =>
    new Response(
      new ReadableStream({ start: (c) => void (controller = c), cancel: () => left.resolve() }),
      { headers: { "content-type": "application/json" } },
    )
  );
  await using gateway = gatewayTo(gns3.url);
  const answer = await fetch(`${gateway.url}/v3/notifications`, {
    headers: { "accept-encoding": "gzip, br" },
  });
  const reader = answer.body!.getReader();
  for (const line of ['{"action": "ping"}\n', '{"action": "project.opened"}\n']) {
    controller.enqueue(new TextEncoder().encode(line));
    assert.equal(new TextDecoder().decode((await reader.read()).value), line);
  }
  await reader.cancel();
  await left.promise;
});

Deno.test("the gateway reads no faster than the client: an answer without end fills no memory", async () => {
  let sent = 0;
  await using gns3 = upstream(() =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent += 65536;
          controller.enqueue(new Uint8Array(65536));
        },
      }),
    )
  );
  await using gateway = gatewayTo(gns3.url);
  const answer = await fetch(`${gateway.url}/endless`);
  let before = -1;
  while (sent !== before) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  assert.ok(sent < 64 * 1024 * 1024, `${sent} bytes were read for a client that takes none`);
  await answer.body!.cancel();
});

Deno.test("the gateway passes uploads on as they come, whatever their size, and no faster than GNS3 takes them", async () => {
  let received = 0;
  let slow = true;
  const go = Promise.withResolvers<void>();
  await using gns3 = upstream(async (request) => {
    for await (const chunk of request.body!) {
      received += chunk.length;
      if (slow) await go.promise;
    }
    return Response.json({ received, length: request.headers.get("content-length") });
  });
  await using gateway = gatewayTo(gns3.url);
  let produced = 0;
  const total = 200 * 1024 * 1024;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (produced >= total) return controller.close();
      produced += 1024 * 1024;
      controller.enqueue(new Uint8Array(1024 * 1024));
    },
  });
  const answer = fetch(`${gateway.url}/v3/images/upload/big`, { method: "POST", body });
  let before = -1;
  while (produced !== before) {
    before = produced;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  assert.ok(produced < total / 2, `${produced} bytes were taken although GNS3 takes none`);
  slow = false;
  go.resolve();
  assert.deepEqual(await (await answer).json(), { received: total, length: null });
  const known = await fetch(`${gateway.url}/x`, { method: "PUT", body: "12345" });
  assert.deepEqual(await known.json(), { received: total + 5, length: "5" });
});

Deno.test("the gateway passes an early answer back while the client is still sending", async () => {
  await using gns3 = rawServer(async ({ write, close }) => {
    await write("HTTP/1.1 413 Content Too Large\r\ncontent-length: 3\r\nconnection: close\r\n\r\nno!");
    await new Promise((resolve) => setTimeout(resolve, 50));
    close();
  });
  await using gateway = gatewayTo(gns3.url);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      controller.enqueue(new Uint8Array(1000));
    },
  });
  const leave = new AbortController();
  const answer = await fetch(`${gateway.url}/upload`, { method: "POST", body, signal: leave.signal });
  assert.deepEqual([answer.status, await answer.text()], [413, "no!"]);
  leave.abort();
});

Deno.test("the gateway cuts GNS3 off when the client leaves, and the client when GNS3 breaks off", async () => {
  const left = Promise.withResolvers<void>();
  await using gns3 = upstream((request) => {
    if (request.url.endsWith("/break")) {
      return new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode("half"));
            await new Promise((resolve) => setTimeout(resolve, 20));
            controller.error(new Error("broken on purpose"));
          },
        }),
      );
    }
    return new Promise<Response>((resolve) =>
      request.signal.addEventListener("abort", () => {
        left.resolve();
        resolve(new Response("late"));
      })
    );
  });
  await using gateway = gatewayTo(gns3.url);
  const leave = new AbortController();
  const waiting = fetch(`${gateway.url}/never`, { signal: leave.signal });
  setTimeout(() => leave.abort(), 50);
  await assert.rejects(waiting, /abort/i);
  await left.promise;
  const broken = await fetch(`${gateway.url}/break`);
  await assert.rejects(broken.text());
});

Deno.test("the gateway says in GNS3's shape that GNS3 is away, and names no token anywhere", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  await using gateway = gatewayTo(`http://127.0.0.1:${port}`);
  const answer = await fetch(`${gateway.url}/v3/version?token=secret.secret.secret`);
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get("retry-after"), "5");
  const { message, code } = await answer.json();
  assert.equal(code, "unavailable");
  assert.match(message, /GNS3 server at http:\/\/127\.0\.0\.1:\d+ does not answer/);
  assert.ok(gateway.lines.some(({ msg }) => msg === "GET /v3/version 503 (GNS3)"));
  assert.doesNotMatch(JSON.stringify(gateway.lines) + message, /secret/);
});

Deno.test("the gateway works with a GNS3 below a path", async () => {
  await using gns3 = upstream(({ url }) => new Response(new URL(url).pathname));
  await using gateway = gatewayTo(`${gns3.url}/gns3/`);
  assert.equal(await (await fetch(`${gateway.url}/v3/version`)).text(), "/gns3/v3/version");
});

Deno.test("the gateway tells when a request is about to take a project's files away, and when that is over", async () => {
  const id = "438ab39b-d78d-4c48-944c-a987cea63540";
  await using gns3 = upstream(() => new Response(null, { status: 204 }));
  await using gateway = gatewayTo(gns3.url);
  const call = (method: string, path: string) =>
    fetch(`${gateway.url}${path}`, { method, headers: { authorization: "Bearer abc" } });
  for (
    const [method, path] of [["GET", ""], ["PUT", ""], ["POST", "/close"], ["DELETE", "/nodes/1"], [
      "POST",
      "/snapshots",
    ]]
  ) {
    await call(method!, `/v3/projects/${id}${path}`);
  }
  assert.deepEqual(gateway.taken, []);
  await call("DELETE", `/v3/projects/${id.toUpperCase()}`);
  await call("POST", `/v3/projects/${id}/snapshots/5/restore`);
  assert.deepEqual(gateway.taken, [
    { projectId: id, how: "deleted", credential: "abc" },
    { projectId: id, how: "restored", credential: "abc" },
  ]);
  assert.equal(gateway.holding(), 0);
  const byToken = filesTaken("DELETE", new URL(`http://x/v3/projects/${id}/?token=t`), null);
  assert.deepEqual(byToken, { projectId: id, how: "deleted", credential: "t" });
  assert.equal(filesTaken("DELETE", new URL(`http://x/v3/projects/${id}`), null), undefined);
});

Deno.test("the gateway says what GNS3 without AI features forgets to say: an address of /v3/access has no slash at its end", async () => {
  await using gns3 = upstream(() => new Response("AI Copilot is not available.", { status: 501 }));
  await using gateway = gatewayTo(gns3.url);
  const ask = (path: string) => fetch(gateway.url + path, { redirect: "manual" });
  const moved = await ask("/v3/access/users/me/?x=1");
  assert.deepEqual([moved.status, moved.headers.get("location")], [307, "/v3/access/users/me?x=1"]);
  for (const path of ["/v3/access/users/me", "/v3/copilot/x/", "/v3/access/"]) {
    const answer = await ask(path);
    assert.deepEqual([answer.status, await answer.text()], [501, "AI Copilot is not available."], path);
  }
});
