// The program as a whole on a database that the Python copilot itself has made: list, history, go on, restart, delete.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { type PracticeGns3, startPracticeGns3 } from "../../src/practice/gns3_server.ts";
import { type PracticeModel, startPracticeModel } from "../../src/practice/model.ts";
import { text } from "../../src/practice/model_script.ts";
import { API_KEY, Chat } from "../fakes/chat.ts";
import { type Program, startFromSource, startProgram, workspace } from "../fakes/program.ts";
import {
  milliseconds,
  ofOurs,
  ofPython,
  putDatabase,
  type PythonSession,
  saidBy,
} from "../storage/python/testdata.ts";
import { EXECUTABLE, NO_EXECUTABLE, testWhere } from "./needs.ts";

type Start = (args: string[], env: Record<string, string>) => Program;

interface Place {
  gns3: PracticeGns3;
  model: PracticeModel;
  /** What Python listed for Alice, in that order, and for the other user. */
  alice: PythonSession[];
  other: PythonSession[];
  /** Starts the server; `stop` ends it in good order. */
  server(): Promise<{ chat(user: string): Chat; stop(): Promise<void> }>;
}

async function inPlace(start: Start, test: (place: Place) => Promise<void>): Promise<void> {
  const space = workspace();
  const gns3 = await startPracticeGns3({ projectsDir: join(space.dir, "projects") });
  const model = await startPracticeModel({ apiKey: API_KEY });
  const started: Program[] = [];
  const [alice, other] = Object.values(saidBy("copilot").sessions).sort((a, b) => b.length - a.length);
  const file = join(gns3.projectsDir, gns3.projectId, "gns3-copilot", "copilot_checkpoints.db");
  putDatabase("copilot", file);
  const db = new DatabaseSync(file);
  for (const [list, user] of [[alice!, "alice"], [other!, "admin"]] as const) {
    db.prepare("UPDATE chat_sessions SET user_id = ? WHERE user_id = ?")
      .run(await idOf(gns3, user), list[0]!.user_id);
  }
  db.close();
  try {
    await test({
      gns3,
      model,
      alice: alice!,
      other: other!,
      server: async () => {
        const program = start([...space.options, "--gns3-url", gns3.url], {
          OPENAI_BASE_URL: model.url,
          OPENAI_API_KEY: API_KEY,
          OPENAI_MODEL: "practice-1",
          GNS3_COPILOT_CONTEXT_LIMIT: "128",
        });
        started.push(program);
        const [url] = await program.until(/http:\/\/127\.0\.0\.1:\d+(?=\s+GNS3)/);
        return {
          chat: (user) => new Chat(url, gns3.projectId, gns3.tokens[user]!),
          stop: async () => {
            program.kill("SIGTERM");
            const { code, err } = await program.ended();
            assert.equal(code, 0, err);
          },
        };
      },
    });
  } finally {
    for (const program of started) {
      program.kill("SIGKILL");
      await program.ended();
    }
    await model.close();
    await gns3.close();
    space.close();
  }
}

async function idOf(gns3: PracticeGns3, user: string): Promise<string> {
  const headers = { authorization: `Bearer ${gns3.tokens[user]}` };
  return (await (await fetch(`${gns3.url}/v3/access/users/me`, { headers })).json()).user_id;
}

async function wholeStory(start: Start): Promise<void> {
  await inPlace(start, async ({ gns3, model, alice: said, other, server }) => {
    const { histories } = saidBy("copilot");
    const first = await server();
    const alice = first.chat("alice");
    const listed = await alice.json("GET", "/sessions");
    const shown = ({ thread_id, title, pinned, message_count, total_tokens, metadata }: PythonSession) => ({
      thread_id,
      title,
      pinned,
      message_count,
      total_tokens,
      metadata,
    });
    assert.deepEqual(listed.map(shown), said.map(shown));
    assert.deepEqual(
      listed.map(({ updated_at, project_id }: PythonSession) => [updated_at, project_id]),
      said.map(({ updated_at }) => [milliseconds(String(updated_at)), gns3.projectId]),
    );
    const names = (all: PythonSession[]) => all.map(({ thread_id }) => thread_id);
    assert.deepEqual(names(await first.chat("admin").json("GET", "/sessions")), names(other));
    await alice.json("GET", `/sessions/${other[0]!.thread_id}/history`, undefined, 404);

    for (const { thread_id } of said) {
      const expected = histories[thread_id]!;
      assert.deepEqual((await alice.messages(thread_id)).map(ofOurs), expected.map(ofPython), thread_id);
      await alice.json("GET", `/sessions/${thread_id}/stream`, undefined, 204);
    }
    // The practice model refuses with 400 what a strict provider refuses.
    for (const [i, { thread_id }] of said.entries()) {
      const turn = await alice.send(`And now? ${model.script(`s${i}`, [text(`Answer ${i}.`)])}`, {
        session_id: thread_id,
      });
      assert.equal(turn.text, `Answer ${i}.`, thread_id);
      const { messages } = model.requests(`s${i}`).find((request) => !request.title)!.body;
      const asked = histories[thread_id]!.filter(({ role }) => role === "user").map(({ content }) => content);
      const sent = messages.filter(({ role }) => role === "user").map(({ content }) => String(content));
      assert.deepEqual(sent.slice(0, asked.length), asked, thread_id);
      if (thread_id !== "cut") continue;
      const results = messages.filter(({ role }) => role === "tool");
      assert.deepEqual(results.map(({ tool_call_id }) => tool_call_id), ["k1", "k2"]);
      assert.ok(results.every(({ content }) => String(content).includes("interrupted, outcome unknown")));
    }
    const after = await Promise.all(said.map(({ thread_id }) => alice.messages(thread_id)));
    const titles = await alice.json("GET", "/sessions");
    assert.equal(
      titles.find((s: PythonSession) => s.thread_id === "renamed").title,
      "Lab 4 “OSPF” 第四课 🧪",
    );
    assert.notEqual(titles.find((s: PythonSession) => s.thread_id === "cut").title, "New Conversation");
    await first.stop();

    const second = await server();
    const again = second.chat("alice");
    for (const [i, { thread_id }] of said.entries()) {
      assert.deepEqual(await again.messages(thread_id), after[i]);
    }
    assert.deepEqual(await again.json("GET", "/sessions"), titles);
    await again.json("DELETE", "/sessions/tools", undefined, 204);
    await again.json("GET", "/sessions/tools/history", undefined, 404);
    await second.stop();
    const file = join(gns3.projectsDir, gns3.projectId, "gns3-copilot", "copilot_checkpoints.db");
    const left = new TextDecoder("latin1").decode(Deno.readFileSync(file));
    assert.ok(!left.includes("Set up both PCs.") && left.includes("Break your arguments."));
  });
}

Deno.test("from source: sessions of the Python copilot list, read and go on, over a restart", () =>
  wholeStory((args, env) => startFromSource(args, { env })));

testWhere(
  NO_EXECUTABLE,
  "executable: sessions of the Python copilot list, read and go on, over a restart",
  () => wholeStory((args, env) => startProgram(EXECUTABLE, args, { ...env, HOME: "/nonexistent" })),
);
