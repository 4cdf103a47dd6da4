import assert from "node:assert/strict";
import { text } from "../../../src/practice/model_script.ts";
import { startChatServer } from "../../fakes/chat.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("HEAD on a stream is answered as GET without its body, and leaves nothing behind that asks or waits", async () => {
  await using server = await startChatServer({ config: { heartbeatInterval: 1 }, recheckMs: 20 });
  const alice = server.chat("alice");
  await alice.send(server.model.script("t", [text("hi")]), { session_id: "s" });
  for (const path of ["/sessions/s/stream", "/sessions/s/stream?after=x:1", "/sessions"]) {
    const answer = await alice.call("HEAD", path);
    assert.deepEqual([answer.status, await answer.text()], [200, ""], path);
    if (path !== "/sessions") assert.equal(answer.headers.get("x-session-id"), "s");
  }
  const asked = server.gns3.requests.length;
  await pause(300);
  assert.equal(server.gns3.requests.length, asked);
});
