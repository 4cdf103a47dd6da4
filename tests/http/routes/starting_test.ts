// A turn whose model depends on groups, while GNS3 takes its time to tell them.
import assert from "node:assert/strict";
import { slow, text, toolCalls } from "../../../src/practice/model_script.ts";
import { type Chat, type ChatServer, openStream, startChatServer } from "../../fakes/chat.ts";
import { assertTurn } from "../../fakes/grammar.ts";

/** Holds back what GNS3 says about groups until `release` is called; disposing of it lets everything pass again. */
function holdGroups() {
  const real = globalThis.fetch;
  const { promise, resolve } = Promise.withResolvers<void>();
  globalThis.fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (/\/users\/[^/]+\/groups$/.test(url)) await promise;
    return await real(input, init);
  };
  return {
    release: resolve,
    [Symbol.dispose]: () => {
      resolve();
      globalThis.fetch = real;
    },
  };
}

/** A group with a configuration, of which alice is a member when `member` says so. */
async function groupModel(server: ChatServer, member: boolean): Promise<Chat> {
  const admin = server.chat("admin");
  const gns3 = async (method: string, path: string, token: string, body?: unknown) => {
    const answer = await fetch(server.gns3.url + path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const said = await answer.text();
    return said ? JSON.parse(said) : undefined;
  };
  const alice = server.chat("alice");
  const { user_group_id } = await gns3("POST", "/v3/access/groups", admin.token, { name: "class" });
  const { user_id } = await gns3("GET", "/v3/access/users/me", alice.token);
  if (member) await gns3("PUT", `/v3/access/groups/${user_group_id}/members/${user_id}`, admin.token);
  await admin.json("POST", `/v3/access/groups/${user_group_id}/llm-model-configs`, {
    name: "class",
    provider: "openai",
    base_url: server.model.url,
    model: "m",
    api_key: "sk-test-1f6c2e9b7d30",
    context_limit: 128,
    copilot_mode: "lab_automation_assistant",
    is_default: true,
  }, 201);
  await alice.json("GET", "/sessions");
  return alice;
}

Deno.test("the first event does not wait for GNS3 to tell the groups; the turn then comes whole, with its session's id", async () => {
  await using server = await startChatServer({ model: null });
  const alice = await groupModel(server, true);
  using held = holdGroups();
  const stream = await alice.start(server.model.script("t", [text("hi")]));
  await stream.untilType("heartbeat");
  assert.equal(server.model.requests("t").length, 0);
  held.release();
  await stream.end();
  assertTurn(stream.events);
  assert.equal(stream.text, "hi");
  assert.equal((await alice.messages(stream.sessionId)).length, 2);
  const replayed = await alice.follow(stream.sessionId, stream.ids.find((id) => id));
  await replayed.end();
  assert.equal(replayed.last.type, "done");
});

Deno.test("a decision is streamed before GNS3 has told the groups, too", async () => {
  await using server = await startChatServer();
  const alice = await groupModel(server, false);
  const stop = toolCalls([{ name: "stop_gns3_node", args: { node_ids: ["PC1"] } }]);
  // The membership that is asked for here is remembered: the server that decides is another one.
  const message = server.model.script("t", [stop, text("stopped")]);
  const asked = await alice.send(message, { session_id: "s", approvals: true });
  const { id } = asked.of("approval_request")[0]!.approval;
  await server.restart();
  using held = holdGroups();
  const answer = await alice.call("POST", `/sessions/s/approvals/${id}`, { decision: "approve" });
  const stream = await openStream(answer, new AbortController());
  await stream.untilType("heartbeat");
  held.release();
  await stream.end();
  assert.equal(stream.text, "stopped");
});

Deno.test("a refusal that is known late is the stream's error event, one that is known at once a status", async () => {
  await using server = await startChatServer({ model: null });
  const alice = await groupModel(server, false);
  {
    using held = holdGroups();
    const stream = await alice.start("Hello");
    await stream.untilType("heartbeat");
    held.release();
    await stream.end();
    assert.deepEqual(stream.events.map(({ type }) => type), ["heartbeat", "error"]);
    assert.equal(stream.last.code, "bad_request");
    assert.match(stream.last.error, /LLM configuration not found/);
  }
  const refused = await alice.json("POST", "/stream", { message: "Hello" }, 400);
  assert.match(refused.message, /LLM configuration not found/);
  assert.deepEqual(await alice.json("GET", "/sessions"), []);
});

Deno.test("a client that leaves an open stream before its turn starts changes nothing, but where it said so", async () => {
  await using server = await startChatServer({ model: null });
  const alice = await groupModel(server, true);
  using held = holdGroups();
  const goesOn = await alice.start(server.model.script("on", [text("hi")]), { session_id: "on" });
  const ends = await alice.start(server.model.script("off", [slow(3000, 10)]), {
    session_id: "off",
    on_disconnect: "abort",
  });
  for (const stream of [goesOn, ends]) {
    await stream.untilType("heartbeat");
    await stream.leave();
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  held.release();
  await server.model.waitFor(() => server.model.requests("on").length > 0);
  const followed = await alice.follow("on");
  await followed.end();
  assert.equal(followed.text, "hi");
  const cut = await alice.follow("off");
  await cut.end();
  assert.equal(cut.last.finish_reason, "aborted");
});

Deno.test("a busy session is refused with its status also while GNS3 does not tell the groups, and a drain is told", async () => {
  await using server = await startChatServer({ model: null });
  const alice = await groupModel(server, true);
  const running = await alice.start(server.model.script("t", [slow(40, 10)]), { session_id: "s" });
  await running.untilType("content");
  await alice.json("POST", "/stream", { message: "Hello", session_id: "s" }, 409);
  await server.restart();
  // Stands in for users who may not ask about groups.
  await server.chat("admin").json("GET", "/sessions");
  using held = holdGroups();
  const late = await alice.start(server.model.script("late", [text("hi")]));
  await late.untilType("heartbeat");
  const drained = server.drain();
  held.release();
  await drained;
  await late.end();
  assert.deepEqual([late.last.type, late.last.code], ["error", "unavailable"]);
  assert.equal(server.model.requests("late").length, 0);
});
