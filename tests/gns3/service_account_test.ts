import assert from "node:assert/strict";
import { expiryOf, ServiceAccount } from "../../src/gns3/service_account.ts";

interface SignIn {
  path: string;
  body: unknown;
}

/** A server that gives out `token-1`, `token-2`, … for the right password. */
function signInServer(answer: (n: number) => Record<string, unknown>) {
  const seen: SignIn[] = [];
  const stop = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stop.signal, onListen() {} },
    async (request) => {
      const body = await request.json();
      seen.push({ path: new URL(request.url).pathname, body });
      if (body.password !== "right") return Response.json({ message: "no" }, { status: 401 });
      return Response.json({ token_type: "bearer", ...answer(seen.length) });
    },
  );
  return {
    seen,
    baseUrl: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await server.finished;
    },
  };
}

const jwt = (claims: unknown) => `h.${btoa(JSON.stringify(claims)).replaceAll("=", "")}.s`;

Deno.test("ServiceAccount signs in once for all who ask, and again before the token runs out", async () => {
  await using server = signInServer((n) => ({ access_token: `token-${n}`, expires_in: 3600 }));
  let now = 1_000_000;
  const told: string[] = [];
  const account = new ServiceAccount({
    baseUrl: server.baseUrl,
    username: "copilot",
    password: "right",
    onToken: (token) => void told.push(token),
    now: () => now,
  });
  assert.deepEqual(await Promise.all([account.credential(), account.credential()]), ["token-1", "token-1"]);
  now += 3_539_000;
  assert.equal(await account.credential(), "token-1");
  now += 2_000;
  assert.equal(await account.credential(), "token-2");
  assert.deepEqual(
    server.seen,
    Array(2).fill({
      path: "/v3/access/users/authenticate",
      body: { username: "copilot", password: "right" },
    }),
  );
  assert.deepEqual(told, ["token-1", "token-2"]);
});

Deno.test("ServiceAccount reads the expiry from the token where GNS3 does not tell it", async () => {
  let now = 1_000_000_000;
  await using server = signInServer((n) => ({ access_token: jwt({ sub: "x", exp: now / 1000 + 100 * n }) }));
  const account = new ServiceAccount({
    baseUrl: server.baseUrl,
    username: "x",
    password: "right",
    now: () => now,
  });
  const first = await account.credential();
  now += 39_000;
  assert.equal(await account.credential(), first);
  now += 2_000;
  assert.notEqual(await account.credential(), first);
  assert.equal(server.seen.length, 2);
});

Deno.test("ServiceAccount forgets a token that was refused, and no newer one", async () => {
  await using server = signInServer((n) => ({ access_token: `token-${n}` }));
  const account = new ServiceAccount({ baseUrl: server.baseUrl, username: "x", password: "right" });
  const first = await account.credential();
  await account.forget(first);
  assert.equal(await account.credential(), "token-2");
  await account.forget(first);
  assert.equal(await account.credential(), "token-2");
});

Deno.test("ServiceAccount names the settings when GNS3 refuses it, never the password, and tries again later", async () => {
  await using server = signInServer(() => ({}));
  const account = new ServiceAccount({ baseUrl: server.baseUrl, username: "copilot", password: "wrong-one" });
  for (let i = 1; i <= 2; i++) {
    await assert.rejects(account.credential(), (error: Error & { code: string }) => {
      assert.equal(error.code, "unauthorized");
      assert.match(error.message, /--gns3-user \(copilot\).*GNS3_COPILOT_GNS3_PASSWORD/);
      assert.ok(!error.message.includes("wrong-one"));
      return true;
    });
    assert.equal(server.seen.length, i);
  }
});

Deno.test("ServiceAccount does not take another server's answer for a token", async () => {
  await using server = signInServer(() => ({ hello: "world" }));
  const account = new ServiceAccount({ baseUrl: server.baseUrl, username: "x", password: "right" });
  await assert.rejects(account.credential(), /is not a GNS3 3 server/);
});

Deno.test("expiryOf reads a JWT's own claim, and takes what has none for unlimited", () => {
  assert.equal(expiryOf(jwt({ exp: 5 })), 5_000);
  for (const token of ["gns3_1_secret", "a.b.c", jwt({}), jwt({ exp: "soon" }), ""]) {
    assert.equal(expiryOf(token), Infinity, token);
  }
});
