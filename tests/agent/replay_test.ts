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
  call.additional_kwargs.event_seq = {
    turn: "turn",
    start: 2,
    runs: [["t", 2, 12]],
    calls: [["c1", 15, 38]],
    end: 40,
  };
  const result = toolMessage({
    callId: "c1",
    name: "wait_seconds",
    output: '{"waited":1}',
    status: "success",
  }, at("t1"));
  result.additional_kwargs.event_seq = { turn: "turn", start: 41, end: 42 };
  const answer = assistantMessage({ text: "Nothing is wrong." }, at("a2"));
  answer.additional_kwargs.event_seq = { turn: "turn", start: 43, runs: [["t", 50, 17]], end: 68 };
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
  assert.match(events.at(-1)!.error, /^This turn was cut off before its end was saved/);
});

Deno.test("rebuildLog shows the error of a turn that failed", () => {
  const error = { code: "model_error" as const, message: "The key was refused." };
  const events = wire({ ...ended, finishReason: "error", error, title: null });
  assert.equal(events.at(-1)!.error, "The key was refused.");
});

Deno.test("rebuildLog puts text, reasoning and calls back between each other as they came", () => {
  const message = assistantMessage(
    {
      text: "AABB",
      reasoning: "hm",
      calls: [
        { id: "c1", name: "x", argumentsText: '{"a":1}' },
        { id: "c2", name: "y", argumentsText: '{"b":2}' },
      ],
    },
    at("a1"),
  );
  message.additional_kwargs.event_seq = {
    turn: "turn",
    start: 2,
    runs: [["t", 2, 2], ["r", 4, 2], ["t", 20, 2]],
    calls: [["c1", 7, 24], ["c2", 8, 25]],
    end: 26,
  };
  const log = rebuildLog({ ...ended, title: null, lastSeq: 30 }, [userMessage("q", at("u")), message]);
  const shown = log.slice(0).map(({ seq, event }) => [seq, event.type, "text" in event ? event.text : ""]);
  assert.deepEqual(shown, [
    [1, "turn_start", ""],
    [2, "message_start", ""],
    [4, "text_delta", "AA"],
    [6, "reasoning_delta", "hm"],
    [7, "tool_call_start", ""],
    [8, "tool_call_start", ""],
    [22, "text_delta", "BB"],
    [23, "tool_call_delta", '{"a":1}'],
    [24, "tool_call_end", ""],
    [24, "tool_call_delta", '{"b":2}'],
    [25, "tool_call_end", ""],
    [26, "message_end", ""],
    [30, "turn_end", ""],
  ]);
});

Deno.test("rebuildLog of a turn that went on after an approval leaves out what came before the question", () => {
  const before = assistantMessage({ text: "May I?" }, at("a1"));
  before.additional_kwargs.event_seq = { turn: "first", start: 2, runs: [["t", 2, 6]], end: 9 };
  const after = assistantMessage({ text: "Done." }, at("a2"));
  after.additional_kwargs.event_seq = { turn: "turn", start: 2, runs: [["t", 2, 5]], end: 8 };
  const log = rebuildLog({ ...ended, lastSeq: 10 }, [userMessage("q", at("u")), before, after]);
  const texts = log.slice(0).flatMap(({ event }) => event.type === "text_delta" ? [event.text] : []);
  assert.deepEqual(texts, ["Done."]);
});
