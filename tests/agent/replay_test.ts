import assert from "node:assert/strict";
import { assistantMessage, toolMessage, userMessage } from "../../src/agent/messages.ts";
import { rebuildLog } from "../../src/agent/replay.ts";
import { cutAt } from "../../src/http/dialects/dialect.ts";
import { gns3Dialect } from "../../src/http/dialects/gns3.ts";
import type { LastTurn } from "../../src/storage/turns.ts";
import { assertTurn, type WireEvent } from "../fakes/grammar.ts";

const at = (id: string) => ({ id, createdAt: "2026-01-01T00:00:00.000Z" });
const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7, llm_calls: 2 };
const ended: LastTurn = {
  turnId: "turn",
  startedAt: "2026-01-01T00:00:00.000Z",
  endedAt: "2026-01-01T00:00:01.000Z",
  finishReason: "stop",
  usage,
  error: null,
  title: "A title",
  lastSeq: 200,
};

function conversation() {
  const call = assistantMessage(
    { text: "Let me look.", calls: [{ id: "c1", name: "wait_seconds", argumentsText: '{"seconds": 1}' }] },
    at("a1"),
  );
  call.additional_kwargs.event_seq = { start: 2, text: 2, end: 40 };
  const result = toolMessage({
    callId: "c1",
    name: "wait_seconds",
    output: '{"waited":1}',
    status: "success",
  }, at("t1"));
  result.additional_kwargs.event_seq = { start: 41, end: 42 };
  const answer = assistantMessage({ text: "Nothing is wrong." }, at("a2"));
  answer.additional_kwargs.event_seq = { start: 43, text: 50, end: 68 };
  return [
    userMessage("earlier", at("u0")),
    assistantMessage({ text: "an earlier answer" }, at("a0")),
    userMessage("now", at("u1")),
    call,
    result,
    answer,
  ];
}

function wire(last: LastTurn, after = 0): WireEvent[] {
  const dialect = gns3Dialect("s");
  const [seen, fresh] = cutAt(rebuildLog(last, conversation()).slice(0), after);
  dialect.translate(seen);
  return dialect.translate(fresh).map((message) => message.data as WireEvent);
}

Deno.test("rebuildLog replays the last turn only, in the order of the grammar", () => {
  const events = wire(ended);
  assertTurn(events);
  const text = events.filter((event) => event.type === "content").map((event) => event.content);
  assert.deepEqual(text, ["Let me look.", "Nothing is wrong."]);
  assert.deepEqual(events.slice(-2).map((event) => event.type), ["title", "done"]);
  assert.deepEqual(events.at(-1)!.usage, usage);
});

Deno.test("rebuildLog keeps the live positions: a resume in a text goes on at the very character", () => {
  const text = (after: number) => wire(ended, after).map((event) => event.content ?? "").join("");
  assert.equal(text(2 + 4), "me look.Nothing is wrong.");
  assert.equal(text(42), "Nothing is wrong.");
  assert.equal(text(50 + 8), "is wrong.");
  assert.equal(text(68), "");
  assert.deepEqual(wire(ended, 199).map((event) => event.type), ["done"]);
});

Deno.test("rebuildLog ends a turn that a crash cut with an error that says so", () => {
  const events = wire({ ...ended, finishReason: null, usage: null, title: null, lastSeq: 0 });
  assertTurn(events);
  assert.equal(events.at(-1)!.type, "error");
  assert.match(events.at(-1)!.error, /stopped in the middle of this turn/);
});

Deno.test("rebuildLog shows the error of a turn that failed", () => {
  const error = { code: "model_error" as const, message: "The key was refused." };
  const events = wire({ ...ended, finishReason: "error", error, title: null });
  assert.equal(events.at(-1)!.error, "The key was refused.");
});
