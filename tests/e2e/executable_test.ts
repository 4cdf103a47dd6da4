// The program as a whole, from source and as the executable, beside a practice GNS3 server: a chat that uses a device's
// console, a stop, a restart, and nothing secret left on the disk.
import assert from "node:assert/strict";
import { join } from "node:path";
import project from "../../deno.json" with { type: "json" };
import { type PracticeGns3, startPracticeGns3 } from "../../src/practice/gns3_server.ts";
import { messagesApi, type Reply } from "../fakes/messages_api.ts";
import { type Program, startFromSource, startProgram, workspace } from "../fakes/program.ts";
import { filesBelow } from "../fakes/sweep.ts";
import { answer, chunk, fakeEndpoint, sse } from "../models/fake_endpoint.ts";
import { EXECUTABLE, NO_EXECUTABLE, testWhere } from "./needs.ts";

const KEY = "sk-e2e-0123456789abcdef";

type Start = (args: string[], env: Record<string, string>) => Program;

const LOOK = JSON.stringify({ device_configs: [{ device_name: "PC1", commands: ["show ip"] }] });

type Provider = "openai" | "anthropic";

/** A model that looks at PC1's address with a tool, then says what it saw. */
function scriptedModel(provider: Provider): AsyncDisposable & { url: string } {
  return provider === "anthropic" ? scriptedMessages() : scriptedCompletions();
}

function scriptedMessages() {
  return messagesApi(KEY, ({ body }): Reply => {
    if (!body.tools) return { blocks: [{ text: ["Address of PC1"] }] };
    const { content } = body.messages.at(-1);
    if (content[0].type !== "tool_result") {
      return { blocks: [{ call: "execute_vpcs_commands", id: "toolu_1", input: [LOOK] }] };
    }
    const address = /\d+\.\d+\.\d+\.\d+\/\d+/.exec(content[0].content)?.[0];
    return { blocks: [{ text: ["PC1 has the address ", `${address}.`] }] };
  });
}

function scriptedCompletions() {
  return fakeEndpoint(({ body }) => {
    if (!body.tools) return answer("Address of PC1");
    const results = body.messages.filter(({ role }: { role: string }) => role === "tool");
    if (results.length > 0) {
      const address = /\d+\.\d+\.\d+\.\d+\/\d+/.exec(results.at(-1).content)?.[0];
      return answer("PC1 has the address ", `${address}.`);
    }
    const call = {
      index: 0,
      id: "call_1",
      type: "function",
      function: {
        name: "execute_vpcs_commands",
        arguments: LOOK,
      },
    };
    return {
      body: sse(chunk({ role: "assistant", content: null, tool_calls: [call] }), chunk({}, "tool_calls")),
    };
  });
}

interface Place {
  gns3: PracticeGns3;
  start(): Promise<{ program: Program; api(path: string, body?: unknown): Promise<Response> }>;
}

async function inPlace(start: Start, provider: Provider, test: (place: Place) => Promise<void>) {
  const space = workspace();
  const gns3 = await startPracticeGns3({ projectsDir: join(space.dir, "projects") });
  await using model = scriptedModel(provider);
  const started: Program[] = [];
  try {
    await test({
      gns3,
      start: async () => {
        const program = start([...space.options, "--gns3-url", gns3.url, "--log-level", "debug"], {
          GNS3_COPILOT_PROVIDER: provider,
          OPENAI_BASE_URL: model.url,
          OPENAI_API_KEY: KEY,
          OPENAI_MODEL: "scripted",
          GNS3_COPILOT_CONTEXT_LIMIT: "128",
        });
        started.push(program);
        const [url] = await program.until(/http:\/\/127\.0\.0\.1:\d+(?=\s+GNS3)/);
        const headers = { Authorization: `Bearer ${gns3.tokens.alice}`, "Content-Type": "application/json" };
        return {
          program,
          api: (path, body) =>
            fetch(
              `${url}${path}`,
              body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers },
            ),
        };
      },
    });
  } finally {
    for (const program of started) {
      program.kill("SIGKILL");
      await program.ended();
    }
    await gns3.close();
    space.close();
  }
}

