import assert from "node:assert/strict";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { startChatServer } from "../fakes/chat.ts";

const ODD = "before \0 after, \ud800 half a pair, \0";

Deno.test("U+0000 and half a surrogate pair come back exactly, live, from storage, in replay and export", async () => {
  await using server = await startChatServer();
  const chat = server.chat("alice");
  const tag = server.model.script("odd", [
    toolCalls([{ id: "c1", name: "no_such_tool", args: { text: ODD } }]),
    text([ODD, ODD]),
  ]);
  const stream = await chat.send(`${tag} ${ODD}`);
  const id = stream.sessionId;
  await chat.json("PATCH", `/sessions/${id}`, { title: `T ${ODD}.` });
  const said = stream.text;
  assert.equal(said, ODD + ODD);
  const before = await chat.messages(id);
  assert.equal(before[0].content, `${tag} ${ODD}`);
  assert.deepEqual(JSON.parse(before[1].tool_calls[0].function.arguments), { text: ODD });
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
