import assert from "node:assert/strict";
import { slow, status, text, toolCalls, usage } from "../../src/practice/model_script.ts";
import { startChatServer } from "../fakes/chat.ts";

Deno.test("a turn streams text, names the session, and keeps what was said", async () => { // A2, A10
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const parts = ["line\none\r\n", 'quote " and \\', "路由器 😀", "\u2028 data: {}\n\n"];
  const turn = await alice.send(server.model.script("t", [text(parts)], { title: text("Greeting") }));
  assert.equal(turn.text, parts.join(""));
  assert.deepEqual(turn.of("title").map((event) => event.title), ["Greeting"]);
  assert.equal(turn.last.finish_reason, "stop");
  const [question, answer, ...rest] = await alice.messages(turn.sessionId);
  assert.equal(rest.length, 0);
  assert.equal(question.role, "user");
  assert.equal(answer.content, parts.join(""));
  assert.equal(answer.id, turn.of("content")[0]!.message_id);
  const [session] = await alice.json("GET", "/sessions");
  assert.equal(session.title, "Greeting");
  assert.equal(session.message_count, 2);
  assert.equal(session.llm_calls_count, 2);
});

Deno.test("statistics of a turn are the seed's example", async () => { // contract section 4
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const answer = text("x", { use: [8674, 675] });
  const turn = await alice.send(server.model.script("t", [answer], { title: text("T", { use: [9421, 9] }) }));
  const figures = { input_tokens: 9421, output_tokens: 684, total_tokens: 10105 };
  assert.deepEqual(turn.last.usage, { ...figures, llm_calls: 2 });
  const session = await alice.json("GET", `/sessions/${turn.sessionId}`);
  assert.deepEqual({ ...session, ...figures }, session);
  assert.equal(session.stats.billed_input_tokens, 18095);
  assert.equal(session.stats.estimated, undefined);
});

Deno.test("tokens are counted here when the provider tells none, and said to be estimated", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const turn = await alice.send(
    server.model.script("t", [text("hello world", { use: null })], { title: text("T", { use: null }) }),
  );
  const session = await alice.json("GET", `/sessions/${turn.sessionId}`);
  assert.equal(session.stats.estimated, true);
  assert.ok(session.input_tokens > 100 && session.output_tokens >= 2 && session.output_tokens < 10);
});

Deno.test("parallel tool calls whose fragments interleave keep their arguments and run side by side", async () => { // A11
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const calls = [1, 1, 1].map((seconds, i) => ({ id: `call_${i}`, name: "wait_seconds", args: { seconds } }));
  const began = performance.now();
  const turn = await alice.send(
    server.model.script("t", [toolCalls(calls, { order: "interleaved", fragment: 3 }), text("done")]),
  );
  assert.ok(performance.now() - began < 2500, "three waits of one second side by side");
  const whole = turn.of("tool_call").filter((event) => event.tool_call.function.complete);
  assert.deepEqual(
    whole.map((event) => [event.tool_call.id, event.tool_call.function.arguments]),
    calls.map((call) => [call.id, JSON.stringify(call.args)]),
  );
  assert.equal(turn.text, "done");
  const sent = server.model.requests("t").filter((request) => !request.title)[1]!.body.messages;
  assert.deepEqual(
    sent.filter((m) => m.role === "tool").map((m) => m.tool_call_id),
    calls.map((call) => call.id),
  );
});

Deno.test("of many calls at once eight run at the same time, and all get their results in order", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const calls = Array.from({ length: 10 }, (_, i) => ({
    id: `call_${i}`,
    name: "wait_seconds",
    args: { seconds: 1 },
  }));
  const turn = await alice.send(server.model.script("t", [toolCalls(calls), text("done")]));
  let running = 0;
  let most = 0;
  for (const { type } of turn.events) {
    if (type === "tool_start") most = Math.max(most, ++running);
    if (type === "tool_end") running--;
  }
  assert.deepEqual([most, running], [8, 0]);
  const sent = server.model.requests("t").filter((request) => !request.title)[1]!.body.messages;
  assert.deepEqual(
    sent.filter((m) => m.role === "tool").map((m) => m.tool_call_id),
    calls.map((call) => call.id),
  );
});

Deno.test("calls without ids and index get ids of their own", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const step = toolCalls([{ name: "get_gns3_templates" }, { name: "gns3_topology_reader" }], {
    omitIds: true,
    fragment: 100,
  });
  const turn = await alice.send(server.model.script("t", [step, text("done")]));
  const ids = new Set(turn.of("tool_call").map((event) => event.tool_call.id));
  assert.equal(ids.size, 2);
  assert.deepEqual(turn.of("tool_end").map((event) => event.status), ["success", "success"]);
});