async function wholeStory(start: Start, provider: Provider = "openai") {
  await inPlace(start, provider, async ({ gns3, start }) => {
    const chat = `/v3/projects/${gns3.projectId}/chat`;
    const first = await start();
    assert.equal((await first.api("/health")).status, 200);
    assert.equal((await first.api("/ready")).status, 200);

    const stream = await first.api(`${chat}/stream`, {
      message: "What is the address of PC1?",
      session_id: "e2e-1",
    });
    assert.equal(stream.status, 200, await stream.clone().text());
    const events = (await stream.text()).split("\n").filter((line) => line.startsWith("data: "))
      .map((line) => JSON.parse(line.slice(6)));
    const text = events.filter(({ type }) => type === "content").map(({ content }) => content).join("");
    assert.equal(text, "PC1 has the address 10.0.1.10/24.");
    const [toolEnd] = events.filter(({ type }) => type === "tool_end");
    assert.deepEqual([toolEnd.tool_name, toolEnd.status], ["execute_vpcs_commands", "success"]);
    assert.equal(events.at(-1).type, "done");

    const history = await (await first.api(`${chat}/sessions/e2e-1/history`)).json();
    assert.deepEqual(history.messages.map(({ role }: { role: string }) => role), [
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
    const sessions = await (await first.api(`${chat}/sessions`)).json();
    assert.deepEqual(sessions.map(({ thread_id, title }: Record<string, string>) => [thread_id, title]), [
      ["e2e-1", "Address of PC1"],
    ]);
    first.program.kill("SIGTERM");
    const stopped = await first.program.ended();
    assert.equal(stopped.code, 0, stopped.err);

    const second = await start();
    assert.deepEqual(await (await second.api(`${chat}/sessions/e2e-1/history`)).json(), history);
    second.program.kill("SIGTERM");
    const again = await second.program.ended();
    assert.equal(again.code, 0, again.err);

    const written = filesBelow(join(gns3.projectsDir, ".."));
    const database = join(gns3.project(gns3.projectId).path, "gns3-copilot", "copilot_checkpoints.db");
    assert.ok(written.has(database), [...written.keys()].join("\n"));
    const printed = stopped.out + stopped.err + again.out + again.err;
    for (const secret of [KEY, gns3.tokens.alice!]) {
      for (const [file, bytes] of written) assert.ok(!bytes.includes(secret), `a secret is in ${file}`);
      assert.ok(!printed.includes(secret), "a secret is in the log");
    }
  });
}

// L1, L5
Deno.test("from source: a chat on a real console, a restart, and no secret on the disk or in the log", () =>
  wholeStory((args, env) => startFromSource(args, { env })));

testWhere(
  NO_EXECUTABLE,
  "executable: a chat on a real console, a restart, and no secret on the disk or in the log",
  () => wholeStory((args, env) => startProgram(EXECUTABLE, args, { ...env, HOME: "/nonexistent" })),
);

testWhere(
  NO_EXECUTABLE,
  "executable: the same with a model behind Anthropic's own API",
  () => wholeStory((args, env) => startProgram(EXECUTABLE, args, env), "anthropic"),
);

testWhere(
  NO_EXECUTABLE,
  "executable: it says its version, and refuses what it does not know, like the source does",
  async () => {
    const version = await startProgram(EXECUTABLE, ["--version"]).ended();
    assert.deepEqual(version, { code: 0, signal: null, out: `gns3-copilot ${project.version}\n`, err: "" });
    const refused = await startProgram(EXECUTABLE, ["--prot", "1"]).ended();
    assert.deepEqual([refused.code, refused.err], [1, "Unknown option --prot. Did you mean --port?\n"]);
  },
);
