import assert from "node:assert/strict";
import { slow, text } from "../../src/practice/model_script.ts";
import { startChatServer } from "../fakes/chat.ts";

Deno.test("another user of the project finds nothing of a session, and changes nothing", async () => { // A4
  await using server = await startChatServer();
  server.gns3.grant("bob", server.gns3.projectId, "User");
  const [alice, bob] = [server.chat("alice"), server.chat("bob")];
  const turn = await alice.send(`a secret ${server.model.script("t", [text("an answer")])}`, {
    session_id: "mine",
  });
  const before = await alice.json("GET", "/sessions/mine");
  const attempts: [string, string, unknown?][] = [
    ["GET", "/sessions/mine"],
    ["GET", "/sessions/mine/history"],
    ["GET", "/sessions/mine/export"],
    ["GET", "/sessions/mine/stream"],
    ["PATCH", "/sessions/mine", { title: "stolen" }],
    ["PUT", "/sessions/mine/pin"],
    ["DELETE", "/sessions/mine/pin"],
    ["POST", "/sessions/mine/abort"],
    ["DELETE", "/sessions/mine"],
    ["POST", "/stream", { message: "x", session_id: "mine" }],
    ["POST", "/inject", { session_id: "mine" }],
  ];
  for (const [method, path, body] of attempts) {
    const answer = await bob.call(method, path, body);
    const said = await answer.text();
    assert.equal(answer.status, 404, `${method} ${path}`);
    assert.ok(!said.includes("secret") && !said.includes("answer"), said);
    const unknown = path.replace("mine", "unknown");
    if (!path.startsWith("/sessions")) continue;
    assert.equal(
      said,
      await (await bob.call(method, unknown, body)).text(),
      "the same as one that does not exist",
    );
  }
  assert.deepEqual(await bob.json("GET", "/sessions"), []);
  assert.deepEqual(await alice.json("GET", "/sessions/mine"), before);
  assert.equal((await alice.messages("mine")).length, 2);
  assert.equal(turn.text, "an answer");
});

Deno.test("GNS3 decides who may enter: 401, 403, 404, and a closed project is 403 that says so", async () => { // A6, M3
  await using server = await startChatServer();
  const { gns3 } = server;
  for (const path of ["/sessions", "/sessions/x/history"]) {
    assert.equal((await fetch(server.chat("alice").prefix + path)).status, 401);
    assert.equal((await server.chat("rubbish").call("GET", path)).status, 401);
    assert.equal((await server.chat("bob").call("GET", path)).status, 403);
  }
  assert.equal((await server.chat("alice", crypto.randomUUID()).call("GET", "/sessions")).status, 403);
  assert.equal((await server.chat("admin", crypto.randomUUID()).call("GET", "/sessions")).status, 404);
  const odd = await server.chat("admin", "no-uuid").call("GET", "/sessions");
  assert.equal(odd.status, 422);
  const admin = server.chat("admin");
  await admin.send(server.model.script("t", [text("x")]));
  await fetch(`${gns3.url}/v3/projects/${gns3.projectId}/close`, {
    method: "POST",
    headers: { authorization: `Bearer ${admin.token}` },
  });
  const closed = await admin.json("GET", "/sessions", undefined, 403);
  assert.equal(closed.message, "Project must be opened to use chat. Current status: closed");
  await fetch(`${gns3.url}/v3/projects/${gns3.projectId}/open`, {
    method: "POST",
    headers: { authorization: `Bearer ${admin.token}` },
  });
  assert.equal((await admin.json("GET", "/sessions")).length, 1);
});

Deno.test("users who stream at the same time each act with their own sign-in and see their own answer", async () => { // L3
  await using server = await startChatServer();
  server.gns3.grant("bob", server.gns3.projectId, "User");
  const rounds = 40;
  const seen = server.gns3.requests.length;
  await Promise.all(["alice", "bob"].flatMap((user) =>
    Array.from({ length: rounds }, async (_, i) => {
      const tag = server.model.script(`${user}${i}`, [slow(3 + i % 5, 1 + i % 3)]);
      const turn = await server.chat(user).send(`${user} says ${tag}`);
      const [question] = await server.chat(user).messages(turn.sessionId);
      assert.ok(question.content.startsWith(`${user} says`));
    })
  ));
  const topology = server.gns3.requests.slice(seen).filter((request) => request.path.endsWith("/nodes"));
  for (const user of ["alice", "bob"]) {
    assert.equal(topology.filter((request) => request.username === user).length, rounds);
    const sessions = await server.chat(user).json("GET", "/sessions?limit=500");
    assert.equal(sessions.length, rounds);
  }
});