Deno.test("arguments that cannot be used are shown as sent, answered with an error, and never sent back broken", async () => { // C9
  await using server = await startChatServer();
  const alice = server.chat("alice");
  for (const args of ['{"seconds": ', "not json", "[1]", "null", '"x"', '{"seconds": 9999}']) {
    const key = `t${args.length}`;
    const turn = await alice.send(
      server.model.script(key, [toolCalls([{ name: "wait_seconds", args }]), text("I see")]),
    );
    assert.equal(turn.of("tool_call").at(-1)!.tool_call.function.arguments, args);
    assert.equal(turn.of("tool_end")[0]!.status, "error", args);
    assert.equal(turn.text, "I see");
    const sent = server.model.requests(key).filter((request) => !request.title)[1]!.body.messages;
    for (const call of sent.flatMap((message) => message.tool_calls ?? [])) {
      JSON.parse(call.function.arguments);
    }
  }
});

Deno.test("arguments that are nested without measure lose no turn, whether they come as text or as a value", async () => { // C9
  await using server = await startChatServer();
  const alice = server.chat("alice");
  for (const levels of [64, 600, 20_000]) {
    const args = `{"seconds":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    const call = { index: 0, id: "call_d", function: { name: "wait_seconds", arguments: args } };
    const chunk = (value: string) => `data: {"choices":[{"delta":{"tool_calls":[${value}]}}]}\n\n`;
    const whole = JSON.stringify(call);
    const forms = { text: whole, value: whole.replace(JSON.stringify(args), args) };
    for (const [form, json] of Object.entries(forms)) {
      const key = `${form}${levels}`;
      const turn = await alice.send(
        server.model.script(key, [[...text("before").slice(0, -2), { bytes: chunk(json) }], text("I see")]),
      );
      assert.equal(turn.text, "beforeI see", key);
      const shown = turn.of("tool_call").at(-1)!.tool_call.function.arguments;
      if (levels < 1000 || form === "text") assert.equal(shown, args, key);
      assert.equal(turn.of("tool_end")[0]!.status, "error");
      assert.match(
        JSON.parse(turn.of("tool_end")[0]!.tool_output).error,
        /nested more than 64|not valid JSON/,
      );
      await server.restart();
      const [, message, result] = await alice.messages(turn.sessionId);
      assert.equal(message.content, "before", key);
      assert.equal(message.tool_calls[0].function.arguments, shown, key);
      assert.equal(result.tool_call_id, message.tool_calls[0].id);
      const next = await alice.send(server.model.script("next", [text("fine")]), {
        session_id: turn.sessionId,
      });
      assert.equal(next.text, "fine", key);
    }
  }
});

Deno.test("an unknown tool is an answer for the model, not the end of the turn", async () => {
  await using server = await startChatServer();
  const turn = await server.chat("alice").send(
    server.model.script("t", [toolCalls([{ name: "rm_rf", args: {} }]), text("Sorry.")]),
  );
  assert.match(turn.of("tool_end")[0]!.tool_output, /unknown tool/);
  assert.equal(turn.text, "Sorry.");
});

Deno.test("a mode is enforced where tools run: teaching changes nothing, whatever the model calls", async () => { // W21
  await using server = await startChatServer({ model: { copilot_mode: "teaching_assistant" } });
  const alice = server.chat("alice");
  const node_id = server.gns3.nodeId("PC1");
  const commands = (list: string[]) => ({ device_configs: [{ device_name: "PC1", commands: list }] });
  const calls = [
    { name: "stop_gns3_node", args: { node_ids: [node_id] } },
    { name: "create_gns3_link", args: { links: [] } },
    { name: "update_gns3_node_name", args: { nodes: [{ node_id, new_name: "X" }] } },
    { name: "execute_vpcs_commands", args: commands(["ip 10.9.9.9/24"]) },
    { name: "execute_vpcs_commands", args: commands(["show ip", "save"]) },
    { name: "execute_vpcs_commands", args: commands(["show ip\nip 10.9.9.9/24"]) },
    { name: "execute_vpcs_commands", args: commands(["! id"]) },
  ];
  const before = server.gns3.requests.length;
  const turn = await alice.send(server.model.script("t", [toolCalls(calls), text("I may not.")]));
  assert.deepEqual(turn.of("tool_end").map((event) => event.status), calls.map(() => "error"));
  const changes = server.gns3.requests.slice(before).filter((r) =>
    r.method !== "GET" || r.path.includes("/console")
  );
  assert.deepEqual(changes, []);
});

Deno.test("at the step limit the agent sums up, the turn ends with limit, and the session goes on", async () => { // C5
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const again = toolCalls([{ name: "get_gns3_templates", args: {}, id: "call_@N@" }]);
  const turn = await alice.send(server.model.script("t", [again]));
  assert.equal(turn.last.finish_reason, "limit");
  assert.equal(turn.text, "ok");
  assert.equal(turn.of("tool_start").length, 39);
  assert.equal(server.model.requests("t").filter((request) => !request.title).length, 40);
  const next = await alice.send(server.model.script("u", [text("going on")]), { session_id: turn.sessionId });
  assert.equal(next.text, "going on");
});

Deno.test("a call that fails three times in the same way ends in an explanation", async () => { // C9
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const again = toolCalls([{ name: "wait_seconds", args: { seconds: -1 }, id: "call_@N@" }]);
  const turn = await alice.send(server.model.script("t", [again]));
  assert.equal(turn.of("tool_end").length, 3);
  assert.equal(turn.last.finish_reason, "limit");
  assert.equal(turn.text, "ok");
});

Deno.test("temperature and max_tokens of a turn reach the model and the session's figures, and only that turn", async () => {
  await using server = await startChatServer({ model: { temperature: 0.3 } });
  const alice = server.chat("alice");
  const turn = await alice.send(server.model.script("t", [text("x")]), { temperature: 0, max_tokens: 77 });
  await alice.send(server.model.script("u", [text("y")]), { session_id: turn.sessionId });
  const [first] = server.model.requests("t");
  const [second] = server.model.requests("u");
  assert.deepEqual([first!.body.temperature, first!.body.max_tokens], [0, 77]);
  assert.deepEqual([second!.body.temperature, second!.body.max_tokens], [0.3, undefined]);
  const { stats } = await alice.json("GET", `/sessions/${turn.sessionId}`);
  assert.deepEqual([stats.temperature, stats.max_tokens], [0, 77]);
});

Deno.test("a title that is late, empty or broken never fails a turn; the user's first words serve", async () => { // D12
  await using server = await startChatServer({ config: { titleTimeout: 0.2 } });
  const alice = server.chat("alice");
  const failures = [[{ hang: true as const }], text("<think>never closed"), text(""), [{
    cut: true as const,
  }]];
  for (const [i, title] of failures.entries()) {
    const tag = server.model.script(`t${i}`, [text("fine")], { title });
    const turn = await alice.send(`What is wrong with R1? ${tag}`);
    assert.equal(turn.text, "fine");
    assert.match(turn.of("title")[0]!.title, /^What is wrong with R1\?/);
  }
});

Deno.test("a title that the user has set is never overwritten, not even by the turn that is running", async () => { // A3
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stream = await alice.start(server.model.script("t", [slow(20, 10)], { title: text("Automatic") }));
  await stream.untilType("content");
  await alice.json("PATCH", `/sessions/${stream.sessionId}`, { title: " Mine " });
  await stream.end();
  assert.equal((await alice.json("GET", `/sessions/${stream.sessionId}`)).title, "Mine");
  assert.equal((await alice.json("GET", `/sessions/${stream.sessionId}/history`)).title, "Mine");
  await alice.send(server.model.script("u", [text("x")]), { session_id: stream.sessionId });
  assert.equal((await alice.json("GET", `/sessions/${stream.sessionId}`)).title, "Mine");
  assert.equal(server.model.requests().filter((request) => request.title).length, 0);
});

Deno.test("a change in the lab between two model calls of a turn is in what the second one sees", async () => { // E6
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const name = { node_id: server.gns3.nodeId("PC1"), new_name: "Renamed-PC" };
  const turn = await alice.send(server.model.script("t", [
    toolCalls([{ name: "stop_gns3_node", args: { node_ids: ["PC1"] } }]),
    toolCalls([{ name: "update_gns3_node_name", args: { nodes: [name] } }]),
    text("done"),
  ]));
  assert.equal(turn.last.finish_reason, "stop");
  const prompts = server.model.requests("t").filter((request) => !request.title).map((r) =>
    String(r.body.messages[0]!.content)
  );
  assert.ok(!prompts[0]!.includes("Renamed-PC") && prompts[2]!.includes("Renamed-PC"));
});

Deno.test("one JSON answer has the turn's messages, usage and reason", async () => { // contract section 2.2
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const step = toolCalls([{ name: "get_gns3_templates", args: {} }]);
  const answer = await alice.json("POST", "/stream", {
    message: server.model.script("t", [step, text("done", { use: [50, 4] })], {
      title: text("T", { use: [10, 1] }),
    }),
    stream: false,
  });
  assert.equal(answer.message.content, "done");
  assert.deepEqual(answer.messages.map((m: { role: string }) => m.role), [
    "user",
    "assistant",
    "tool",
    "assistant",
  ]);
  assert.deepEqual(answer.usage, { input_tokens: 50, output_tokens: 10, total_tokens: 60, llm_calls: 3 });
  assert.deepEqual([answer.finish_reason, answer.title, answer.error], ["stop", "T", undefined]);
  const failed = await alice.json("POST", "/stream", {
    message: server.model.script("u", [status(401)]),
    stream: false,
  });
  assert.equal(failed.finish_reason, "error");
  assert.match(failed.error, /key/i);
});

Deno.test("usage that is repeated on every chunk is not added up", async () => { // D5
  await using server = await startChatServer();
  const step = [usage(50, 1), ...text("x", { use: [50, 2] })].map((a) =>
    "usage" in a ? { ...a, force: true } : a
  );
  const turn = await server.chat("alice").send(
    server.model.script("t", [step], { title: text("T", { use: [5, 1] }) }),
  );
  assert.deepEqual([turn.last.usage.input_tokens, turn.last.usage.output_tokens], [50, 3]);
});
