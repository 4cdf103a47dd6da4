// Two servers of this program on one projects directory.
import assert from "node:assert/strict";
import { join } from "node:path";
import { text } from "../src/practice/model_script.ts";
import { Chat, startChatServer } from "./fakes/chat.ts";
import { namesIn } from "./storage/helpers.ts";

Deno.test("a second server is refused a project that the first one uses, and goes on where that one stopped", async () => {
  await using first = await startChatServer();
  const { gns3 } = first;
  const { url: gns3Url, projectsDir } = gns3;
  await using second = await startChatServer({ config: { gns3Url, projectsDir } });
  const alice = first.chat("alice");
  const other = new Chat(second.url, gns3.projectId, alice.token);
  const { sessionId } = await alice.send(first.model.script("one", [text("from the first")]));

  const folder = join(gns3.project(gns3.projectId).path, "gns3-copilot");
  const names = namesIn(folder);
  const asked = second.model.script("two", [text("from the second")]);
  for (
    const answer of [
      await other.call("GET", "/sessions"),
      await other.call("POST", "/stream", { message: asked }),
    ]
  ) {
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.get("retry-after"), "5");
    assert.match(
      (await answer.json()).message,
      /^Another GNS3 Copilot server is using this project's chats\./,
    );
  }
  assert.equal(second.model.requests("two").length, 0);
  assert.deepEqual(namesIn(folder), names);

  await first.restart();
  await other.send(asked, { session_id: sessionId });
  assert.deepEqual(
    (await other.messages(sessionId)).filter(({ role }) => role === "assistant").map((m) => m.content),
    [
      "from the first",
      "from the second",
    ],
  );
  // The first one has let go of it.
  assert.equal((await alice.call("GET", "/sessions")).status, 503);
});
