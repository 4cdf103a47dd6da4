import assert from "node:assert/strict";
import { slow, text, toolCalls } from "../../src/practice/model_script.ts";
import { type ChatServer, startChatServer, type Stream } from "../fakes/chat.ts";
import { assertTurn } from "../fakes/grammar.ts";

const HANG = { hang: true as const };
const wait = (seconds: number, id?: string) => ({ name: "wait_seconds", args: { seconds }, id });

/** Stops the turn and checks what every stop has in common. */
async function stop(server: ChatServer, stream: Stream): Promise<void> {
  const alice = server.chat("alice");
  const began = performance.now();
  const answer = await alice.json("POST", `/sessions/${stream.sessionId}/abort`);
  assert.deepEqual(answer, { status: "ok", session_id: stream.sessionId, aborted: true });
  await stream.end();
  // The contract says 200 ms; a timed test that is this generous fails only when the stop waits for something.
  assert.ok(performance.now() - began < 1500);
  assertTurn(stream.events, { resumed: true });
  assert.deepEqual(stream.events.slice(-2).map((event) => event.type), ["abort", "done"]);
  const next = await alice.send(server.model.script("next", [text("fine")]), {
    session_id: stream.sessionId,
  });
  assert.equal(next.text, "fine");
}

Deno.test("a stop in the middle of a text cancels the model's request and keeps what was said", async () => { // A7
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stream = await alice.start(server.model.script("t", [slow(500, 10)]));
  await stream.until((event) => event.type === "content" && event.content.includes("gamma"));
  await stop(server, stream);
  await server.model.waitFor(() => server.model.requests("t")[0]!.fate === "cut");
  const messages = await alice.messages(stream.sessionId);
  assert.equal(messages[1].content, stream.text);
  const session = await alice.json("GET", `/sessions/${stream.sessionId}`);
  assert.equal(session.stats.aborted_turns, 1);
  assert.equal(session.message_count, 4);
});

Deno.test("a stop before the model says anything leaves only the question", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stream = await alice.start(server.model.script("t", [[HANG]]));
  await server.model.waitFor(() => server.model.requests("t").length === 1);
  await stop(server, stream);
  assert.deepEqual((await alice.messages(stream.sessionId)).map((m) => m.role), [
    "user",
    "user",
    "assistant",
  ]);
});

Deno.test("a stop in the middle of tools answers every call, and the strict model takes the history", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const calls = [wait(30, "call_a"), wait(30, "call_b")];
  const stream = await alice.start(server.model.script("t", [toolCalls(calls), text("never")]));
  await stream.untilType("tool_start");
  await stop(server, stream);
  const results = (await alice.messages(stream.sessionId)).filter((m) => m.role === "tool");
  assert.deepEqual(results.map((m) => m.tool_call_id), ["call_a", "call_b"]);
  assert.match(results[0].content, /aborted/);
  assert.deepEqual(stream.of("tool_end").map((event) => event.status), ["error", "error"]);
});

Deno.test("a stop between the fragments of a call runs nothing and leaves a valid history", async () => { // C6
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const half = toolCalls([wait(1, "call_half")]).slice(0, 3);
  const stream = await alice.start(server.model.script("t", [[...half, HANG]]));
  await stream.untilType("tool_call");
  await stop(server, stream);
  assert.equal(stream.of("tool_start").length, 0);
  assert.equal(server.model.requests("next")[0]!.fate, "done");
});

Deno.test("a stop while the title is made ends the turn, and the next turn makes the title", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stream = await alice.start(server.model.script("t", [text("answer")], { title: [HANG] }));
  await server.model.waitFor(() => server.model.requests("t").some((request) => request.title));
  server.model.script("t", [], { title: text("Made later") });
  await stop(server, stream);
  const session = await alice.json("GET", `/sessions/${stream.sessionId}`);
  assert.equal(session.title, "Made later");
});

Deno.test("a stop of an idle session changes nothing, one of an unknown session is 404", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const turn = await alice.send(server.model.script("t", [text("x")]));
  const answer = await alice.json("POST", `/sessions/${turn.sessionId}/abort`);
  assert.deepEqual(answer, { status: "ok", session_id: turn.sessionId, aborted: false });
  await alice.json("POST", "/sessions/unknown/abort", undefined, 404);
});

Deno.test("a stop during a ping on a real console leaves it at its prompt: the next command works", async () => { // F9
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const run = (commands: string[]) => ({
    name: "execute_vpcs_commands",
    args: { device_configs: [{ device_name: "PC1", commands }] },
  });
  const stream = await alice.start(server.model.script("t", [toolCalls([run(["ping 10.0.1.10 -t"])])]));
  await stream.untilType("tool_start");
  await new Promise((resolve) => setTimeout(resolve, 300));
  await stop(server, stream);
  const turn = await alice.send(server.model.script("u", [toolCalls([run(["show ip"])]), text("ok")]));
  const output = turn.of("tool_end")[0]!.tool_output;
  assert.match(output, /10\.0\.1\.10\/24/);
  assert.doesNotMatch(output, /icmp_seq/);
});

Deno.test("a client that asked for it stops its turn by leaving; any other client leaves it running", async () => { // B2, B5
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stopped = await alice.start(server.model.script("t", [slow(500, 10)]), { on_disconnect: "abort" });
  await stopped.untilType("content");
  await stopped.leave();
  await server.model.waitFor(() => server.model.requests("t")[0]!.fate === "cut");
  const running = await alice.start(server.model.script("u", [slow(40, 10)]));
  await running.untilType("content");
  await running.leave();
  const rest = await alice.follow(running.sessionId);
  await rest.end();
  assert.equal(rest.text.split(" ").length, 40);
  assert.equal((await alice.messages(running.sessionId)).at(-1).content, rest.text);
});

Deno.test("a second message to a session that answers is refused, and both sessions of a user answer at once", async () => { // C8
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stream = await alice.start(server.model.script("t", [slow(40, 10)]));
  await stream.untilType("content");
  const refused = await alice.json("POST", "/stream", { message: "x", session_id: stream.sessionId }, 409);
  assert.equal(refused.message, "This session is already answering.");
  assert.equal((await alice.send(server.model.script("u", [text("quick")]))).text, "quick");
  await stream.end();
  assert.equal(stream.text.split(" ").length, 40);
});

Deno.test("of two simultaneous messages to one new session one is answered", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const tag = server.model.script("t", [slow(5, 10)]);
  const answers = await Promise.all(
    [1, 2].map(() => alice.call("POST", "/stream", { message: tag, session_id: "mine" })),
  );
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 409]);
  await Promise.all(answers.map((answer) => answer.text()));
  assert.equal((await alice.messages("mine")).length, 2);
});

Deno.test("deleting a session that answers stops it; nothing of it is left", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stream = await alice.start(server.model.script("t", [slow(500, 10)]));
  await stream.untilType("content");
  await alice.json("DELETE", `/sessions/${stream.sessionId}`, undefined, 204);
  await stream.end();
  assert.equal(stream.last.finish_reason, "aborted");
  await alice.json("GET", `/sessions/${stream.sessionId}/history`, undefined, 404);
  assert.deepEqual(await alice.json("GET", "/sessions"), []);
});
