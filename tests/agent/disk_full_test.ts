// A chat folder on a disk of its own, which gets full.
import assert from "node:assert/strict";
import { join } from "node:path";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { checkDatabase } from "../../src/storage/check.ts";
import { startChatServer } from "../fakes/chat.ts";

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

Deno.test({
  name:
    "a disk that gets full ends turns with a sentence, loses nothing, and is used again when there is room",
  ignore: !mayMount(),
  fn: async () => {
    await using server = await startChatServer();
    const alice = server.chat("alice");
    const folder = join(server.gns3.project(server.gns3.projectId).path, "gns3-copilot");
    Deno.mkdirSync(folder);
    assert.ok(run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder));
    try {
      const { sessionId } = await alice.send(server.model.script("first", [text("hello")]));
      const before = await alice.messages(sessionId);
      const filler = join(folder, "filler");
      for (const free of [0, 8_192, 32_768, 65_536, 131_072]) {
        fillUp(filler, free);
        const turn = await alice.send(
          server.model.script(`big${free}`, [
            toolCalls([{ name: "gns3_topology_reader", args: {} }]),
            text("words ".repeat(40_000)),
          ]),
          { session_id: sessionId },
        );
        assert.equal(turn.last.type, "error", `${free} bytes free`);
        assert.match(turn.last.error, /^The disk that holds the project's folder is full/);
        // What a full step has saved is whole: the question, perhaps the call and its result.
        const after = await alice.messages(sessionId);
        assert.deepEqual(after.slice(0, before.length), before);
        assert.ok(!after.some(({ content }) => content.startsWith("words")), `${free} bytes free`);
        assert.deepEqual(checkDatabase(join(folder, "copilot_checkpoints.db")).problems, []);
      }
      fillUp(filler, 0);
      assert.equal((await alice.json("GET", "/sessions")).length, 1);

      Deno.removeSync(filler);
      const turn = await alice.send(server.model.script("last", [text("room again")]), {
        session_id: sessionId,
      });
      assert.equal(turn.last.finish_reason, "stop");
      assert.equal((await alice.messages(sessionId)).at(-1).content, "room again");
      await server.restart();
      assert.equal((await alice.messages(sessionId)).at(-1).content, "room again");
    } finally {
      // The server still has it open.
      run("umount", "-l", folder);
    }
  },
});
