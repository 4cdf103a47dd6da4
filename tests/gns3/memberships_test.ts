import assert from "node:assert/strict";
import { Memberships, type MembershipsOptions } from "../../src/gns3/memberships.ts";

/** A GNS3 server that tells `teller`s about groups; `alice` and `bob` are in class-a, nobody else anywhere. */
async function withGroups(
  work: (of: {
    ask: (who: string, signal?: AbortSignal) => Promise<string[] | undefined>;
    memberships: Memberships;
    asked: string[];
    tellers: Set<string>;
    down: () => Promise<void>;
  }) => Promise<void>,
  options: Partial<MembershipsOptions> = {},
) {
  const asked: string[] = [];
  const tellers = new Set(["admin"]);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const who = request.headers.get("authorization")!.slice(7);
    const user = /users\/(.+)\/groups/.exec(request.url)![1]!;
    asked.push(`${who} about ${user}`);
    if (who === "ended") {
      return Response.json({ message: "Token has expired", code: "unauthorized" }, { status: 401 });
    }
    if (!tellers.has(who)) {
      const message = "Permission denied (privilege Group.Audit is required)";
      return Response.json({ message, code: "forbidden" }, { status: 403 });
    }
    const groups = user === "alice" || user === "bob"
      ? [{ user_group_id: "g", name: "class-a", is_builtin: false }]
      : [];
    return Response.json(groups);
  });
  const memberships = new Memberships({
    baseUrl: `http://127.0.0.1:${server.addr.port}`,
    ...options,
  });
  try {
    await work({
      memberships,
      asked,
      tellers,
      ask: async (who, signal) =>
        (await memberships.of(who, { userId: who, username: who, credential: who }, signal))?.map((
          { name },
        ) => name),
      down: () => server.shutdown(),
    });
  } finally {
    await server.shutdown();
  }
}

const caller = (name: string, superadmin = false) => ({
  userId: name,
  username: name,
  credential: name,
  superadmin,
});

Deno.test("Memberships asks with the user's own sign-in first, and remembers nothing", () =>
  // I5
  withGroups(async ({ ask, asked, tellers }) => {
    tellers.add("alice");
    assert.deepEqual(await ask("alice"), ["class-a"]);
    assert.deepEqual(await ask("alice"), ["class-a"]);
    assert.deepEqual(asked, ["alice about alice", "alice about alice"]);
  }));

Deno.test("Memberships lets the newest super administrator stand in, nobody else, and drops one who is refused", () =>
  withGroups(async ({ ask, asked, memberships, tellers }) => {
    memberships.met(caller("bob"));
    assert.equal(await ask("alice"), undefined);
    assert.deepEqual(asked.splice(0), ["alice about alice"]);
    memberships.met(caller("admin", true));
    assert.deepEqual(await ask("alice"), ["class-a"]);
    assert.deepEqual(asked.splice(0), ["alice about alice", "admin about alice"]);
    assert.deepEqual(await ask("carol"), []);
    for (const refused of ["ended", "demoted"]) {
      memberships.met(caller(refused, true));
      asked.length = 0;
      assert.equal(await ask("alice"), undefined);
      assert.equal(await ask("alice"), undefined);
      assert.deepEqual(asked, ["alice about alice", `${refused} about alice`, "alice about alice"]);
    }
    tellers.clear();
  }));

Deno.test("Memberships prefers a service account to an administrator", () =>
  withGroups(async ({ ask, asked, memberships, tellers }) => {
    tellers.add("service");
    memberships.met(caller("admin", true));
    assert.deepEqual(await ask("bob"), ["class-a"]);
    assert.deepEqual(asked, ["bob about bob", "service about bob"]);
  }, { service: () => Promise.resolve("service") }));

Deno.test("Memberships: many at once share one request, which nobody's leaving ends", () =>
  withGroups(async ({ ask, asked, tellers }) => {
    tellers.add("alice");
    const leaving = new AbortController();
    const left = ask("alice", leaving.signal);
    const stayed = Promise.all(Array.from({ length: 20 }, () => ask("alice")));
    leaving.abort(new Error("left"));
    await assert.rejects(left, /left/);
    assert.deepEqual(new Set((await stayed).map(String)), new Set(["class-a"]));
    assert.equal(asked.length, 1);
  }));

Deno.test("Memberships passes on that the caller's own sign-in has ended or that GNS3 is away, and asks again later", () =>
  withGroups(async ({ ask, memberships, down }) => {
    await assert.rejects(ask("ended"), { code: "unauthorized" });
    memberships.met(caller("admin", true));
    assert.deepEqual(await ask("alice"), ["class-a"]);
    await down();
    await assert.rejects(ask("bob"), { code: "unavailable" });
    await assert.rejects(ask("alice"), { code: "unavailable" });
  }));
