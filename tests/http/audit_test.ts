// The audit route: what a turn did is there, for whom it was done and for superadmins, on both prefixes.
import assert from "node:assert/strict";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { type Chat, startChatServer } from "../fakes/chat.ts";

// deno-lint-ignore no-explicit-any
const entries = async (chat: Chat, query = ""): Promise<any[]> => await chat.json("GET", `/audit${query}`);

Deno.test("every tool call of a turn is in the audit log, refused ones too, with who, where, what and how it went", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const calls = [
    { id: "c1", name: "stop_gns3_node", args: { node_ids: ["PC1"] } },
    { id: "c2", name: "delete_gns3_link", args: { link_ids: ["PC1 - PC2"] } },
    { id: "c3", name: "reboot", args: { password: "S3CRET-1" } },
    { id: "c4", name: "wait_seconds", args: '{"seconds": ' },
  ];
  const turn = await alice.send(server.model.script("t", [toolCalls(calls), text("done")]));
  const found = await entries(alice);
  assert.deepEqual(new Set(found.map(({ id }) => id)).size, 4);
  const byTool = new Map(found.map((one) => [one.tool, one]));
  const stopped = byTool.get("stop_gns3_node");
  assert.deepEqual(
    { ...stopped, id: "", time: "", turn_id: "", duration_ms: 0 },
    {
      id: "",
      time: "",
      user_id: server.gns3.userIds.alice,
      username: "alice",
      project_id: server.gns3.projectId,
      session_id: turn.sessionId,
      turn_id: "",
      mode: "lab_automation_assistant",
      tool: "stop_gns3_node",
      risk: "change",
      arguments: { node_ids: ["PC1"] },
      outcome: "success",
      duration_ms: 0,
    },
  );
  assert.match(stopped.time, /^\d{4}-.*Z$/);
  assert.ok(stopped.turn_id && stopped.duration_ms >= 0);
  const link = byTool.get("delete_gns3_link");
  assert.deepEqual([link.outcome, link.risk], ["error", "destroy"]);
  assert.match(link.error, /There is no link "PC1 - PC2"/);
  assert.deepEqual([byTool.get("reboot").outcome, byTool.get("reboot").arguments], ["refused", {
    password: "***",
  }]);
  assert.deepEqual([byTool.get("wait_seconds").outcome, byTool.get("wait_seconds").arguments], [
    "refused",
    '{"seconds": ',
  ]);
});

Deno.test("a stopped call is in the audit log as aborted", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const script = server.model.script("t", [toolCalls([{ name: "wait_seconds", args: { seconds: 60 } }])]);
  const stream = await alice.start(script);
  await stream.untilType("tool_start");
  await alice.json("POST", `/sessions/${stream.sessionId}/abort`);
  await stream.end();
  assert.deepEqual((await entries(alice)).map(({ tool, outcome }) => [tool, outcome]), [[
    "wait_seconds",
    "aborted",
  ]]);
});

Deno.test("what waits for the user is in the audit log when it was decided: refused with its risk, or as it was run", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const stop = (name: string) => ({ name: "stop_gns3_node", args: { node_ids: [name] } });
  const script = server.model.script("t", [toolCalls([stop("PC1"), stop("PC2")]), text("done")]);
  const turn = await alice.send(script, { approvals: true, session_id: "s" });
  assert.deepEqual(await entries(alice), []);
  const [first, second] = turn.of("approval_request").map(({ approval }) => approval.id);
  const decide = async (id: string, body: unknown) =>
    await (await alice.call("POST", `/sessions/s/approvals/${id}`, body)).text();
  await decide(first, { decision: "reject", reason: "in use" });
  await decide(second, { decision: "edit", arguments: { node_ids: ["R1"] } });
  const found = await entries(alice);
  assert.deepEqual(
    found.map(({ risk, outcome, arguments: args }) => [risk, outcome, args]).sort(),
    [["change", "refused", { node_ids: ["PC1"] }], ["change", "success", { node_ids: ["R1"] }]],
  );
  assert.match(
    found.find(({ outcome }) => outcome === "refused").error,
    /the user rejected this call.*in use/,
  );
});

Deno.test("users see their own entries, superadmins all, strangers none; pages and both prefixes work", async () => {
  await using server = await startChatServer();
  const [alice, admin, bob] = [server.chat("alice"), server.chat("admin"), server.chat("bob")];
  for (const chat of [alice, admin, alice]) {
    await chat.send(server.model.script("t", [toolCalls([{ name: "get_gns3_templates" }]), text("done")]));
  }
  const names = (list: { username: string }[]) => list.map(({ username }) => username);
  assert.deepEqual(names(await entries(alice)), ["alice", "alice"]);
  const all = await entries(admin);
  assert.deepEqual(names(all), ["alice", "admin", "alice"]);
  assert.deepEqual(await entries(admin, "?limit=1"), all.slice(0, 1));
  assert.deepEqual(await entries(admin, `?limit=1&before=${all[0].id}`), all.slice(1, 2));
  assert.deepEqual(
    await alice.json("GET", `/v3/copilot/projects/${alice.projectId}/chat/audit`),
    await entries(alice),
  );
  await bob.json("GET", "/audit", undefined, 403);
  await alice.json("GET", "/audit?limit=0", undefined, 422);
  await alice.json("GET", "/audit?before=nothing", undefined, 422);
  assert.equal((await fetch(`${alice.prefix}/audit`)).status, 401);
  // Also when the project is closed.
  await fetch(`${server.gns3.url}/v3/projects/${alice.projectId}/close`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.gns3.tokens.admin}` },
  });
  await alice.json("GET", "/sessions", undefined, 403);
  assert.equal((await entries(alice)).length, 2);
});
