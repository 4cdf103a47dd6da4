import assert from "node:assert/strict";
import { toolCallAccumulator, type ToolCallEvent } from "../../src/agent/tool_call_accumulator.ts";
import type { ToolCallDelta } from "../../src/models/delta.ts";

/** Feeds chunks of fragments; returns all events in short form and the finished calls. */
function run(chunks: ToolCallDelta[][], isUsed?: (id: string) => boolean) {
  let made = 0;
  const calls = toolCallAccumulator(() => `new-${++made}`, isUsed);
  const events = chunks.flatMap((fragments) => calls.add(fragments));
  const end = calls.finish();
  return { events: [...events, ...end.events].map(short), calls: end.calls };
}

function short(event: ToolCallEvent): string {
  if (event.type === "start") return `start ${event.id} ${event.name}`;
  return event.type === "delta" ? `${event.id} += ${event.text}` : `end ${event.id}`;
}

Deno.test("toolCallAccumulator announces a call with empty arguments, lets it grow and ends it", () => {
  const { events, calls } = run([
    [{ index: 0, id: "a", name: "f", args: "" }],
    [{ index: 0, args: '{"x"' }],
    [{ index: 0, args: ":1}" }],
  ]);
  assert.deepEqual(events, ["start a f", 'a += {"x"', "a += :1}", "end a"]);
  assert.deepEqual(calls, [{ id: "a", name: "f", argumentsText: '{"x":1}' }]);
});

Deno.test("toolCallAccumulator keeps interleaved calls apart", () => {
  // A11
  const { events, calls } = run([
    [{ index: 0, id: "a", name: "f", args: "" }, { index: 1, id: "b", name: "g", args: "" }],
    [{ index: 1, args: '{"y"' }],
    [{ index: 0, args: '{"x"' }],
    [{ index: 1, args: ":2}" }, { index: 0, args: ":1}" }],
  ]);
  assert.deepEqual(calls, [
    { id: "a", name: "f", argumentsText: '{"x":1}' },
    { id: "b", name: "g", argumentsText: '{"y":2}' },
  ]);
  assert.deepEqual(events, [
    "start a f",
    "start b g",
    'b += {"y"',
    'a += {"x"',
    "b += :2}",
    "a += :1}",
    "end a",
    "end b",
  ]);
});

Deno.test("toolCallAccumulator keeps calls apart that follow one another", () => {
  // A11
  const { calls } = run([
    [{ index: 0, id: "a", name: "f", args: '{"x"' }],
    [{ index: 0, args: ":1}" }],
    [{ index: 1, id: "b", name: "g", args: '{"y"' }],
    [{ index: 1, args: ":2}" }],
  ]);
  assert.deepEqual(calls.map((call) => call.argumentsText), ['{"x":1}', '{"y":2}']);
});

Deno.test("toolCallAccumulator goes by the id where there is no index", () => {
  const { calls } = run([
    [{ id: "a", name: "f", args: '{"x"' }],
    [{ id: "b", name: "g", args: '{"y"' }],
    [{ id: "a", args: ":1}" }],
    [{ id: "b", args: ":2}" }],
  ]);
  assert.deepEqual(calls.map((call) => call.argumentsText), ['{"x":1}', '{"y":2}']);
});

Deno.test("toolCallAccumulator gives a fragment without index and id to the last call", () => {
  const { calls } = run([
    [{ index: 0, id: "a", name: "f", args: "" }],
    [{ index: 1, id: "b", name: "g", args: '{"y"' }],
    [{ args: ":2}" }],
    [{ index: 0, args: "{}" }],
  ]);
  assert.deepEqual(calls.map((call) => call.argumentsText), ["{}", '{"y":2}']);
});

Deno.test("toolCallAccumulator takes the same index with another id for a new call", () => {
  const { calls } = run([
    [{ index: 0, id: "a", name: "f", args: "{}" }],
    [{ index: 0, id: "b", name: "f", args: '{"y"' }],
    [{ index: 0, id: "", args: ":2}" }],
    [{ index: 0, id: "c" }],
    [{ index: 0, name: "late", args: "{}" }],
  ]);
  assert.deepEqual(calls, [
    { id: "a", name: "f", argumentsText: "{}" },
    { id: "b", name: "f", argumentsText: '{"y":2}' },
    { id: "c", name: "late", argumentsText: "{}" },
  ]);
});

Deno.test("toolCallAccumulator tells two calls of one name apart, without index and id, however deep the first one is", () => {
  const deep = `{"x":${"[".repeat(100)}${"]".repeat(100)}}`;
  const { calls } = run([
    [{ name: "f", args: deep.slice(0, 50) }],
    [{ name: "f", args: deep.slice(50) }],
    [{ name: "f", args: '{"y"' }],
    [{ name: "f", args: ":{}" }],
    [{ name: "f", args: "} " }],
    [{ name: "f", args: "{}" }],
  ]);
  assert.deepEqual(calls.map((call) => call.argumentsText), [deep, '{"y":{}} ', "{}"]);
});

