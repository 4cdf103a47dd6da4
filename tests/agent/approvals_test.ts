import assert from "node:assert/strict";
import { join } from "node:path";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { type Chat, type ChatServer, openStream, startChatServer, type Stream } from "../fakes/chat.ts";
import { assertTurn } from "../fakes/grammar.ts";

const stopPc = (name: string, id: string) => ({ id, name: "stop_gns3_node", args: { node_ids: [name] } });
const read = { id: "call_read", name: "get_gns3_templates", args: {} };

async function statusOf(server: ChatServer, name: string): Promise<string> {
  const { gns3 } = server;
  const answer = await fetch(`${gns3.url}/v3/projects/${gns3.projectId}/nodes/${gns3.nodeId(name)}`, {
    headers: { authorization: `Bearer ${gns3.tokens.alice}` },
  });
  return (await answer.json()).status;
}

/** Asks for a batch that needs approval, and checks how the first stream ends. */
async function ask(server: ChatServer, chat: Chat, calls: Parameters<typeof toolCalls>[0]): Promise<Stream> {
  const turn = await chat.send(server.model.script("t", [toolCalls(calls), text("done")]), {
    approvals: true,
    session_id: "s",
  });
  assert.equal(turn.last.finish_reason, "approval");
  assert.deepEqual(turn.of("tool_start", "tool_end"), []);
  return turn;
}

async function decide(chat: Chat, id: string, body: unknown): Promise<Stream> {
  const stream = await openStream(
    await chat.call("POST", `/sessions/s/approvals/${id}`, body),
    new AbortController(),
  );
  await stream.end();
  assertTurn(stream.events, { resumed: true });
  return stream;
}

Deno.test("calls that change the lab wait for the user, once for the whole batch and before anything has run", async () => { // C14, W1
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const turn = await ask(server, alice, [read, stopPc("PC1", "call_1"), stopPc("PC2", "call_2")]);
  const asked = turn.of("approval_request").map((event) => event.approval);
  assert.deepEqual(asked.map((one) => [one.tool_call_id, one.tool_name, one.risk]), [
    ["call_1", "stop_gns3_node", "change"],
    ["call_2", "stop_gns3_node", "change"],
  ]);
  assert.deepEqual(asked[0].arguments, { node_ids: ["PC1"] });
  assert.equal(await statusOf(server, "PC1"), "started");

  const first = await decide(alice, asked[1].id, { decision: "reject", reason: "PC2 is needed" });
  assert.deepEqual(first.events.map((event) => event.type), ["heartbeat", "done"]);
  assert.equal(first.last.finish_reason, "approval");
  const rest = await decide(alice, asked[0].id, { decision: "approve" });
  assert.equal(rest.text, "done");
  assert.deepEqual(
    new Set(rest.of("tool_start").map((event) => event.tool_call_id)),
    new Set(["call_read", "call_1", "call_2"]),
  );
  assert.deepEqual([await statusOf(server, "PC1"), await statusOf(server, "PC2")], ["stopped", "started"]);
  const sent = server.model.requests("t").filter((request) => !request.title).at(-1)!.body.messages;
  const results = sent.filter((message) => message.role === "tool");
  assert.deepEqual(results.map((message) => message.tool_call_id), ["call_read", "call_1", "call_2"]);
  assert.match(String(results[2]!.content), /rejected this call.*PC2 is needed/);
  const session = await alice.json("GET", "/sessions/s");
  assert.equal(session.message_count, 6);
  assert.equal(session.title, "Scripted title");
});

Deno.test("an edited call runs with the user's arguments, and the model is told", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const turn = await ask(server, alice, [stopPc("PC1", "call_1")]);
  const { id } = turn.of("approval_request")[0]!.approval;
  const wrong = await alice.call("POST", `/sessions/s/approvals/${id}`, {
    decision: "edit",
    arguments: { nodes: 1 },
  });
  assert.equal(wrong.status, 422);
  assert.match((await wrong.json()).message, /^arguments: .*node_ids/);
  assert.equal((await alice.call("POST", `/sessions/s/approvals/${id}`, { decision: "edit" })).status, 422);
  const deep = `{"decision":"edit","arguments":{"node_ids":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`;
  const refused = await fetch(`${alice.prefix}/sessions/s/approvals/${id}`, {
    method: "POST",
    headers: { authorization: `Bearer ${alice.token}` },
    body: deep,
  });
  assert.equal(refused.status, 422);
  assert.match((await refused.json()).message, /nested more than 64 levels/);
  const rest = await decide(alice, id, { decision: "edit", arguments: { node_ids: ["PC2"] } });
  assert.match(rest.of("tool_end")[0]!.tool_output, /user changed the arguments.*PC2/);
  assert.deepEqual([await statusOf(server, "PC1"), await statusOf(server, "PC2")], ["started", "stopped"]);
});

Deno.test("a question survives a restart of the server, in replay and in effect", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const turn = await ask(server, alice, [stopPc("PC1", "call_1")]);
  await server.restart();
  const replayed = await alice.follow("s");
  await replayed.end();
  assert.deepEqual(replayed.of("approval_request"), turn.of("approval_request"));
  assert.deepEqual(replayed.ids.at(-1), turn.ids.at(-1));
  const rest = await decide(alice, turn.of("approval_request")[0]!.approval.id, { decision: "approve" });
  assert.equal(rest.text, "done");
  assert.equal(await statusOf(server, "PC1"), "stopped");
});

