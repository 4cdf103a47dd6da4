// A snapshot that the agent restores: the lab goes back, the conversations stay (M4, W6).
import assert from "node:assert/strict";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { type Chat, type ChatServer, startChatServer } from "../fakes/chat.ts";

const ALL = { node_ids: ["PC1", "PC2", "R1", "R2"] };
const call = (name: string, args: unknown = {}) => toolCalls([{ name, args }]);

/** A conversation that has made a snapshot of a stopped lab, and deleted a node since. */
async function changed(server: ChatServer, alice: Chat): Promise<string> {
  const turn = await alice.send(server.model.script("made", [
    call("stop_gns3_node", ALL),
    call("create_gns3_snapshot", { name: "good" }),
    call("delete_gns3_node", { node_ids: ["R1"] }),
    text("R1 is gone."),
  ]));
  assert.equal(turn.of("tool_end").every(({ status }) => status === "success"), true);
  return turn.sessionId;
}

async function until(fits: () => boolean): Promise<void> {
  while (!fits()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const restoring = ({ gns3 }: ChatServer) => gns3.requests.some(({ path }) => path.endsWith("/restore"));

async function nodes(server: ChatServer): Promise<number> {
  const { gns3 } = server;
  const response = await fetch(`${gns3.url}/v3/projects/${gns3.projectId}/nodes`, {
    headers: { authorization: `Bearer ${gns3.tokens.admin}` },
  });
  return (await response.json()).length;
}

Deno.test("a turn that restores a snapshot ends well: the lab is as it was, the conversation is whole and goes on", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const session_id = await changed(server, alice);
  const admin = await server.chat("admin").send(server.model.script("other", [text("Hello.")]));
  assert.equal(await nodes(server), 3);
  const before = await alice.messages(session_id);
  const script = server.model.script("back", [
    call("restore_gns3_snapshot", { name: "good" }),
    text("R1 is back."),
  ]);
  const turn = await alice.send(script, { session_id });
  assert.equal(turn.last.finish_reason, "stop");
  const [end] = turn.of("tool_end");
  assert.deepEqual([end!.status, JSON.parse(end!.tool_output).restored.name], ["success", "good"]);
  assert.equal(await nodes(server), 4);

  const messages = await alice.messages(session_id);
  assert.deepEqual(messages.slice(0, before.length), before);
  assert.deepEqual(messages.slice(before.length).map(({ role }) => role), [
    "user",
    "assistant",
    "tool",
    "assistant",
  ]);
  assert.equal(messages.at(-1).content, "R1 is back.");
  assert.equal((await server.chat("admin").messages(admin.sessionId)).length, 2);
  // All of it is on disk, and nothing of the restore is left over.
  await server.restart();
  assert.deepEqual(await alice.messages(session_id), messages);
  const folder = `${server.gns3.project(server.gns3.projectId).path}/gns3-copilot`;
  assert.deepEqual([...Deno.readDirSync(folder)].filter(({ name }) => name.includes("kept")), []);
  await alice.send(server.model.script("on", [text("Yes.")]), { session_id });
});

Deno.test("while a snapshot is restored nobody's conversation is let go, although GNS3 shows the project as closed", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const session_id = await changed(server, alice);
  server.gns3.setLatency(1_500);
  const script = server.model.script("back", [
    call("restore_gns3_snapshot", { name: "good" }),
    text("R1 is back."),
  ]);
  const turn = await alice.start(script, { session_id });
  await until(() => restoring(server));
  // Sessions can be read meanwhile.
  server.gns3.setLatency(0);
  assert.equal((await alice.json("GET", "/sessions")).length, 1);
  const project = server.gns3.project(server.gns3.projectId);
  project.status = "closed";
  const refused = await alice.call("GET", "/sessions");
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "2");
  assert.match((await refused.json()).message, /snapshot of this project is being restored/);
  project.status = "opened";
  await turn.end();
  assert.equal(turn.last.finish_reason, "stop");
  assert.equal((await alice.messages(session_id)).at(-1).content, "R1 is back.");
});

Deno.test("a turn that is stopped while it restores ends at once and is saved; the restore goes on to its end", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const session_id = await changed(server, alice);
  server.gns3.setLatency(1_500);
  const script = server.model.script("back", [
    call("restore_gns3_snapshot", { name: "good" }),
    text("never"),
  ]);
  const turn = await alice.start(script, { session_id });
  await until(() => restoring(server));
  server.gns3.setLatency(0);
  await alice.json("POST", `/sessions/${session_id}/abort`);
  await turn.end();
  assert.equal(turn.last.finish_reason, "aborted");
  assert.equal(await nodes(server), 3, "not restored yet");
  // Another restore meanwhile is refused; closing the server waits for the one that runs.
  const again = server.model.script("again", [call("restore_gns3_snapshot", { name: "good" }), text("busy")]);
  const second = await alice.send(again, { session_id });
  assert.match(second.of("tool_end")[0]!.tool_output, /is being restored already/);
  const messages = await alice.messages(session_id);
  await server.restart();
  assert.equal(await nodes(server), 4);
  assert.deepEqual(await alice.messages(session_id), messages);
  assert.match(
    messages.find(({ role, content }) => role === "tool" && /aborted/.test(content)).content,
    /aborted before it finished \(the user stopped the turn\)/,
  );
});
