// Whatever a turn waits for, its stream is never silent for long, and 200 readers hear the same.
import assert from "node:assert/strict";
import { type Action, type Step, text, toolCalls } from "../../src/practice/model_script.ts";
import { type ChatServer, startChatServer, type Stream } from "../fakes/chat.ts";

const HANG: Action = { hang: true };
const call = (name: string, args: unknown) => toolCalls([{ name, args }]);

interface Silence {
  name: string;
  steps: Step[];
  title?: Step;
  /** Resolves when it has begun. */
  begun(server: ChatServer, stream: Stream): Promise<unknown>;
}

const SILENCES: Silence[] = [
  {
    name: "of the model before its first word",
    steps: [[HANG]],
    begun: (server) => server.model.waitFor(() => server.model.requests("t").length === 1),
  },
  {
    name: "of the model in its text",
    steps: [[{ delta: { content: "Well" } }, HANG]],
    begun: (_, stream) => stream.untilType("content"),
  },
  {
    name: "of the model in its reasoning, which this client does not want",
    steps: [[
      { delta: { reasoning_content: "Hm" } },
      ...Array(200).fill([
        { sleep: 10 },
        { delta: { reasoning_content: "m" } },
      ]).flat(),
      HANG,
    ]],
    begun: (server) => server.model.waitFor(() => server.model.requests("t").length === 1),
  },
  {
    name: "of a tool",
    steps: [call("wait_seconds", { seconds: 60 })],
    begun: (_, stream) => stream.untilType("tool_start"),
  },
  {
    name: "of a console",
    steps: [call("execute_vpcs_commands", {
      device_configs: [{ device_name: "PC1", commands: ["ping 10.0.1.1 -t"] }],
    })],
    begun: (_, stream) => stream.untilType("tool_start"),
  },
  {
    name: "of the title's model",
    steps: [text("answer")],
    title: [HANG],
    begun: (server) => server.model.waitFor(() => server.model.requests("t").some(({ title }) => title)),
  },
  {
    name: "of a server that waits for its last answers",
    steps: [[{ delta: { content: "Well" } }, HANG]],
    async begun(server, stream) {
      await stream.untilType("content");
      void server.drain();
    },
  },
];

for (const { name, steps, title, begun } of SILENCES) {
  Deno.test(`the silence ${name} is filled with heartbeats`, async () => { // B4
    await using server = await startChatServer({
      config: { heartbeatInterval: 0.05, titleTimeout: 30, drainTimeout: 2 },
    });
    const alice = server.chat("alice");
    const stream = await alice.start(server.model.script("t", steps, { title }));
    await begun(server, stream);
    const at = stream.events.length;
    await stream.until((event) => event.type === "heartbeat" && stream.of("heartbeat").length > at + 5);
    const since = stream.events.slice(at + 1);
    assert.deepEqual([...new Set(since.map(({ type }) => type))], ["heartbeat"]);
    if (!name.includes("waits for its last")) await alice.json("POST", `/sessions/${stream.sessionId}/abort`);
    await stream.end();
  });
}
