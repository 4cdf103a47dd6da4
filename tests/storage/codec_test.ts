import assert from "node:assert/strict";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { Send } from "@langchain/langgraph";
import { type Json, pack, type References, unpack, visitTags } from "../../src/storage/codec.ts";
import { refusal } from "./helpers.ts";

const none: References = {
  write: () => null,
  read: (tag) => {
    throw new Error(`unexpected tag ${tag}`);
  },
};

/** Through JSON text and back, as the database keeps it. */
function roundTrip(value: unknown): unknown {
  return unpack(JSON.parse(JSON.stringify(pack(value, none))), none);
}

// L4
Deno.test("pack and unpack give back values that JSON cannot say", () => {
  const values = [
    null,
    "路由 😀 \u0000",
    "",
    [undefined, null],
    NaN,
    -Infinity,
    2n ** 62n,
    new Uint8Array(),
    Uint8Array.from({ length: 70_000 }, (_, i) => i % 256),
    new Date("2026-03-01T10:00:00.000Z"),
    new Set(["a", new Map([["b", { c: 1n }]])]),
    /a+"b"/gi,
    { nested: [{ deep: { list: [1, [2, [3]]] } }] },
    new DeltaSnapshot([1, new Set([2])]),
  ];
  for (const value of values) assert.deepEqual(roundTrip(value), value);
  assert.deepEqual(roundTrip(undefined), undefined);
});

Deno.test("pack keeps an error's name and message", () => {
  const error = roundTrip(new TypeError("no such node")) as Error;
  assert.ok(error instanceof Error);
  assert.equal(error.name, "TypeError");
  assert.equal(error.message, "no such node");
});

Deno.test("pack leaves out undefined fields and functions of an object", () => {
  assert.deepEqual(pack({ a: 1, b: undefined, c: () => 1 }, none), { a: 1 });
});

Deno.test("pack keeps an object that looks like one of the tags apart from them", () => {
  const value = { $: "set", v: [1] };
  assert.deepEqual(roundTrip(value), value);
  assert.deepEqual(roundTrip({ $: { $: "x" } }), { $: { $: "x" } });
});

Deno.test("unpack does not let a key named __proto__ change an object's prototype", () => {
  const value = roundTrip(JSON.parse('{"__proto__": {"admin": [{"x": 1}]}}')) as Record<string, unknown>;
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal(value.admin, undefined);
  assert.deepEqual(Object.keys(value), ["__proto__"]);
});

Deno.test("pack stores LangGraph's Send as its fields", () => {
  assert.deepEqual(roundTrip(new Send("tool_node", { n: 1 })), { node: "tool_node", args: { n: 1 } });
});

Deno.test("pack refuses a value that holds itself with a sentence", () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  assert.throws(() => pack(loop, none), { name: "AppError", message: /nested too deeply/ });
});

/** `levels` lists, maps and objects in each other. */
function nested(levels: number): unknown {
  let value: unknown = "the middle";
  for (let i = 0; i < levels; i++) {
    value = [[value], new Map([["k", value]]), { $: value }, { a: value }, new Set([value])][i % 5];
  }
  return value;
}

Deno.test("what pack takes comes back however deep it is", () => {
  for (const levels of [64, 499]) assert.deepEqual(roundTrip(nested(levels)), nested(levels));
});

Deno.test("unpack and visitTags refuse what is deeper than pack makes anything", () => {
  for (
    const [open, close] of [["[", "]"], ['{"a":', "}"], ['{"$":"set","v":[', "]}"], [
      '{"$":"delta","v":',
      "}",
    ]]
  ) {
    const json = JSON.parse(open!.repeat(100_000) + "1" + close!.repeat(100_000)) as Json;
    assert.throws(() => unpack(json, none), refusal("internal", /is damaged/), open);
    assert.throws(() => visitTags(json, () => {}), refusal("internal", /is damaged/), open);
  }
});

Deno.test("unpack builds no class that the data names", () => {
  const stored = { lc: 1, type: "constructor", id: ["langchain_core", "messages", "AIMessage"], kwargs: {} };
  assert.deepEqual(roundTrip(stored), stored);
});

Deno.test("visitTags finds tagged objects at any depth", () => {
  const json: Json = [{ a: { $: "m", v: 4 } }, { $: "set", v: [{ $: "ms", v: "1-2" }] }];
  const found: unknown[] = [];
  visitTags(json, (tag, value) => found.push([tag, value]));
  assert.deepEqual(found, [["m", 4], ["set", [{ $: "ms", v: "1-2" }]], ["ms", "1-2"]]);
});

Deno.test("visitTags does not take a user's object for a reference", () => {
  const found: string[] = [];
  visitTags(pack({ args: { $: "m", v: 4, more: new Set([1]) } }, none), (tag) => found.push(tag));
  assert.deepEqual(found, ["object", "set"]);
});
