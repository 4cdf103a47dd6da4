import assert from "node:assert/strict";
import { status, type Step, text, toolCalls } from "../../src/practice/model_script.ts";
import { API_KEY, startChatServer } from "../fakes/chat.ts";

Deno.test("a failing model is one error event in plain words, what was said is saved, the session goes on", async () => { // B6, D2
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const said = text("three words said", { use: null }).slice(0, 2);
  const cases: [string, Parameters<typeof server.model.script>[1][number], RegExp, string][] = [
    ["key", status(401), /key/i, ""],
    [
      "quota",
      status(429, { error: { message: "You exceeded your current quota", code: "insufficient_quota" } }),
      /quota|credit/i,
      "",
    ],
    ["cut", [...said, { cut: true }], /connection|broke|cut/i, "three words said"],
    [
      "rubbish",
      [...said, { bytes: "data: {not json\n\n" }, { done: true }],
      /not|understand|stream/i,
      "three words said",
    ],
    ["page", [{ status: 200, body: "<html><body>Welcome</body></html>" }], /\/v1/, ""],
    ["error", [{ bytes: 'data: {"error": {"message": "engine exploded"}}\n\n' }], /engine exploded/, ""],
  ];
  for (const [key, step, expected, kept] of cases) {
    const turn = await alice.send(server.model.script(key, [step]));
    assert.equal(turn.last.type, "error", key);
    assert.match(turn.last.error, expected, key);
    assert.ok(turn.last.code, key);
    assert.doesNotMatch(turn.last.error, new RegExp(`${API_KEY}|    at |Error:`), key);
    assert.equal(turn.text, kept, key);
    const messages = await alice.messages(turn.sessionId);
    assert.deepEqual(messages.map((m) => m.content).slice(1), kept ? [kept] : [], key);
    const next = await alice.send(server.model.script("next", [text("fine")]), {
      session_id: turn.sessionId,
    });
    assert.equal(next.text, "fine", key);
    assert.equal((await alice.json("GET", `/sessions/${turn.sessionId}`)).stats.errors, 1, key);
  }
});

Deno.test("a model that hangs is given up after the time limit", async () => {
  await using server = await startChatServer({ config: { modelTimeout: 0.3 } });
  const turn = await server.chat("alice").send(server.model.script("t", [[{ hang: true }]]));
  assert.equal(turn.last.type, "error");
  await server.model.waitFor(() => server.model.openRequests() === 0);
});

Deno.test("an overloaded model is asked again before its first word", async () => { // D15
  await using server = await startChatServer();
  const busy = status(503, undefined, { "retry-after": "0" });
  const turn = await server.chat("alice").send(server.model.script("t", [busy, text("at last")]));
  assert.equal(turn.text, "at last");
});

Deno.test("an answer without a word is asked for once more, and then said to be one", async () => { // D17
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const turn = await alice.send(server.model.script("t", [text(""), text("second thoughts")]));
  assert.equal(turn.text, "second thoughts");
  const empty = await alice.send(server.model.script("u", [text("")]));
  assert.equal(empty.last.type, "error");
  assert.equal(server.model.requests("u").length, 2);
});

Deno.test("without a model the request is refused with 400 that says what to do", async () => { // A15
  await using server = await startChatServer({ model: null });
  const alice = server.chat("alice");
  const refused = await alice.json("POST", "/stream", { message: "hello" }, 400);
  assert.match(refused.message, /^LLM configuration not found\. .* add a model configuration/);
  assert.deepEqual(await alice.json("GET", "/sessions"), []);
});

Deno.test("GNS3 away is 503 with Retry-After; the server stays up and recovers by itself", async () => { // G9
  await using server = await startChatServer();
  const alice = server.chat("alice");
  await alice.send(server.model.script("t", [text("x")]));
  await server.gns3.setDown(true);
  const answer = await alice.call("GET", "/sessions");
  assert.equal(answer.status, 503);
  assert.ok(Number(answer.headers.get("retry-after")) > 0);
  assert.equal((await answer.json()).code, "unavailable");
  await new Promise((resolve) => setTimeout(resolve, 1100));
  assert.equal((await fetch(`${server.url}/ready`)).status, 503);
  assert.equal((await fetch(`${server.url}/health`)).status, 200);
  await server.gns3.setDown(false);
  await new Promise((resolve) => setTimeout(resolve, 1100));
  assert.equal((await fetch(`${server.url}/ready`)).status, 200);
  assert.equal((await alice.json("GET", "/sessions")).length, 1);
});

Deno.test("GNS3 away in the middle of a turn is an error for the tool, not the end of the turn", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const whileDown = () => {
    void server.gns3.setDown(true);
    return toolCalls([{ name: "get_gns3_templates", args: {} }]);
  };
  const stream = await alice.start(server.model.script("t", [whileDown, text("GNS3 does not answer.")]));
  await stream.end();
  assert.equal(stream.of("tool_end")[0]!.status, "error");
  assert.match(stream.of("tool_end")[0]!.tool_output, /does not answer/);
  assert.equal(stream.text, "GNS3 does not answer.");
  await server.gns3.setDown(false);
});

