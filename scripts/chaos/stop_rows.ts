// A stop in every phase of a turn: it takes effect at once, cuts what it stops, and keeps what was shown.
import assert from "node:assert/strict";
import { type Action, slow, type Step, text, toolCalls } from "../../src/practice/model_script.ts";
import type { Stream } from "../../tests/fakes/chat.ts";
import { assertTurn } from "../../tests/fakes/grammar.ts";
import type { FaultRule } from "./fault_proxy.ts";
import { assertConsoleWorks, assertGoesOn, assertKept, onPc1, type Row, script, until } from "./row.ts";
import type { Stage } from "./stage.ts";

/** What must hold on any machine; the measured time stands in the outcome. Milliseconds. */
const BOUND = 1500;
const HANG: Action = { hang: true };

interface Phase {
  name: string;
  steps: Step[];
  title?: Step;
  body?: Record<string, unknown>;
  rule?: FaultRule;
  proxy?: "toModel" | "toGns3";
  /** Resolves when the turn is in its phase. */
  reached(stage: Stage, stream: Stream, key: string): Promise<unknown>;
  /** Whether the model was being asked, so that its answer must be cut. */
  asked?: boolean;
  console?: boolean;
}

const asked = (stage: Stage, _: Stream, key: string) =>
  stage.model.waitFor(() => stage.model.requests(key).length > 0);
const struck = (proxy: "toModel" | "toGns3") => (stage: Stage) =>
  until(() => stage[proxy].struck > 0, "the fault has struck");
const started = async (_: Stage, stream: Stream) => {
  await stream.untilType("tool_start");
  await new Promise((resolve) => setTimeout(resolve, 400));
};
const call = (name: string, args: unknown) => toolCalls([{ name, args }]);

const PHASES: Phase[] = [
  { name: "before the first token", steps: [[HANG]], reached: asked, asked: true },
  {
    name: "in the text",
    steps: [slow(3000, 10)],
    reached: (_, stream) => stream.untilType("content"),
    asked: true,
  },
  {
    name: "in a burst of text",
    steps: [[...slow(600_000, 0).slice(0, -2), HANG]],
    reached: (_, stream) => stream.untilType("content"),
    asked: true,
  },
  {
    name: "in the reasoning",
    steps: [[{ delta: { role: "assistant", reasoning_content: "Hm, let me" } }, { sleep: 10 }, HANG]],
    body: { reasoning: true },
    reached: (_, stream) => stream.untilType("reasoning"),
    asked: true,
  },
  {
    name: "in a tool call's arguments",
    steps: [[...call("wait_seconds", { seconds: 100 }).slice(0, 3), HANG]],
    reached: (_, stream) => stream.untilType("tool_call"),
    asked: true,
  },
  { name: "in a console command", steps: [onPc1("ping 10.0.1.1 -t")], reached: started, console: true },
  { name: "in wait_seconds", steps: [call("wait_seconds", { seconds: 300 })], reached: started },
  {
    name: "while a capture is started",
    steps: [call("start_gns3_capture", { link_id: "PC1 - R1" })],
    proxy: "toGns3",
    rule: { match: /^POST .*\/capture\/start/, fault: { kind: "stall" } },
    reached: struck("toGns3"),
  },
  {
    name: "in ten waiting calls at once",
    steps: [
      toolCalls(Array.from({ length: 10 }, (_, i) => ({ name: "wait_seconds", args: { seconds: 100 + i } }))),
    ],
    reached: started,
  },
  {
    name: "while the title is made",
    steps: [text("answer")],
    title: [HANG],
    reached: (stage, _, key) =>
      stage.model.waitFor(() => stage.model.requests(key).some(({ title }) => title)),
    asked: true,
  },
  {
    name: "while GNS3 hangs",
    steps: [call("gns3_topology_reader", {}), text("never")],
    proxy: "toGns3",
    rule: { match: /^GET \/v3\/projects\/[^/]+\/(nodes|links) HTTP/, fault: { kind: "stall" } },
    reached: struck("toGns3"),
  },
  {
    name: "while all of GNS3 hangs",
    steps: [slow(3000, 10)],
    async reached(stage, stream) {
      await stream.untilType("content");
      stage.toGns3.set({ fault: { kind: "stall" } });
    },
    asked: true,
  },
  {
    name: "while GNS3 hangs at a console",
    steps: [onPc1("show ip"), text("never")],
    proxy: "toGns3",
    rule: { match: /console\/ws/, fault: { kind: "stall" } },
    reached: struck("toGns3"),
    console: true,
  },
  {
    name: "while the model's endpoint hangs before its head",
    steps: [text("never")],
    proxy: "toModel",
    rule: { fault: { kind: "stall" } },
    reached: struck("toModel"),
  },
  {
    name: "between two attempts",
    steps: [text("never")],
    proxy: "toModel",
    rule: { fault: { kind: "status", status: 503 } },
    reached: struck("toModel"),
  },
];

function stopIn(phase: Phase): Row {
  return {
    where: "stop",
    fault: phase.name,
    async play(stage) {
      const alice = stage.chat("alice");
      const { key, message } = script(stage, phase.steps, { title: phase.title });
      if (phase.rule) stage[phase.proxy!].set(phase.rule);
      try {
        const stream = await alice.start(message, phase.body);
        await phase.reached(stage, stream, key);
        const began = performance.now();
        const answer = await alice.json("POST", `/sessions/${stream.sessionId}/abort`);
        await stream.end();
        const took = performance.now() - began;
        stage.toGns3.set(null);
        stage.toModel.set(null);
        assert.equal(answer.aborted, true);
        assert.ok(took < BOUND, `the stop took ${Math.round(took)} ms`);
        assertTurn(stream.events);
        assert.deepEqual(stream.events.slice(-2).map(({ type }) => type), ["abort", "done"]);
        if (phase.asked) {
          await until(
            () => stage.model.requests(key).at(-1)!.fate === "cut",
            "the model's answer is cut",
          );
        }
        await assertKept(stage, stream);
        await assertGoesOn(stage, stream.sessionId);
        if (phase.console) await assertConsoleWorks(stage);
        return `stopped in ${Math.round(took)} ms`;
      } finally {
        stage.toGns3.set(null);
        stage.toModel.set(null);
      }
    },
  };
}

/** A turn that waits for approval has ended its stream: a stop takes the questions back. */
const waiting: Row = {
  where: "stop",
  fault: "while it waits for approval",
  async play(stage) {
    const alice = stage.chat("alice");
    const link = call("update_gns3_node_name", {
      nodes: [{ node_id: stage.gns3.nodeId("PC1"), new_name: "PC9" }],
    });
    const stream = await alice.start(script(stage, [link, text("never")]).message, { approvals: true });
    await stream.end();
    assert.equal(stream.last.finish_reason, "approval");
    const began = performance.now();
    const answer = await alice.json("POST", `/sessions/${stream.sessionId}/abort`);
    const took = performance.now() - began;
    assert.equal(answer.aborted, true);
    assert.ok(took < BOUND, `the stop took ${Math.round(took)} ms`);
    const messages = await alice.messages(stream.sessionId);
    assert.equal(messages.at(-1).role, "tool");
    const again = await alice.follow(stream.sessionId);
    await again.end();
    assert.equal(again.last.finish_reason, "aborted");
    assert.ok(stage.gns3.nodeId("PC1"), "nothing was renamed");
    await assertGoesOn(stage, stream.sessionId);
    return `stopped in ${Math.round(took)} ms`;
  },
};

export const STOP_ROWS: Row[] = [...PHASES.map(stopIn), waiting];
