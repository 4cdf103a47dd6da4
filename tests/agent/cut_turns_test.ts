// Turns that were running when the database was left as it is: a crash, seen from the next start.
import assert from "node:assert/strict";
import { join } from "node:path";
import { type ScriptStep } from "../../src/practice/model.ts";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { backupDatabase } from "../../src/storage/backup.ts";
import { type ChatServer, startChatServer } from "../fakes/chat.ts";

const WAIT = { name: "wait_seconds", args: { seconds: 600 } };
const HANG: ScriptStep = [{ delta: { role: "assistant", content: "half an" } }, { hang: true }];

/** Starts a turn in a session that has had one, and starts the server again on what is on the disk at that moment. */
async function crashIn(server: ChatServer, steps: ScriptStep[], ready: string) {
  const alice = server.chat("alice");
  const { sessionId } = await alice.send(server.model.script("before", [text("hello", { use: [50, 7] })]));
  const before = await alice.json("GET", `/sessions/${sessionId}`);
  const stream = await alice.start(server.model.script("cut", steps), { session_id: sessionId });
  await stream.untilType(ready);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const file = join(
    server.gns3.project(server.gns3.projectId).path,
    "gns3-copilot",
    "copilot_checkpoints.db",
  );
  const copy = `${server.gns3.projectsDir}/copy.db`;
  backupDatabase(file, copy);
  await server.restart();
  Deno.renameSync(copy, file);
  return { alice, sessionId, before };
}

Deno.test("a turn cut off in a tool is counted with what was saved of it, and the next one makes its calls whole", async () => {
  await using server = await startChatServer();
  const steps = [toolCalls([{ ...WAIT, id: "w1" }, { ...WAIT, id: "w2" }])];
  const { alice, sessionId, before } = await crashIn(server, steps, "tool_start");
  const cut = await alice.json("GET", `/sessions/${sessionId}`);
  assert.equal(cut.message_count, before.message_count + 2);
  assert.equal(cut.llm_calls_count, before.llm_calls_count + 1);
  assert.equal(cut.output_tokens, before.output_tokens + 5);
  assert.equal(cut.stats.errors, 1);
  assert.ok(cut.last_message_at > before.last_message_at && cut.updated_at > before.updated_at);
  const replayed = await alice.follow(sessionId);
  await replayed.end();
  assert.match(replayed.last.error, /^This turn was cut off before its end was saved/);

  await alice.send(server.model.script("after", [text("on")]), { session_id: sessionId });
  const messages = await alice.messages(sessionId);
  assert.deepEqual(messages.map(({ role }) => role), [
    ...["user", "assistant", "user", "assistant", "tool", "tool", "user", "assistant"],
  ]);
  const after = await alice.json("GET", `/sessions/${sessionId}`);
  assert.equal(after.message_count, messages.length);
  assert.equal(after.stats.errors, 1);
});

Deno.test("a turn cut off before its first answer is counted once, however often the server starts", async () => {
  await using server = await startChatServer();
  const { alice, sessionId, before } = await crashIn(server, [HANG], "content");
  for (let i = 0; i < 2; i++) {
    const cut = await alice.json("GET", `/sessions/${sessionId}`);
    assert.equal(cut.message_count, (await alice.messages(sessionId)).length);
    assert.equal(cut.message_count, before.message_count + 1);
    assert.deepEqual([cut.llm_calls_count, cut.stats.errors], [before.llm_calls_count, 1]);
    assert.deepEqual([cut.input_tokens, cut.output_tokens], [before.input_tokens, before.output_tokens]);
    await server.restart();
  }
});