Deno.test("another message instead of a decision means no: nothing has run, and the model is told", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const turn = await ask(server, alice, [stopPc("PC1", "call_1")]);
  const next = await alice.send(server.model.script("u", [text("as you wish")]), { session_id: "s" });
  assert.equal(next.text, "as you wish");
  const sent = server.model.requests("u")[0]!.body.messages;
  assert.match(String(sent.find((message) => message.role === "tool")!.content), /did not approve/);
  const { id } = turn.of("approval_request")[0]!.approval;
  assert.equal(
    (await alice.call("POST", `/sessions/s/approvals/${id}`, { decision: "approve" })).status,
    404,
  );
  assert.equal(await statusOf(server, "PC1"), "started");
});

Deno.test("a stop while a question is open answers its calls, and the session goes on", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  await ask(server, alice, [stopPc("PC1", "call_1")]);
  assert.equal((await alice.json("POST", "/sessions/s/abort")).aborted, true);
  const replayed = await alice.follow("s");
  await replayed.end();
  assert.equal(replayed.last.finish_reason, "aborted");
  const [, , result] = await alice.messages("s");
  assert.match(result.content, /did not approve/);
  assert.equal(
    (await alice.send(server.model.script("u", [text("fine")]), { session_id: "s" })).text,
    "fine",
  );
  assert.equal(await statusOf(server, "PC1"), "started");
});

Deno.test("a decision is taken once, from the owner only, and only when the client asked for approvals is there a question", async () => {
  await using server = await startChatServer();
  server.gns3.grant("bob", server.gns3.projectId, "User");
  const alice = server.chat("alice");
  const turn = await ask(server, alice, [stopPc("PC1", "call_1"), stopPc("PC2", "call_2")]);
  const [first] = turn.of("approval_request").map((event) => event.approval.id);
  const path = `/sessions/s/approvals/${first}`;
  assert.equal((await server.chat("bob").call("POST", path, { decision: "approve" })).status, 404);
  for (const body of [{}, { decision: "maybe" }, { decision: "edit", arguments: [] }]) {
    assert.equal((await alice.call("POST", path, body)).status, 422, JSON.stringify(body));
  }
  await decide(alice, first, { decision: "reject" });
  assert.equal((await alice.call("POST", path, { decision: "approve" })).status, 409);
  assert.equal(
    (await alice.call("POST", "/sessions/s/approvals/unknown", { decision: "approve" })).status,
    404,
  );

  const plain = await alice.send(
    server.model.script("u", [toolCalls([stopPc("PC2", "call_3")]), text("done")]),
  );
  assert.deepEqual([plain.of("approval_request").length, plain.last.finish_reason], [0, "stop"]);
});

Deno.test("one JSON answer of a turn that waits says so", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const message = server.model.script("t", [toolCalls([stopPc("PC1", "call_1")]), text("done")]);
  const answer = await alice.json("POST", "/stream", { message, approvals: true, stream: false });
  assert.equal(answer.finish_reason, "approval");
  assert.equal(answer.message.tool_calls[0].id, "call_1");
  assert.equal(answer.approvals[0].tool_call_id, "call_1");
});

Deno.test("a call that was not allowed when the batch was asked for does not run without a decision of its own", async () => {
  const skills = await Deno.makeTempDir();
  const forbid = (commands: string) =>
    Deno.writeTextFile(join(skills, "config", "forbidden_commands.txt"), commands);
  await Deno.mkdir(join(skills, "config"));
  await forbid("set\n");
  {
    await using server = await startChatServer({ config: { skillsDir: skills } });
    const alice = server.chat("alice");
    const typed = { device_configs: [{ device_name: "PC2", commands: ["set pcname HACK"] }] };
    const turn = await ask(server, alice, [
      stopPc("PC1", "call_1"),
      { id: "call_2", name: "execute_vpcs_commands", args: typed },
    ]);
    const [asked] = turn.of("approval_request").map((event) => event.approval);
    assert.deepEqual(turn.of("approval_request").length, 1);
    await forbid("nothing\n");
    await server.restart();
    const rest = await decide(alice, asked.id, { decision: "reject" });
    const ends = rest.of("tool_end").map((event) => [event.tool_call_id, event.status]);
    assert.deepEqual(
      new Map(ends as [string, string][]),
      new Map([["call_1", "error"], ["call_2", "error"]]),
    );
    const second = rest.of("tool_end").find((event) => event.tool_call_id === "call_2")!;
    assert.match(second.tool_output, /did not approve this call/);
  }
  await Deno.remove(skills, { recursive: true });
});

Deno.test("a decision starts no model call when the day's tokens are used up", async () => {
  await using server = await startChatServer({ config: { tokensPerDay: 1 } });
  const alice = server.chat("alice");
  const turn = await ask(server, alice, [stopPc("PC1", "call_1")]);
  const [asked] = turn.of("approval_request").map((event) => event.approval);
  const calls = server.model.requests("t").length;
  const refused = await alice.call("POST", `/sessions/s/approvals/${asked.id}`, { decision: "approve" });
  assert.equal(refused.status, 429);
  assert.match((await refused.json()).message, /used up today's 1 tokens/);
  assert.equal(server.model.requests("t").length, calls);
  // It waits on, for the next day.
  assert.equal(await statusOf(server, "PC1"), "started");
  assert.equal((await alice.follow("s")).sessionId, "s");
});
