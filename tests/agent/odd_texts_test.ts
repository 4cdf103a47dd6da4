import assert from "node:assert/strict";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { startChatServer } from "../fakes/chat.ts";

/** What is sent, and what is kept of it: half a pair has no form in UTF-8. */
const SENT = "before \0 after, \ud800 half a pair, \0";
const ODD = SENT.toWellFormed();

Deno.test("U+0000 comes back exactly and half a pair as U+FFFD: live, from storage, in replay and export", async () => {
  await using server = await startChatServer();
  const chat = server.chat("alice");
  const tag = server.model.script("odd", [
    toolCalls([{ id: "c1", name: "no_such_tool", args: { text: SENT } }]),
    text([SENT, SENT]),
  ]);
  const stream = await chat.send(`${tag} ${SENT}`);
  const id = stream.sessionId;
  await chat.json("PATCH", `/sessions/${id}`, { title: `T ${SENT}.` });
  const said = stream.text;
  assert.equal(said, ODD + ODD);
  const before = await chat.messages(id);
  assert.equal(before[0].content, `${tag} ${ODD}`);
  // Arguments are shown as sent, and this one was sent as an escape.
  assert.deepEqual(JSON.parse(before[1].tool_calls[0].function.arguments), { text: SENT });
  assert.equal(before.at(-1).content, ODD + ODD);

  await server.restart();
  assert.deepEqual(await chat.messages(id), before);
  const replayed = await chat.follow(id);
  await replayed.end();
  assert.equal(replayed.text, said);
  const exported = await chat.json("GET", `/sessions/${id}/export`);
  assert.deepEqual([exported.title, exported.messages], [`T ${ODD}.`, before]);
  assert.equal((await chat.json("GET", "/sessions"))[0].title, `T ${ODD}.`);
  const found = await chat.json("GET", `/sessions?q=${encodeURIComponent("before \0 AFTER")}`);
  assert.deepEqual(found.map((session: { thread_id: string }) => session.thread_id), [id]);
});
