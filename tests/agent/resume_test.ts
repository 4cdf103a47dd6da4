import assert from "node:assert/strict";
import { slow, text, toolCalls } from "../../src/practice/model_script.ts";
import { type Chat, startChatServer, type Stream } from "../fakes/chat.ts";
import { assertTurn } from "../fakes/grammar.ts";

const templates = toolCalls([{ name: "get_gns3_templates", args: {}, id: "call_1" }], {
  before: "Let me look. ",
});

async function replay(chat: Chat, sessionId: string, after?: string): Promise<Stream> {
  const stream = await chat.follow(sessionId, after);
  await stream.end();
  assertTurn(stream.events, { resumed: after !== undefined });
  return stream;
}

const shape = (stream: Stream) => stream.of("tool_start", "tool_end", "title", "done");

Deno.test("a finished turn is replayed whole, and after any of its ids without loss or repetition", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const turn = await alice.send(server.model.script("t", [templates, text(["All ", "is ", "well."])]));
  const again = await replay(alice, turn.sessionId);
  assert.equal(again.text, turn.text);
  assert.deepEqual(shape(again), shape(turn));
  for (const [i, id] of turn.ids.entries()) {
    if (!id || i === turn.ids.length - 1) continue;
    const rest = await replay(alice, turn.sessionId, id);
    const before = turn.events.slice(0, i + 1).map((event) => event.content ?? "").join("");
    assert.equal(before + rest.text, turn.text, id);
    assert.deepEqual(shape(rest), shape(turn).filter((event) => turn.events.indexOf(event) > i), id);
  }
});

Deno.test("after a restart a turn is replayed from storage, with the same ids", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const turn = await alice.send(server.model.script("t", [templates, text(["All ", "is ", "well."])]));
  const before = await alice.messages(turn.sessionId);
  await server.restart();
  assert.deepEqual(await alice.messages(turn.sessionId), before);
  const again = await replay(alice, turn.sessionId);
  assert.equal(again.text, turn.text);
  assert.deepEqual(shape(again), shape(turn));
  for (const [i, id] of turn.ids.entries()) {
    if (!id || i === turn.ids.length - 1) continue;
    const rest = await replay(alice, turn.sessionId, id);
    const said = turn.events.slice(0, i + 1).map((event) => event.content ?? "").join("");
    assert.equal(said + rest.text, turn.text, id);
    assert.deepEqual(shape(rest), shape(turn).filter((event) => turn.events.indexOf(event) > i), id);
  }
});

Deno.test("after a restart also text, reasoning and calls that came mixed are resumed without loss or repetition", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const call = (index: number, id: string | undefined, name: string | undefined, args: string) => ({
    delta: { tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }] },
  });
  const mixed = [
    { delta: { role: "assistant", reasoning_content: "hm " } },
    { delta: { content: "AAAA" } },
    { delta: { reasoning_content: "well " } },
    { delta: { content: "BBBB" } },
    call(0, "call_a", "get_gns3_templates", ""),
    call(1, "call_b", "wait_seconds", ""),
    { delta: { content: "CCCC" } },
    call(1, undefined, undefined, '{"seconds": 1}'),
    call(0, undefined, undefined, "{}"),
    { delta: { content: "DDDD" } },
    { delta: {}, finish: "tool_calls" },
  ].flatMap((action) => [action, { sleep: 10 }]);
  const turn = await alice.send(server.model.script("t", [mixed, text("done")]), { reasoning: true });
  assert.equal(turn.text, "AAAABBBBCCCCDDDDdone");
  await server.restart();
  for (const [i, id] of turn.ids.entries()) {
    if (!id) continue;
    const rest = await replay(alice, turn.sessionId, id);
    const said = turn.events.slice(0, i + 1).map((event) => event.type === "content" ? event.content : "")
      .join("");
    assert.equal(said + rest.text, turn.text, `after ${id}, ${turn.events[i]!.type}`);
    for (const call of ["call_a", "call_b"]) {
      const shown = [...turn.events.slice(0, i + 1), ...rest.events].filter((event) =>
        event.tool_call?.id === call
      );
      assert.equal(shown.at(-1)!.tool_call.function.complete, true, `after ${id}: ${call}`);
    }
  }
});

Deno.test("a stream ends with its terminal event wherever a client says it is", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const turn = await alice.send(server.model.script("t", [text("x")]));
  for (const _ of ["live", "after a restart"]) {
    const rest = await replay(alice, turn.sessionId, turn.ids.at(-1)!);
    assert.deepEqual(rest.events.map(({ type }) => type), ["heartbeat", "done"]);
    await server.restart();
  }
});

Deno.test("a running turn is picked up where its client left it", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stream = await alice.start(server.model.script("t", [slow(60, 10)]));
  await stream.until((event) => event.type === "content" && event.content.includes("link"));
  await stream.leave();
  const rest = await replay(alice, stream.sessionId, stream.ids.filter((id) => id).at(-1));
  const [, answer] = await alice.messages(stream.sessionId);
  assert.equal(stream.text + rest.text, answer.content);
  assert.equal(answer.content.split(" ").length, 60);
});

Deno.test("a position beyond a turn's log is none: the turn comes from its start, running, finished and after a restart", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stream = await alice.start(server.model.script("t", [slow(60, 10)]));
  await stream.untilType("content");
  const [turn] = stream.ids.find((id) => id)!.split(":");
  const running = replay(alice, stream.sessionId, `${turn}:999999999`);
  await stream.until((event) => event.type === "content" && event.content.includes("link"));
  const newest = await replay(alice, stream.sessionId, stream.ids.filter((id) => id).at(-1));
  await stream.end();
  assert.equal((await running).text, stream.text);
  assert.ok(newest.text.length > 0 && newest.text.length < stream.text.length);
  for (const _ of ["live", "after a restart"]) {
    assert.equal((await replay(alice, stream.sessionId, `${turn}:999999999`)).text, stream.text);
    await server.restart();
  }
});

Deno.test("an id of another turn, or one that is none, replays from the start", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const turn = await alice.send(server.model.script("t", [text("whole")]));
  for (const id of ["other-turn:3", "rubbish", ":", "999"]) {
    assert.equal((await replay(alice, turn.sessionId, id)).text, "whole", id);
  }
});

Deno.test("a session without a turn has nothing to follow, an unknown one is 404", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const { thread_id } = await alice.json("POST", "/sessions", {}, 201);
  assert.equal((await alice.call("GET", `/sessions/${thread_id}/stream`)).status, 204);
  assert.equal((await alice.call("GET", "/sessions/unknown/stream")).status, 404);
});

Deno.test("a drain lets a running answer finish, refuses new ones, and saves what had to be stopped", async () => {
  await using server = await startChatServer({ config: { drainTimeout: 0.5 } });
  const alice = server.chat("alice");
  const short = await alice.start(server.model.script("t", [slow(10, 10)]));
  const long = await alice.start(server.model.script("u", [slow(1000, 10)]));
  await Promise.all([short.untilType("content"), long.untilType("content")]);
  const drained = server.drain();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const ready = await fetch(`${server.url}/ready`);
  assert.equal(ready.status, 503);
  assert.match((await ready.json()).reason, /shutting down/);
  const refused = await alice.call("POST", "/stream", { message: "x" });
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "5"]);
  await Promise.all([drained, short.end(), long.end()]);
  assert.deepEqual([short.last.finish_reason, long.last.finish_reason], ["stop", "aborted"]);
  await server.restart();
  assert.equal((await alice.messages(long.sessionId))[1].content, long.text);
});
