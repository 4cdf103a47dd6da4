import assert from "node:assert/strict";
import { slow, text, toolCalls } from "../../../src/practice/model_script.ts";
import { startChatServer } from "../../fakes/chat.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("a stream tells proxies neither to hold it back nor to compress it, when it is started and when it is followed", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const message = server.model.script("t", [text("hi")]);
  for (
    const answer of [
      await alice.call("POST", "/stream", { message, session_id: "s" }),
      await alice.call("GET", "/sessions/s/stream"),
    ]
  ) {
    await answer.text();
    const headers = ["content-type", "cache-control", "x-accel-buffering", "x-session-id"];
    assert.deepEqual(
      headers.map((name) => answer.headers.get(name)),
      ["text/event-stream; charset=utf-8", "no-cache, no-transform", "no", "s"],
    );
  }
});

Deno.test("HEAD on a stream is answered as GET without its body, and leaves nothing behind that asks or waits", async () => {
  await using server = await startChatServer({ config: { heartbeatInterval: 1 }, recheckMs: 20 });
  const alice = server.chat("alice");
  await alice.send(server.model.script("t", [text("hi")]), { session_id: "s" });
  for (const path of ["/sessions/s/stream", "/sessions/s/stream?after=x:1", "/sessions"]) {
    const answer = await alice.call("HEAD", path);
    assert.deepEqual([answer.status, await answer.text()], [200, ""], path);
    if (path !== "/sessions") assert.equal(answer.headers.get("x-session-id"), "s");
  }
  const asked = server.gns3.requests.length;
  await pause(300);
  assert.equal(server.gns3.requests.length, asked);
});

Deno.test("a message or a decision that was on its way when draining began starts no turn: 503 with Retry-After", async () => {
  await using server = await startChatServer({ config: { drainTimeout: 5 } });
  const alice = server.chat("alice");
  const stop = toolCalls([{ name: "stop_gns3_node", args: { node_ids: ["PC1"] } }]);
  const asked = await alice.send(server.model.script("asked", [stop, text("done")]), {
    session_id: "asked",
    approvals: true,
  });
  const { id } = asked.of("approval_request")[0]!.approval;
  const running = await alice.start(server.model.script("running", [slow(60, 10)]));
  await running.untilType("content");
  const calls = server.model.requests("asked").length;

  server.gns3.setLatency(300);
  const late = server.model.script("late", [text("too late")]);
  const requests = [
    alice.call("POST", "/stream", { message: late }),
    alice.call("POST", "/stream", { message: late, stream: false }),
    alice.call("POST", "/inject", {}),
    alice.call("POST", `/sessions/asked/approvals/${id}`, { decision: "approve" }),
  ];
  await pause(100);
  await server.drain();
  await running.end();
  assert.equal(running.last.finish_reason, "stop");
  for (const answer of await Promise.all(requests)) {
    assert.deepEqual([answer.status, (await answer.json()).code], [503, "unavailable"]);
    assert.ok(Number(answer.headers.get("retry-after")) > 0);
  }
  assert.deepEqual([server.model.requests("late").length, server.model.requests("asked").length], [0, calls]);
});

Deno.test("a session id that no client can put into a path is refused with 422 when it is invented, others are taken", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const message = server.model.script("t", [text("hi")]);
  for (const session_id of [".", ".."]) {
    const refused = await alice.json("POST", "/stream", { message, session_id }, 422);
    assert.deepEqual(refused.details.errors[0].loc, ["body", "session_id"]);
    assert.match(refused.message, /not \. or \.\./);
  }
  assert.deepEqual(await alice.json("GET", "/sessions"), []);
  for (const session_id of ["...", "a..b", ".a", "..:"]) {
    await alice.send(message, { session_id });
    assert.equal((await alice.json("GET", `/sessions/${session_id}`)).thread_id, session_id);
  }
});

Deno.test("a stop of one's own turn asks GNS3: 401 stops nothing, a GNS3 that does not answer is not waited for", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const start = async (session_id: string) => {
    const stream = await alice.start(server.model.script(session_id, [slow(3000, 10)]), { session_id });
    await stream.untilType("content");
    return stream;
  };
  const kept = await start("kept");
  const stopped = await start("stopped");
  server.gns3.setLatency(20_000);
  const answer = await alice.json("POST", "/sessions/stopped/abort");
  assert.equal(answer.aborted, true);
  await stopped.end();
  assert.equal(stopped.last.finish_reason, "aborted");
  server.gns3.setLatency(0);
  server.gns3.revoke("alice");
  await alice.json("POST", "/sessions/kept/abort", undefined, 401);
  assert.equal(kept.of("done").length, 0);
  // What was remembered of the sign-in is gone, too.
  server.gns3.setLatency(1500);
  await alice.json("POST", "/sessions/kept/abort", undefined, 401);
  await kept.leave();
});