Deno.test("the alias prefix and the flat routes are the same handlers", async () => { // A1
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const id = server.gns3.projectId;
  const turn = await alice.send(server.model.script("t", [text("same")]));
  const alias = `/v3/copilot/projects/${id}/chat`;
  for (const path of ["/sessions", `/sessions/${turn.sessionId}/history`]) {
    assert.deepEqual(await alice.json("GET", alias + path), await alice.json("GET", path));
  }
  const query = `?project_id=${id}`;
  assert.deepEqual(
    await alice.json("GET", `/v3/chat/sessions${query}`),
    await alice.json("GET", "/sessions"),
  );
  assert.deepEqual(
    await alice.json("GET", `/v3/chat/history/${turn.sessionId}${query}`),
    await alice.json("GET", `/sessions/${turn.sessionId}/history`),
  );
  const flat = await alice.json("POST", "/v3/chat/stream", {
    message: server.model.script("u", [text("flat")]),
    project_id: id,
    stream: false,
  });
  assert.equal(flat.message.content, "flat");
  assert.equal((await alice.json("POST", `/v3/chat/sessions${query}`, { title: "made" }, 201)).title, "made");
  await alice.json("DELETE", `/v3/chat/sessions/${flat.session_id}${query}`, undefined, 204);
  await alice.json("GET", "/v3/chat/sessions", undefined, 422);
});

Deno.test("sessions are listed, searched, renamed, pinned and exported", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const ids: string[] = [];
  for (const title of ["OSPF area zero", "Spanning tree", "100%_odd"]) {
    const tag = server.model.script(`t${ids.length}`, [text("the answer")], { title: text(title) });
    ids.push((await alice.send(tag)).sessionId);
  }
  const order = async (query = "") =>
    (await alice.json("GET", `/sessions${query}`)).map((s: { thread_id: string }) => s.thread_id);
  assert.deepEqual(await order(), ids.toReversed());
  assert.deepEqual(await order("?q=ospf"), [ids[0]]);
  assert.deepEqual(await order("?q=0%25_"), [ids[2]]);
  assert.deepEqual(await order("?limit=1&offset=1"), [ids[1]]);
  assert.equal((await alice.call("GET", "/sessions?limit=1")).headers.get("x-total-count"), "3");
  assert.deepEqual(await order("?copilot_mode=teaching_assistant"), []);
  await alice.json("PUT", `/sessions/${ids[0]}/pin`);
  assert.deepEqual(await order(), [ids[0], ids[2], ids[1]]);
  await alice.json("DELETE", `/sessions/${ids[0]}/pin`);
  assert.deepEqual(await order(), ids.toReversed()); // A13
  for (const title of ["", "   ", "x".repeat(256), 5, null]) {
    const refused = await alice.json("PATCH", `/sessions/${ids[0]}`, { title }, 422);
    assert.match(refused.message, /title/); // A16
  }
  assert.equal(
    (await alice.json("PATCH", `/sessions/${ids[1]}`, { title: "  Lab 4 路由 " })).title,
    "Lab 4 路由",
  );
  const exported = await alice.call("GET", `/sessions/${ids[1]}/export?format=markdown`);
  assert.match(exported.headers.get("content-disposition")!, /attachment; filename=".*\.md"/);
  assert.match(await exported.text(), /# Lab 4 路由[\s\S]*the answer/);
});

Deno.test("a conversation without an id gets a new one, and an id means nothing in another project", async () => { // A8
  await using server = await startChatServer();
  const script = (key: string) => server.model.script(key, [text("hello")]);
  const here = server.chat("admin");
  const there = server.chat("admin", server.gns3.otherProjectId);
  const turns = [await here.send(script("a")), await here.send(script("b"), { session_id: null })];
  turns.push(await here.send(script("c"), { session_id: "" }));
  const ids = turns.map(({ sessionId }) => sessionId);
  assert.equal(new Set(ids).size, 3);
  for (const turn of turns) {
    assert.match(turn.sessionId, /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    assert.ok(turn.events.every((event) => event.session_id === turn.sessionId));
  }
  const [id] = ids;
  assert.equal((await there.call("GET", `/sessions/${id}/history`)).status, 404);
  const elsewhere = await there.send(script("d"), { session_id: id });
  assert.equal(elsewhere.sessionId, id);
  assert.deepEqual((await there.messages(id!)).map(({ content }) => content), ["[[d]]", "hello"]);
  assert.deepEqual((await here.messages(id!)).map(({ content }) => content), ["[[a]]", "hello"]);
});
