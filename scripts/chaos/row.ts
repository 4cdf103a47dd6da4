// A row of the chaos table: one fault, what is done under it, and what must come of it whatever it was.
import assert from "node:assert/strict";
import { type Step, text, toolCalls } from "../../src/practice/model_script.ts";
import type { Stream } from "../../tests/fakes/chat.ts";
import { assertTurn } from "../../tests/fakes/grammar.ts";
import type { FaultRule } from "./fault_proxy.ts";
import type { Stage } from "./stage.ts";

export interface Row {
  /** Between which two. */
  where: "model" | "GNS3" | "console" | "notifications" | "client" | "stop";
  fault: string;
  /** Needs more than some seconds; left out of short runs. */
  long?: true;
  /** Plays it; throws when something comes out that should not. Resolves with what came out, in a few words. */
  play(stage: Stage): Promise<string>;
}

let scripts = 0;

/** Makes a script of these answers that no other row uses; returns the key and the message that plays it. */
export function script(
  stage: Stage,
  steps: Step[],
  options?: { title?: Step },
): { key: string; message: string } {
  const key = `chaos-${++scripts}`;
  return { key, message: stage.model.script(key, steps, options) };
}

/** A call of the tool that types on the practice lab's PC1. */
export const onPc1 = (...commands: string[]) =>
  toolCalls([{
    name: "execute_vpcs_commands",
    args: { device_configs: [{ device_name: "PC1", commands }] },
  }]);

export interface Expected {
  /** `done` with this reason, or `error` with this code. */
  end: string;
  /** What the error's sentence must look like. */
  says?: RegExp;
  /** What the text must begin with; whatever was streamed must be in the history in any case. */
  text?: RegExp;
  /** Texts that the outcomes of tools must have, in order. */
  tools?: RegExp[];
}

/** Checks a turn that has ended: its grammar, its end, and that nothing that was shown is lost. */
export async function judge(stage: Stage, stream: Stream, expected: Expected): Promise<string> {
  assertTurn(stream.events);
  const { last } = stream;
  const end = last.type === "done" ? `done ${last.finish_reason}` : `error ${last.code}`;
  assert.equal(end, expected.end, JSON.stringify(last));
  if (expected.says) assert.match(last.error, expected.says);
  if (last.error) {
    assert.doesNotMatch(last.error, /\/tmp|\.ts\b|\bat \w+ \(|Error:/, "no path and no trace in a sentence");
  }
  if (expected.text) assert.match(stream.text, expected.text);
  if (expected.tools) {
    const outputs = stream.of("tool_end").map((event) => `${event.status}: ${event.tool_output}`);
    assert.equal(outputs.length, expected.tools.length, JSON.stringify(outputs));
    outputs.forEach((output, i) => assert.match(output, expected.tools![i]!));
  }
  await assertKept(stage, stream);
  return last.error ? `${end}: ${last.error}` : `${end}${outcomes(stream)}`;
}

function outcomes(stream: Stream): string {
  const ends = stream.of("tool_end").map(({ status, tool_output }) =>
    status === "error" || /"status":"error"/.test(tool_output)
      ? `tool: ${/"error":"([^"]*)"/.exec(tool_output)?.[1] ?? tool_output.slice(0, 120)}`
      : "tool: success"
  );
  return ends.length ? `, ${ends.join(", ")}` : `, ${stream.text.length} characters`;
}

/** What a turn has shown, text and results of tools, stands in the history as it was shown. */
export async function assertKept(stage: Stage, stream: Stream): Promise<void> {
  const messages = await stage.chat("alice").messages(stream.sessionId);
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const turn = messages.slice(asked + 1);
  const said = turn.filter(({ role }) => role === "assistant").map(({ content }) => content).join("");
  assert.equal(said, stream.text, "the history holds the text that was streamed");
  for (const { tool_call_id, tool_output } of stream.of("tool_end")) {
    const kept = turn.find((message) => message.tool_call_id === tool_call_id);
    assert.equal(kept?.content, tool_output, "the history holds the result that was streamed");
  }
}

/** The session takes the next message, and the server is well. */
export async function assertGoesOn(stage: Stage, sessionId: string): Promise<void> {
  const { message } = script(stage, [text("fine")]);
  const next = await stage.chat("alice").send(message, { session_id: sessionId });
  assert.equal(next.text, "fine", "the session takes the next message");
  const health = await fetch(`${stage.url}/health`);
  assert.equal(health.status, 200);
  await health.body?.cancel();
}

/** The console answers the next command as if nothing had been. */
export async function assertConsoleWorks(stage: Stage): Promise<void> {
  const { message } = script(stage, [onPc1("show ip"), text("ok")]);
  const turn = await stage.chat("alice").send(message);
  const [end] = turn.of("tool_end");
  assert.equal(end?.status, "success", end?.tool_output);
  assert.match(end?.tool_output, /10\.0\.1\.10\/24/);
}

/** What most rows are: one turn of alice's under a fault. */
export interface TurnUnderFault {
  where: "model" | "GNS3" | "console" | "notifications";
  fault: string;
  long?: true;
  rule: FaultRule;
  steps: Step[];
  title?: Step;
  body?: Record<string, unknown>;
  /** Done while the turn runs. */
  during?(stage: Stage, stream: Stream): Promise<void>;
  expected: Expected;
}

export function turnUnderFault(turn: TurnUnderFault): Row {
  return {
    where: turn.where,
    fault: turn.fault,
    long: turn.long,
    async play(stage) {
      const proxy = turn.where === "model" ? stage.toModel : stage.toGns3;
      const { message } = script(stage, turn.steps, { title: turn.title });
      proxy.set(turn.rule);
      try {
        const stream = await stage.chat("alice").start(message, turn.body);
        await turn.during?.(stage, stream);
        await stream.end();
        assert.ok(proxy.struck > 0, "the fault has struck");
        proxy.set(null);
        const outcome = await judge(stage, stream, turn.expected);
        await assertGoesOn(stage, stream.sessionId);
        if (turn.where === "console") await assertConsoleWorks(stage);
        return outcome;
      } finally {
        proxy.set(null);
      }
    },
  };
}

/** Looks again and again until `look` gives true; throws after `limitMs`. */
export async function until(
  look: () => boolean | Promise<boolean>,
  what: string,
  limitMs = 15_000,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!await look()) {
    assert.ok(performance.now() < deadline, `not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Fails when `work` takes longer; returns what it comes to. */
export async function within<T>(ms: number, work: Promise<T>, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms} ms: ${what}`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
