// Identities and projects, as GNS3 answers for them.
import assert from "node:assert/strict";
import { Access } from "../../src/gns3/access.ts";
import { CLOSED_ID, FakeGns3, PROJECT_ID } from "./fake_gns3.ts";

const ME = "GET /v3/access/users/me";
const asked = (fake: FakeGns3) => fake.paths().filter((path) => path === ME).length;

Deno.test("Access.identify asks GNS3 once a minute for each credential", async () => {
  await using fake = new FakeGns3();
  let time = 1_000;
  const access = new Access({ baseUrl: fake.baseUrl, now: () => time });
  const alice = { userId: "id-of-alice", username: "alice", credential: "alice" };
  assert.deepEqual(await access.identify("alice"), alice);
  time += 59_999;
  assert.deepEqual(await access.identify("alice"), alice);
  assert.equal(asked(fake), 1);
  time += 1;
  await access.identify("alice");
  assert.equal(asked(fake), 2);
  assert.equal((await access.identify("looker")).userId, "id-of-looker");
  assert.equal(asked(fake), 3);
});

Deno.test("Access.identify shares one request among calls at the same time, and one abort does not end the others", async () => {
  await using fake = new FakeGns3();
  const held = Promise.withResolvers<void>();
  fake.instead.set(ME, async () => {
    await held.promise;
    return Response.json({ user_id: "u", username: "alice" });
  });
  const access = new Access({ baseUrl: fake.baseUrl });
  const stop = new AbortController();
  const first = access.identify("alice", stop.signal);
  const others = [access.identify("alice"), access.identify("alice")];
  const gaveUp = assert.rejects(first, { message: "gone" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  stop.abort(new Error("gone"));
  await gaveUp;
  held.resolve();
  assert.deepEqual((await Promise.all(others)).map((caller) => caller.userId), ["u", "u"]);
  assert.equal(asked(fake), 1);
});

Deno.test("Access.identify does not remember a refusal", async () => {
  await using fake = new FakeGns3();
  const access = new Access({ baseUrl: fake.baseUrl });
  await assert.rejects(access.identify("stranger"), { code: "unauthorized" });
  await assert.rejects(access.identify("stranger"), { code: "unauthorized" });
  assert.equal(asked(fake), 2);
});

// G3
Deno.test("Access drops an identity when GNS3 answers 401 to it", async () => {
  await using fake = new FakeGns3();
  const access = new Access({ baseUrl: fake.baseUrl });
  const caller = await access.identify("alice");
  fake.instead.set(
    `GET /v3/projects/${PROJECT_ID}`,
    () => Response.json({ message: "Token has expired" }, { status: 401 }),
  );
  await assert.rejects(access.project(caller, PROJECT_ID), { code: "unauthorized" });
  await access.identify("alice");
  assert.equal(asked(fake), 2);
});

Deno.test("Access.known is what GNS3 said last, also while it cannot be asked, until it refuses the credential", async () => {
  await using fake = new FakeGns3();
  let time = 1_000;
  const access = new Access({ baseUrl: fake.baseUrl, now: () => time, maxEntries: 2 });
  assert.equal(await access.known("alice"), undefined);
  const alice = await access.identify("alice");
  time += 3_600_000;
  assert.deepEqual(await access.known("alice"), alice);
  fake.instead.set(ME, () => new Response("down", { status: 502 }));
  await assert.rejects(access.identify("alice"), { code: "unavailable" });
  assert.deepEqual(await access.known("alice"), alice);
  fake.instead.set(ME, () => new Response("{}", { status: 401 }));
  await assert.rejects(access.identify("alice"), { code: "unauthorized" });
  assert.equal(await access.known("alice"), undefined);
  fake.instead.delete(ME);
  for (const one of ["alice", "looker", "nobody"]) await access.identify(one);
  assert.equal(await access.known("alice"), undefined);
  await access.forget("nobody");
  assert.equal(await access.known("nobody"), undefined);
});

Deno.test("Access remembers a bounded number of identities, the most recently used ones", async () => {
  await using fake = new FakeGns3();
  fake.instead.set(ME, () => Response.json({ user_id: "u", username: "n" }));
  const access = new Access({ baseUrl: fake.baseUrl, maxEntries: 2 });
  for (const credential of ["a", "b", "a", "c"]) await access.identify(credential);
  assert.equal(asked(fake), 3);
  await access.identify("a");
  assert.equal(asked(fake), 3);
  await access.identify("b");
  assert.equal(asked(fake), 4);
});

Deno.test("Access.project gives an opened project, by a caller or a bare credential", async () => {
  await using fake = new FakeGns3();
  const access = new Access({ baseUrl: fake.baseUrl });
  const [caller, project] = await Promise.all([
    access.identify("alice"),
    access.project("alice", PROJECT_ID),
  ]);
  assert.equal(project.name, "lab");
  assert.equal((await access.project(caller, PROJECT_ID)).project_id, PROJECT_ID);
});

// A6
Deno.test("Access.project refuses a closed project with its state, others with what GNS3 says", async () => {
  await using fake = new FakeGns3();
  const access = new Access({ baseUrl: fake.baseUrl });
  await assert.rejects(access.project("alice", CLOSED_ID), {
    code: "forbidden",
    message: "Project must be opened to use chat. Current status: closed",
  });
  const unknown = "00000000-0000-4000-8000-000000000000";
  await assert.rejects(access.project("alice", unknown), { code: "project_not_found" });
  await assert.rejects(access.project("nobody", PROJECT_ID), {
    code: "forbidden",
    message: /Project\.Audit/,
  });
  await assert.rejects(access.project("stranger", PROJECT_ID), { code: "unauthorized" });
});

Deno.test("Access.project refuses a malformed id without asking GNS3", async () => {
  await using fake = new FakeGns3();
  const access = new Access({ baseUrl: fake.baseUrl });
  for (const id of ["not-a-uuid", "", "../version", `${PROJECT_ID}/nodes`]) {
    await assert.rejects(access.project("alice", id), {
      code: "validation_error",
      message: "project_id: must be a UUID",
    });
  }
  assert.deepEqual(fake.seen, []);
});
