// Clients that leave disturb nobody.
import assert from "node:assert/strict";
import { slow } from "../../src/practice/model_script.ts";
import { startChatServer } from "../fakes/chat.ts";

Deno.test("fifty clients that leave in mid-answer end nothing and leave no fault behind", async () => { // B3
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const key = server.model.script("leave", [slow(20, 5)]);
  const faults: unknown[] = [];
  const note = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    faults.push(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", note);
  try {
    const streams = await Promise.all(Array.from({ length: 50 }, () => alice.start(key)));
    await Promise.all(streams.map(async (stream) => {
      await stream.untilType("content");
      await stream.leave();
    }));
    assert.equal((await (await fetch(`${server.url}/health`)).json()).status, "healthy");
    for (const { sessionId } of streams) {
      const whole = await alice.follow(sessionId);
      await whole.end();
      assert.equal(whole.last.type, "done");
      assert.equal((await alice.messages(sessionId)).at(-1).content, whole.text);
    }
  } finally {
    globalThis.removeEventListener("unhandledrejection", note);
  }
  assert.deepEqual(faults, []);
  assert.deepEqual(server.lines.filter(({ level }) => level === "error"), []);
});
