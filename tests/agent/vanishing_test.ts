// Files that vanish under the server's hands, by other ways than GNS3's.
import assert from "node:assert/strict";
import { join } from "node:path";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { type Chat, type ChatServer, startChatServer } from "../fakes/chat.ts";
import { namesIn } from "../storage/helpers.ts";

const SLOW = text("word ".repeat(30).split(" "), { ms: 20 });

/** A turn in the middle of its answer, in a session that has had one before. */
async function talking(server: ChatServer, alice: Chat) {
  const { sessionId } = await alice.send(server.model.script("before", [text("hello")]));
  const tag = server.model.script("during", [toolCalls([{ name: "gns3_topology_reader", args: {} }]), SLOW]);
  const stream = await alice.start(tag, { session_id: sessionId });
  await stream.untilType("content");
  return { stream, sessionId };
}

Deno.test("a chat folder that is removed in the middle of a turn ends it with a sentence, and the next turn starts clean", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const { path } = server.gns3.project(server.gns3.projectId);
  const { stream, sessionId } = await talking(server, alice);
  Deno.removeSync(join(path, "gns3-copilot"), { recursive: true });
  await stream.end();
  assert.equal(stream.last.type, "error");
  assert.match(stream.last.error, /^The project or its chat files were deleted or moved away/);
  assert.deepEqual(namesIn(path).filter((name) => name === "gns3-copilot"), []);

  const next = await alice.send(server.model.script("after", [text("clean")]), { session_id: sessionId });
  assert.equal(next.text, "clean");
  assert.deepEqual((await alice.messages(sessionId)).map(({ content }) => content), ["[[after]]", "clean"]);
  assert.equal((await alice.json("GET", "/sessions")).length, 1);
});

Deno.test("a project's folder that is removed or moved away in the middle of a turn is not made again", async () => {
  for (const away of ["removed", "moved"]) {
    await using server = await startChatServer();
    const alice = server.chat("alice");
    const { path } = server.gns3.project(server.gns3.projectId);
    const { stream, sessionId } = await talking(server, alice);
    if (away === "removed") Deno.removeSync(path, { recursive: true });
    else Deno.renameSync(path, `${path}-moved`);
    await stream.end();
    assert.equal(stream.last.type, "error", away);
    assert.match(stream.last.error, /^The project or its chat files were deleted or moved away/);
    const { message } = await alice.json("GET", "/sessions", undefined, 404);
    assert.match(message, /^The folder of this project does not exist on this machine\./);
    const refused = await alice.call("POST", "/stream", { message: "again" });
    assert.equal(refused.status, 404);
    await refused.body?.cancel();
    assert.throws(() => Deno.statSync(path), Deno.errors.NotFound);
    if (away === "removed") continue;

    // Moved back, it is what it was: the cut turn is in it as far as it came.
    Deno.renameSync(`${path}-moved`, path);
    const { sessionId: same } = await alice.send(server.model.script("after", [text("here again")]), {
      session_id: sessionId,
    });
    assert.equal(same, sessionId);
    const said = (await alice.messages(sessionId)).map(({ content }) => content);
    assert.deepEqual([said[1], said.at(-1)], ["hello", "here again"]);
    const session = await alice.json("GET", `/sessions/${sessionId}`);
    assert.equal(session.message_count, said.length);
  }
});

Deno.test("a chat folder that is removed between two turns is begun anew", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const { path } = server.gns3.project(server.gns3.projectId);
  const { sessionId } = await alice.send(server.model.script("before", [text("hello")]));
  Deno.removeSync(join(path, "gns3-copilot"), { recursive: true });
  assert.deepEqual(await alice.json("GET", "/sessions"), []);
  await alice.json("GET", `/sessions/${sessionId}/history`, undefined, 404);
  await alice.send(server.model.script("after", [text("clean")]));
  assert.equal((await alice.json("GET", "/sessions")).length, 1);
});
