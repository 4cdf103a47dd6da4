// A chat folder on a disk of its own, which gets full.
import assert from "node:assert/strict";
import { join } from "node:path";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { checkDatabase } from "../../src/storage/check.ts";
import { type Chat, type ChatServer, startChatServer } from "../fakes/chat.ts";

const run = (program: string, ...args: string[]) => {
  try {
    return new Deno.Command(program, { args, stderr: "null" }).outputSync().success;
  } catch {
    return false;
  }
};

/** Whether this user may mount a small disk. */
function mayMount(): boolean {
  const place = Deno.makeTempDirSync();
  const mounted = run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place);
  if (mounted) run("umount", place);
  Deno.removeSync(place);
  return mounted;
}

/** Writes until nothing more fits, then gives back `free` bytes. */
function fillUp(file: string, free: number): void {
  using filler = Deno.openSync(file, { write: true, create: true, truncate: true });
  let size = 0;
  try {
    for (;;) size += filler.writeSync(new Uint8Array(4096));
  } catch {
    filler.truncateSync(Math.max(0, size - free));
  }
}

/** Runs `work` with a chat folder on a small disk; `fill` fills it up, `free` makes room again. */
async function onSmallDisk(
  work: (disk: {
    server: ChatServer;
    alice: Chat;
    folder: string;
    fill(free: number): void;
    free(): void;
  }) => Promise<void>,
): Promise<void> {
  await using server = await startChatServer();
  const folder = join(server.gns3.project(server.gns3.projectId).path, "gns3-copilot");
  Deno.mkdirSync(folder);
  assert.ok(run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder));
  const filler = join(folder, "filler");
  try {
    const fill = (free: number) => fillUp(filler, free);
    await work({ server, alice: server.chat("alice"), folder, fill, free: () => Deno.removeSync(filler) });
  } finally {
    // The server still has it open.
    run("umount", "-l", folder);
  }
}

const FULL = /^The disk that holds the project's folder is full/;
const LOOK = toolCalls([{ name: "gns3_topology_reader", args: {} }]);

/** What is counted of a session is what its history holds; its first turn has called for a title too. */
async function assertCounted(alice: Chat, sessionId: string, where: string): Promise<void> {
  const session = await alice.json("GET", `/sessions/${sessionId}`);
  const messages = await alice.messages(sessionId);
  const answers = messages.filter(({ role }) => role === "assistant");
  assert.equal(session.message_count, messages.length, where);
  assert.equal(session.llm_calls_count, answers.length + 1, where);
}

const ignore = !mayMount();

Deno.test({
  name:
    "a disk that gets full ends turns with a sentence, loses nothing, and is used again when there is room",
  ignore,
  fn: () =>
    onSmallDisk(async ({ server, alice, folder, fill, free }) => {
      const { sessionId } = await alice.send(server.model.script("first", [text("hello")]));
      const before = await alice.messages(sessionId);
      for (const left of [0, 8_192, 32_768, 65_536, 131_072]) {
        fill(left);
        const turn = await alice.send(
          server.model.script(`big${left}`, [LOOK, text("words ".repeat(40_000))]),
          { session_id: sessionId },
        );
        assert.equal(turn.last.type, "error", `${left} bytes free`);
        assert.match(turn.last.error, FULL);
        // What a full step has saved is whole: the question, perhaps the call and its result.
        const after = await alice.messages(sessionId);
        assert.deepEqual(after.slice(0, before.length), before);
        assert.ok(!after.some(({ content }) => content.startsWith("words")), `${left} bytes free`);
        assert.deepEqual(checkDatabase(join(folder, "copilot_checkpoints.db")).problems, []);
      }
      fill(0);
      assert.equal((await alice.json("GET", "/sessions")).length, 1);

      free();
      const turn = await alice.send(server.model.script("last", [text("room again")]), {
        session_id: sessionId,
      });
      assert.equal(turn.last.finish_reason, "stop");
      assert.equal((await alice.messages(sessionId)).at(-1).content, "room again");
      await assertCounted(alice, sessionId, "after all");
      await server.restart();
      assert.equal((await alice.messages(sessionId)).at(-1).content, "room again");
    }),
});

Deno.test({
  name: "wherever in a turn the disk gets full, what is counted is what history holds",
  ignore,
  fn: () =>
    onSmallDisk(async ({ server, alice, fill, free }) => {
      const { sessionId } = await alice.send(server.model.script("first", [text("hello")]));
      for (let left = 0; left < 200_000; left += 20_480) {
        const where = `${left} bytes free`;
        fill(left);
        const turn = await alice.send(
          server.model.script(`big${left}`, [LOOK, text("words ".repeat(40_000))]),
          { session_id: sessionId },
        );
        assert.match(turn.last.error, FULL, where);
        free();
        // An end that could not be saved is seen at the next opening.
        await server.restart();
        await assertCounted(alice, sessionId, where);
        const replayed = await alice.follow(sessionId);
        await replayed.end();
        // It is the turn before where not even the start could be saved.
        assert.ok(replayed.last.type === "done" || !replayed.text.includes("hello"), where);
      }
    }),
});

Deno.test({
  name: "a stop on a full disk tells that the answer is lost, and the next turn counts right",
  ignore,
  fn: () =>
    onSmallDisk(async ({ server, alice, fill, free }) => {
      const { sessionId } = await alice.send(server.model.script("first", [text("hello")]));
      const tag = server.model.script("stopped", [[
        { delta: { role: "assistant", content: "words ".repeat(40_000) } },
        { hang: true },
      ]]);
      const stream = await alice.start(tag, { session_id: sessionId });
      await stream.untilType("content");
      fill(40_960);
      await alice.json("POST", `/sessions/${sessionId}/abort`);
      await stream.end();
      assert.match(stream.last.error, FULL);
      free();
      await alice.send(server.model.script("next", [text("on")]), { session_id: sessionId });
      await assertCounted(alice, sessionId, "after the stop");
      const said = (await alice.messages(sessionId)).map(({ content }) => content);
      assert.deepEqual(said, ["[[first]]", "hello", "[[stopped]]", "[[next]]", "on"]);
    }),
});

Deno.test({
  name: "an answer in one piece whose question could not be saved shows no earlier turn",
  ignore,
  fn: () =>
    onSmallDisk(async ({ server, alice, fill }) => {
      const { sessionId } = await alice.send(server.model.script("first", [text("hello")]));
      fill(0);
      const message = `${server.model.script("lost", [text("nothing")])} ${"x".repeat(90_000)}`;
      const answer = await alice.json("POST", "/stream", { message, session_id: sessionId, stream: false });
      assert.match(answer.error, FULL);
      assert.deepEqual([answer.message, answer.messages], [null, []]);
    }),
});
