// Snapshots that somebody restores in GNS3 while the assistant is at work, at moments that nobody chose.
import assert from "node:assert/strict";
import { join } from "node:path";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { checkDatabase } from "../../src/storage/check.ts";
import { assertTurn } from "../fakes/grammar.ts";
import { gns3, startCopilot } from "./copilot.ts";
import { labMissing, startLab } from "./lab.ts";
import { testWhere } from "./needs.ts";

// deno-lint-ignore no-explicit-any
type Json = any;
const ROUNDS = 10;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

for (const [version, slot] of [["3.1.0a7", 56], ["3.0.6", 57]] as const) {
  testWhere(
    labMissing(),
    `GNS3 ${version} sets a project back again and again in the middle of turns: the chats are the snapshot's, and whole`,
    async () => { // M4
      await using lab = await startLab({ version, vpcs: 1, slot });
      await using copilot = await startCopilot(lab);
      const { project_id, path } = lab.project;
      const at = `/v3/projects/${project_id}`;
      const admin = (method: string, place: string, body?: unknown): Promise<Json> =>
        gns3(lab.base_url, lab.tokens.admin, method, at + place, body);
      const chat = copilot.chat(lab.tokens.alice);
      const file = join(path, "gns3-copilot", "copilot_checkpoints.db");
      let numbered = 0;
      const say = (words: string) => copilot.model.script(`say${++numbered}`, [text(words)]);
      const work = () =>
        copilot.model.script(`work${++numbered}`, [
          toolCalls([{ name: "gns3_topology_reader", args: {} }]),
          toolCalls([{ name: "gns3_topology_reader", args: {} }, { name: "list_gns3_snapshots", args: {} }]),
          text("step by step ".repeat(20).split(" "), { ms: 15 }),
        ]);
      const look = async () => {
        const sessions: Json[] = await chat.json("GET", "/sessions?limit=500");
        const all: Json[] = await Promise.all(
          sessions.map(async ({ thread_id }) => {
            const { messages } = await chat.json("GET", `/sessions/${thread_id}/history?limit=1000`);
            return [thread_id, messages];
          }),
        );
        return Object.fromEntries(all.sort(([a], [b]) => a.localeCompare(b)));
      };

      for (let i = 0; i < 3; i++) await chat.send(say(`kept ${i}`), { session_id: `kept-${i % 2}` });
      // GNS3 takes snapshots of what is at rest.
      await admin("POST", "/nodes/stop", {});
      await admin("POST", "/snapshots", { name: "then" });
      const then = await look();

      for (let round = 0; round < ROUNDS; round++) {
        const [delay, turns] = [Math.floor(Math.random() * 900), 1 + round % 3];
        const where = `round ${round}, ${turns} turns, ${delay} ms`;
        await chat.send(say("after the snapshot"), { session_id: "kept-0" });
        const sessions = ["kept-0", "kept-1", `new-${round}`].slice(0, turns);
        const streams = await Promise.all(sessions.map((id) => chat.start(work(), { session_id: id })));
        await pause(delay);
        // GNS3 3.0 gives its snapshots new ids with every restore.
        const [{ snapshot_id }] = await admin("GET", "/snapshots");
        await admin("POST", `/snapshots/${snapshot_id}/restore`);
        for (const stream of streams) {
          await stream.end();
          assertTurn(stream.events);
          if (stream.last.type === "error") assert.match(stream.last.error, /snapshot/, where);
          else assert.match(stream.last.finish_reason, /^(stop|aborted)$/, where);
        }
        assert.deepEqual(await look(), then, where);
        assert.deepEqual(checkDatabase(file).problems, [], where);
        const next = await chat.send(say("goes on"), { session_id: "kept-1" });
        assert.equal(next.text, "goes on", where);
        const session = await chat.json("GET", "/sessions/kept-1");
        assert.equal(session.message_count, (await chat.messages("kept-1")).length, where);
      }
      assert.doesNotMatch(copilot.log(), /"level":"error"/);
    },
  );
}