Deno.test("toolCallAccumulator takes whole calls at once, with neither index nor id", () => {
  const whole = (name: string) => ({ name, args: "{}" });
  const { events, calls } = run([[whole("f"), whole("g")], [whole("g")], [{ name: "h" }, { name: "h" }]]);
  assert.deepEqual(calls.map(({ id, name }) => `${id} ${name}`), [
    "new-1 f",
    "new-2 g",
    "new-3 g",
    "new-4 h",
    "new-5 h",
  ]);
  assert.deepEqual(events.slice(0, 4), ["start new-1 f", "new-1 += {}", "start new-2 g", "new-2 += {}"]);
});

Deno.test("toolCallAccumulator does not take a repeated name or id for a new call", () => {
  const { calls } = run([
    [{ index: 0, id: "a", name: "f", args: '{"x"' }],
    [{ index: 0, id: "a", name: "f", args: ":1}" }],
    [{ name: "f", args: " " }].map(({ args }) => ({ args })),
  ]);
  assert.deepEqual(calls, [{ id: "a", name: "f", argumentsText: '{"x":1} ' }]);
  const unnumbered = run([[{ name: "f", args: '{"x"' }], [{ name: "f", args: ":1}" }]]);
  assert.deepEqual(unnumbered.calls.map((call) => call.argumentsText), ['{"x":1}']);
});

Deno.test("toolCallAccumulator follows a server that counts the index up within one call", () => {
  const { calls } = run([
    [{ index: 0, id: "a", name: "f", args: '{"x"' }],
    [{ index: 1, id: "a", args: ":1" }],
    [{ index: 2, id: "a", args: "}" }],
  ]);
  assert.deepEqual(calls.map((call) => call.argumentsText), ['{"x":1}']);
});

Deno.test("toolCallAccumulator waits for a name that comes late, and then announces with what it has", () => {
  const { events, calls } = run([
    [{ index: 0, id: "a", args: '{"x"' }],
    [{ index: 0, name: "f", args: ":1}" }],
  ]);
  assert.deepEqual(events, ["start a f", 'a += {"x":1}', "end a"]);
  assert.equal(calls[0]!.name, "f");
});

Deno.test("toolCallAccumulator announces a call that never got a name at the end", () => {
  const { events, calls } = run([[{ index: 0, id: "a", args: "{}" }]]);
  assert.deepEqual(events, ["start a unknown_tool", "a += {}", "end a"]);
  assert.equal(calls[0]!.name, "unknown_tool");
});

Deno.test("toolCallAccumulator makes ids unique in the message and in the conversation", () => {
  const { calls } = run(
    [
      [{ index: 0, id: "call_0", name: "f", args: "{}" }, { index: 1, id: "x", name: "g", args: "" }],
      [{ index: 2, id: "x", name: "h", args: "{}" }],
      [{ index: 1, id: "x", args: "{}" }],
    ],
    (id) => id === "call_0" || id === "new-1",
  );
  assert.deepEqual(calls.map(({ id, name, argumentsText }) => `${id} ${name} ${argumentsText}`), [
    "new-2 f {}",
    "x g {}",
    "new-3 h {}",
  ]);
});

Deno.test("toolCallAccumulator gives a new id to a call whose id is a field of every object", () => {
  const ids = ["__proto__", "constructor", "toString", "fine"];
  const { calls } = run([ids.map((id) => ({ id, name: "f", args: '{ "x": 1 }' }))]);
  assert.deepEqual(calls.map(({ id }) => id), ["new-1", "new-2", "new-3", "fine"]);
});

Deno.test("toolCallAccumulator joins a character that is cut between two fragments, each call its own", () => {
  const { events, calls } = run([
    [{ index: 0, id: "a", name: "f", args: '"\ud83d' }, { index: 1, id: "b", name: "f", args: '"\ud83e' }],
    [{ index: 1, args: '\udd14"' }, { index: 0, args: '\ude00"' }, { index: 0, args: "\ud83d" }],
  ]);
  assert.deepEqual(calls.map(({ argumentsText }) => argumentsText), ['"😀"\ufffd', '"🤔"']);
  assert.ok(events.every((event) => event.isWellFormed()), JSON.stringify(events));
});

Deno.test("toolCallAccumulator shows malformed arguments as they were sent and keeps opaque data", () => {
  const { calls } = run([[{ index: 0, id: "a", name: "f", args: '{"x":' }], [{
    index: 0,
    extra: { sig: 1 },
  }]]);
  assert.deepEqual(calls, [{ id: "a", name: "f", argumentsText: '{"x":', extra: { sig: 1 } }]);
});

Deno.test("toolCallAccumulator without fragments has no calls", () => {
  assert.deepEqual(run([]), { events: [], calls: [] });
});