Deno.test("a sign-in that expires in a turn ends it with a message that says so; a new one goes on", async () => { // G3
  await using server = await startChatServer();
  const token = server.gns3.newToken("alice");
  const alice = server.chat(token);
  const expiring = () => {
    server.gns3.expire(token);
    return toolCalls([{ name: "get_gns3_templates", args: {} }]);
  };
  const turn = await alice.send(server.model.script("t", [text("before"), expiring, text("never")]));
  assert.equal(turn.text, "before");
  const second = await alice.send(server.model.script("u", [expiring, text("never")]), {
    session_id: turn.sessionId,
  });
  assert.equal(second.last.type, "error");
  assert.equal(second.last.code, "unauthorized");
  assert.match(second.last.error, /sign in again/);
  assert.equal(server.model.requests("u").length, 1);
  const again = server.chat(server.gns3.newToken("alice"));
  const next = await again.send(server.model.script("v", [text("on we go")]), { session_id: turn.sessionId });
  assert.equal(next.text, "on we go");
});

Deno.test("a sign-in that expires while nothing needs it costs no answer", async () => {
  await using server = await startChatServer();
  const token = server.gns3.newToken("alice");
  const expiring = () => {
    server.gns3.expire(token);
    return toolCalls([{ name: "wait_seconds", args: { seconds: 1 } }]);
  };
  const turn = await server.chat(token).send(server.model.script("t", [expiring, text("waited")]));
  assert.equal(turn.text, "waited");
  assert.equal(turn.last.finish_reason, "stop");
});

Deno.test("a tool's output that is far too large is shortened for the model and whole in history", async () => { // E4
  await using server = await startChatServer({ model: { context_limit: 4 } });
  const alice = server.chat("alice");
  const turn = await alice.send(server.model.script("t", [
    toolCalls([{ name: "gns3_topology_reader", args: {} }]),
    text("large"),
  ]));
  const history = (await alice.messages(turn.sessionId)).find((m) => m.role === "tool").content;
  const sent = server.model.requests("t")[1]!.body.messages.find((m) => m.role === "tool")!.content as string;
  assert.equal(history, turn.of("tool_end")[0]!.tool_output);
  assert.ok(sent.length <= history.length);
});

Deno.test("no token and no key is in any file, log line or answer", async () => { // I7
  await using server = await startChatServer();
  const alice = server.chat("alice");
  await alice.send(server.model.script("t", [toolCalls([{ name: "gns3_topology_reader" }]), text("x")]));
  await alice.send(
    server.model.script("u", [status(401, { error: { message: `Incorrect key ${API_KEY}` } })]),
  );
  const texts = [JSON.stringify(server.lines)];
  for await (
    const entry of Deno.readDir(`${server.gns3.projectsDir}/${server.gns3.projectId}/gns3-copilot`)
  ) {
    const bytes = await Deno.readFile(
      `${server.gns3.projectsDir}/${server.gns3.projectId}/gns3-copilot/${entry.name}`,
    );
    texts.push(new TextDecoder("latin1").decode(bytes));
  }
  assert.ok(texts.length > 1);
  for (const found of texts) assert.ok(!found.includes(API_KEY) && !found.includes(alice.token));
});

Deno.test("with more projects in use than may be open at once every request is answered", async () => {
  await using server = await startChatServer({ config: { maxProjects: 1 } });
  const chats = [server.chat("admin"), server.chat("admin", server.gns3.otherProjectId)];
  const answers = await Promise.all(
    Array.from(
      { length: 40 },
      (_, i) => chats[i % 2]!.call(i % 4 < 2 ? "GET" : "POST", "/sessions", i % 4 < 2 ? undefined : {}),
    ),
  );
  assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200, 201]));
  await Promise.all(answers.map((answer) => answer.body?.cancel()));
  for (const chat of chats) assert.equal((await chat.json("GET", "/sessions")).length, 10);
});

Deno.test("a model call that is refused or reaches nobody costs no tokens", async () => {
  await using server = await startChatServer({ config: { tokensPerDay: 100 } });
  const alice = server.chat("alice");
  for (let i = 0; i < 3; i++) {
    const turn = await alice.send(server.model.script(`t${i}`, [status(401)]), { session_id: "s" });
    assert.equal(turn.last.type, "error");
  }
  const { llm_calls_count, total_tokens, stats } = await alice.json("GET", "/sessions/s");
  assert.deepEqual([llm_calls_count, total_tokens, stats.billed_input_tokens], [3, 0, 0]);
  const after = await alice.send(server.model.script("ok", [text("here")]), { session_id: "s" });
  assert.equal(after.text, "here");
});

Deno.test("an answer that the provider has cut is not told as a whole one", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const cut = (reason: string): Step => [{ delta: { role: "assistant", content: "half a sen" } }, {
    delta: {},
    finish: reason,
  }];
  const long = await alice.send(server.model.script("l", [cut("length")]));
  assert.deepEqual([long.text, long.last.type, long.last.finish_reason], ["half a sen", "done", "limit"]);
  const filtered = await alice.send(server.model.script("f", [cut("content_filter")]));
  assert.deepEqual([filtered.text, filtered.last.type], ["half a sen", "error"]);
  assert.match(filtered.last.error, /filter/);
  assert.equal((await alice.messages(filtered.sessionId)).at(-1).content, "half a sen");
});
