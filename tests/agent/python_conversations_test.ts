import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { text } from "../../src/practice/model_script.ts";
import { type ChatServer, startChatServer } from "../fakes/chat.ts";
import { putDatabase, type PythonDatabase, saidBy } from "../storage/python/testdata.ts";

/** Puts one of Python's databases into the project, all of it Alice's. */
async function give({ gns3, chat }: ChatServer, name: PythonDatabase): Promise<void> {
  const file = join(gns3.projectsDir, gns3.projectId, "gns3-copilot", "copilot_checkpoints.db");
  putDatabase(name, file);
  const headers = { authorization: `Bearer ${chat("alice").token}` };
  const { user_id } = await (await fetch(`${gns3.url}/v3/access/users/me`, { headers })).json();
  const db = new DatabaseSync(file);
  db.prepare("UPDATE chat_sessions SET user_id = ?").run(user_id);
  db.close();
}

Deno.test("every kind of Python's messages goes to a strict model in a form that it accepts", async () => {
  await using server = await startChatServer();
  await give(server, "kinds");
  const alice = server.chat("alice");
  for (const sessionId of Object.keys(saidBy("kinds").histories)) {
    const before = await alice.messages(sessionId);
    const tag = server.model.script(sessionId, [text("Yes.")]);
    const turn = await alice.send(`Go on. ${tag}`, { session_id: sessionId });
    assert.deepEqual([turn.text, turn.last.finish_reason], ["Yes.", "stop"], sessionId);
    const after = await alice.messages(sessionId);
    assert.deepEqual(after.slice(0, before.length), before, sessionId);
    assert.equal(after.at(-1).content, "Yes.");
    const session = await alice.json("GET", `/sessions/${sessionId}`);
    assert.equal(session.message_count, after.length, sessionId);
  }
  const sent = server.model.requests("kinds").find((request) => !request.title)!.body.messages;
  const calls = sent.flatMap((message) => message.tool_calls ?? []);
  assert.ok(calls.some(({ function: { arguments: text } }) => text.includes('"big":9223372036854775807')));
  // A picture of an old message, and the words around it.
  assert.ok(JSON.stringify(sent).includes("What is "));
  const results = sent.filter(({ role }) => role === "tool").map(({ tool_call_id }) => tool_call_id);
  assert.deepEqual(results, calls.map(({ id }) => id));
});

Deno.test("a long session of Python's reads by pages that fit together", async () => {
  await using server = await startChatServer();
  await give(server, "long");
  const alice = server.chat("alice");
  const said = saidBy("long").histories.long!.map((message) => message.content);
  const read: string[] = [];
  for (let before = ""; read.length < said.length;) {
    const { messages } = await alice.json("GET", `/sessions/long/history?limit=50${before}`);
    read.unshift(...messages.map((message: { content: string }) => message.content));
    before = `&before=${encodeURIComponent(messages[0].id)}`;
  }
  assert.deepEqual(read, said);
});
