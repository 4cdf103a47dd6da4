import assert from "node:assert/strict";
import { join } from "node:path";
import { slow, text, toolCalls } from "../src/practice/model_script.ts";
import { type Chat, type ChatServer, startChatServer } from "./fakes/chat.ts";
import { assertTurn } from "./fakes/grammar.ts";

/** A request to GNS3 itself, as the administrator or with `token`. Answers the JSON of it. */
async function gns3(
  { gns3 }: ChatServer,
  method: string,
  path: string,
  body?: unknown,
  // deno-lint-ignore no-explicit-any
): Promise<any> {
  const response = await fetch(`${gns3.url}/v3/projects/${gns3.projectId}${path}`, {
    method,
    headers: { authorization: `Bearer ${gns3.tokens.admin}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

/** Waits until the server follows GNS3's notifications: the first caller's token opens the stream. */
async function listening(server: ChatServer): Promise<void> {
  while (!server.lines.some(({ msg }) => msg === "GNS3's notifications are followed.")) await pause(5);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const heard = async (server: ChatServer, what: string) => {
  while (!server.lines.some(({ msg }) => msg === `GNS3: project ${what}.`)) await pause(5);
};

/** A turn that is in the middle of a long answer. */
async function talking(server: ChatServer, chat: Chat) {
  const stream = await chat.start(server.model.script("long", [slow(5000, 5)]));
  await stream.untilType("content");
  await listening(server);
  return stream;
}

const databaseOf = ({ gns3 }: ChatServer) =>
  join(gns3.project(gns3.projectId).path, "gns3-copilot", "copilot_checkpoints.db");

function namesIn(dir: string): string[] {
  try {
    return [...Deno.readDirSync(dir)].map(({ name }) => name).sort();
  } catch {
    return [];
  }
}

Deno.test("a project that closes ends its turns at once, keeps what was said, and can be opened again", async () => { // M3
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stream = await talking(server, alice);
  const began = performance.now();
  await gns3(server, "POST", "/close");
  await stream.end();
  assertTurn(stream.events);
  assert.equal(stream.last.finish_reason, "aborted");
  assert.ok(performance.now() - began < 2000);
  const refused = await alice.json("GET", "/sessions", undefined, 403);
  assert.equal(refused.message, "Project must be opened to use chat. Current status: closed");
  await gns3(server, "POST", "/open");
  const [, answer] = await alice.messages(stream.sessionId);
  assert.equal(answer.content, stream.text);
  const next = await alice.send(server.model.script("next", [text("I am back.")]), {
    session_id: stream.sessionId,
  });
  assert.equal(next.text, "I am back.");
});

Deno.test("a call that is stopped tells the model the true reason: only a user's stop is the user's", async () => {
  const reasons: [string, (server: ChatServer, alice: Chat, sessionId: string) => Promise<unknown>][] = [
    [
      "the user stopped the turn",
      (_server, alice, sessionId) => alice.json("POST", `/sessions/${sessionId}/abort`),
    ],
    ["the project was closed", (server) => gns3(server, "POST", "/close")],
    ["the assistant's server was stopped", (server) => server.restart()],
  ];
  for (const [reason, stop] of reasons) {
    await using server = await startChatServer({ config: { drainTimeout: 0 } });
    const alice = server.chat("alice");
    const wait = toolCalls([{ name: "wait_seconds", args: { seconds: 30 } }]);
    const stream = await alice.start(server.model.script("t", [wait]));
    await stream.untilType("tool_start");
    await listening(server);
    await stop(server, alice, stream.sessionId);
    await stream.end();
    const error =
      `aborted before it finished (${reason}); whether it took effect is unknown: check before you repeat it`;
    assert.deepEqual(stream.of("tool_end").map((event) => JSON.parse(event.tool_output)), [{ error }]);
  }
});

Deno.test("after a close the database is let go of: no -wal and -shm are left", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  await alice.send(server.model.script("t", [text("x")]));
  await listening(server);
  const folder = join(databaseOf(server), "..");
  assert.deepEqual(namesIn(folder).length, 4);
  await gns3(server, "POST", "/close");
  while (namesIn(folder).length > 2) await pause(20);
  assert.deepEqual(namesIn(folder), ["copilot_checkpoints.db", "lock"]);
});

Deno.test("a deleted project leaves nothing: the turn ends with a reason and the folder stays away", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stream = await talking(server, alice);
  const { path } = server.gns3.project(server.gns3.projectId);
  await gns3(server, "DELETE", "");
  await stream.end();
  assertTurn(stream.events);
  // GNS3 says "closed" first: which of the two ends the turn depends on when the folder goes.
  assert.ok(
    stream.last.finish_reason === "aborted" ||
      /project was deleted|were deleted or moved/.test(stream.last.error),
    JSON.stringify(stream.last),
  );
  for (
    const call of [["GET", "/sessions"], ["POST", "/stream"], ["GET", `/sessions/${stream.sessionId}/stream`]]
  ) {
    const answer = await alice.call(call[0]!, call[1]!, call[0] === "POST" ? { message: "x" } : undefined);
    assert.equal(answer.status, 404, await answer.text());
  }
  await pause(1200);
  assert.deepEqual(namesIn(path), []);
  assert.ok(!namesIn(server.gns3.projectsDir).includes(server.gns3.projectId));
});

Deno.test("a restored snapshot ends the running turn and brings back the conversations that it holds", async () => { // M4
  await using server = await startChatServer();
  const alice = server.chat("alice");
  await alice.send(server.model.script("a", [text("before")]), { session_id: "kept" });
  await listening(server);
  await gns3(server, "POST", "/nodes/stop");
  const { snapshot_id } = await gns3(server, "POST", "/snapshots", { name: "s" });
  await alice.send(server.model.script("b", [text("after")]), { session_id: "kept" });
  await alice.send(server.model.script("c", [text("new")]), { session_id: "new" });
  const stream = await alice.start(server.model.script("long", [slow(5000, 5)]), { session_id: "kept" });
  await stream.untilType("content");
  await gns3(server, "POST", `/snapshots/${snapshot_id}/restore`);
  await stream.end();
  assertTurn(stream.events);
  assert.equal(stream.last.type, "error");
  assert.equal(stream.last.code, "conflict");
  assert.match(stream.last.error, /set back to a snapshot/);
  const sessions = await alice.json("GET", "/sessions");
  assert.deepEqual(sessions.map((session: { id: unknown; thread_id: string }) => session.thread_id), [
    "kept",
  ]);
  assert.deepEqual((await alice.messages("kept")).map(({ content }) => content).slice(1), ["before"]);
  assert.equal((await alice.call("GET", "/sessions/new")).status, 404);
  const next = await alice.send(server.model.script("d", [text("goes on")]), { session_id: "kept" });
  assert.equal(next.text, "goes on");
  assert.deepEqual(
    (await alice.messages("kept")).map(({ content }) => content).filter((_, i) => i % 2),
    ["before", "goes on"],
  );
  assert.deepEqual(server.lines.filter(({ level }) => level === "error"), []);
});

Deno.test("a snapshot restored while nobody listens is noticed at the next request", async () => { // M4
  await using server = await startChatServer();
  const alice = server.chat("alice");
  await alice.send(server.model.script("a", [text("before")]), { session_id: "kept" });
  const file = databaseOf(server);
  // As GNS3 copies it: database and -wal as they are.
  const held = ["", "-wal"].map((end) => [file + end, Deno.readFileSync(file + end)] as const);
  await alice.send(server.model.script("b", [text("after")]), { session_id: "kept" });
  for (const [name, bytes] of held) Deno.writeFileSync(name, bytes);
  assert.equal((await alice.messages("kept")).length, 2);
  await alice.send(server.model.script("c", [text("goes on")]), { session_id: "kept" });
  await server.restart();
  assert.deepEqual(
    (await alice.messages("kept")).map(({ content }) => content).filter((_, i) => i % 2),
    ["before", "goes on"],
  );
});

Deno.test("a renamed project is known by its new name to a turn that is running", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const call = { name: "get_gns3_templates", args: { project_id: "Renamed lab" }, id: "c" };
  const asked = toolCalls([call], { before: "I look. ", fragment: 1, ms: 20 });
  const stream = await alice.start(server.model.script("t", [asked, text("done")]));
  await stream.untilType("content");
  await listening(server);
  await gns3(server, "PUT", "", { name: "Renamed lab" });
  await heard(server, "updated");
  assert.deepEqual(stream.of("tool_start"), [], "the call came before the new name");
  await stream.end();
  assert.equal(stream.of("tool_end")[0]!.status, "success", stream.of("tool_end")[0]!.tool_output);
});

Deno.test("a GNS3 that was away is followed again, and what closed in the meantime is noticed", async () => { // G9
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stream = await talking(server, alice);
  await server.gns3.setDown(true);
  server.lines.length = 0;
  const { gns3: practice } = server;
  practice.project(practice.projectId).status = "closed";
  await server.gns3.setDown(false);
  await listening(server);
  await stream.end();
  assertTurn(stream.events);
  assert.equal(stream.last.finish_reason, "aborted");
  await alice.json("GET", "/sessions", undefined, 403);
});

Deno.test("a user who loses the project in the middle of an answer gets no more of it", async () => {
  await using server = await startChatServer({ recheckMs: 50 });
  const alice = server.chat("alice");
  const stream = await talking(server, alice);
  server.gns3.grant("alice", server.gns3.projectId, null);
  await stream.end();
  assertTurn(stream.events);
  assert.deepEqual([stream.last.type, stream.last.code], ["error", "forbidden"]);
  assert.match(stream.last.error, /no access to this project/);
  server.gns3.grant("alice", server.gns3.projectId, "User");
  const [, answer] = await alice.messages(stream.sessionId);
  assert.ok(answer.content.length > 0 && stream.text.startsWith(answer.content.slice(0, 10)));
  assert.equal(server.model.requests("long")[0]!.fate, "cut");
});

Deno.test("who listens with a sign-in that was revoked hears no more, and the turn goes on", async () => {
  await using server = await startChatServer({ recheckMs: 50 });
  const alice = server.chat("alice");
  const other = server.gns3.newToken("alice");
  const stream = await talking(server, alice);
  const follower = await server.chat(other).follow(stream.sessionId);
  await follower.untilType("content");
  server.gns3.revoke("alice");
  await follower.end();
  assert.deepEqual([follower.last.type, follower.last.code], ["error", "unauthorized"]);
  await stream.end();
  assert.equal(stream.last.code, "unauthorized");
  const again = server.chat(server.gns3.newToken("alice"));
  // The turn itself went on: nothing was taken from the user but the sign-in.
  assert.equal((await again.json("POST", `/sessions/${stream.sessionId}/abort`)).aborted, true);
});

Deno.test("a sign-in that GNS3 refuses in the middle of a turn is not remembered as anybody's", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const me = () => server.gns3.requests.filter(({ path }) => path === "/v3/access/users/me").length;
  const call = toolCalls([{ name: "get_gns3_templates", args: {}, id: "c" }], {
    before: "Let me see. ",
    ms: 50,
  });
  const stream = await alice.start(server.model.script("t", [call, text("done")]));
  await stream.untilType("content");
  assert.equal(me(), 1);
  server.gns3.revoke("alice");
  await stream.end();
  assert.match(stream.of("tool_end")[0]!.tool_output, /sign in again/);
  // Asked anew, and not answered from memory.
  assert.equal((await alice.call("GET", "/sessions")).status, 401);
  assert.equal(me(), 2);
});

Deno.test("cookies open nothing, and none is ever set", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const { token } = alice;
  for (const cookie of [`token=${token}`, `access_token=${token}`, `Authorization=Bearer ${token}`]) {
    const answer = await fetch(`${alice.prefix}/sessions`, { headers: { cookie } });
    assert.equal(answer.status, 401);
    await answer.body?.cancel();
  }
  const query = await fetch(`${alice.prefix}/sessions?token=${token}`);
  assert.equal(query.status, 401, "a token in an address is not taken either");
  await query.body?.cancel();
  for (const path of ["/sessions", "/v3/chat/sessions", "/v3/nothing"]) {
    const answer = await alice.call("GET", path);
    assert.equal(answer.headers.get("set-cookie"), null);
    await answer.body?.cancel();
  }
  assert.ok(!JSON.stringify(server.lines).includes(token), "the token is in the log");
});
