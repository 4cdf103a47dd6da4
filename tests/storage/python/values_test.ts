import assert from "node:assert/strict";
import { encode, ExtData } from "@msgpack/msgpack";
import { decodeValue, plain, readable } from "../../../src/storage/python/values.ts";

/** An object of a class, as LangGraph's Python side writes it. */
const object = (code: number, given: unknown) =>
  new ExtData(code, encode(["module", "Class", given, "method"], { useBigInt64: true }));

const read = (value: unknown) => plain(decodeValue("msgpack", encode(value, { useBigInt64: true })));

Deno.test("plain gives an object of a class as what its constructor was given, at any depth", () => {
  for (const code of [0, 1, 2, 3, 4, 5]) {
    assert.deepEqual(read({ a: [object(code, { b: object(code, [1, "x"]) })] }), { a: [{ b: [1, "x"] }] });
  }
  const bytes = new Uint8Array([1, 2]);
  assert.deepEqual(read(new ExtData(6, encode(["<i4", [1, 2], "C", bytes]))), {
    dtype: "<i4",
    shape: [1, 2],
    order: "C",
    data: bytes,
  });
  assert.deepEqual(read(new ExtData(7, encode([object(5, { c: 1 })]))), [{ c: 1 }]);
});

Deno.test("plain shows the bytes of an extension that nobody knows", () => {
  assert.deepEqual(read([new ExtData(42, new Uint8Array([0, 255]))]), [
    "[a value of the unknown type 42: 00ff]",
  ]);
});

Deno.test("plain keeps integers exact: a number where that is possible", () => {
  assert.deepEqual(read([2n ** 53n - 1n, 2n ** 53n, -(2n ** 63n), 7]), [
    2 ** 53 - 1,
    2n ** 53n,
    -(2n ** 63n),
    7,
  ]);
});

Deno.test("plain keeps keys that are no texts, and the one that JavaScript treats in its own way", () => {
  // {1: "a", None: "b", "__proto__": {"x": 1}}
  const bytes = [
    0x83,
    1,
    0xa1,
    0x61,
    0xc0,
    0xa1,
    0x62,
    0xa9,
    ...new TextEncoder().encode("__proto__"),
    0x81,
    0xa1,
    0x78,
    1,
  ];
  const value = plain(decodeValue("msgpack", new Uint8Array(bytes))) as object;
  assert.equal(JSON.stringify(value), '{"1":"a","null":"b","__proto__":{"x":1}}');
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

Deno.test("plain turns what is nested without measure into text", () => {
  const bytes = new Uint8Array([...new Array(1_000).fill(0x91), 0xa4, ...new TextEncoder().encode("deep")]);
  let read = plain(decodeValue("msgpack", bytes));
  let levels = 0;
  for (; Array.isArray(read); levels++) read = read[0];
  assert.equal(levels, 201);
  assert.equal(levels + String(read).indexOf('"deep"'), 1_000);
});

Deno.test("readable writes any decoded value as text", () => {
  const value = decodeValue(
    "msgpack",
    encode([object(5, { n: 2n ** 63n }), new ExtData(9, new Uint8Array([1]))], {
      useBigInt64: true,
    }),
  );
  assert.equal(readable(value), '[{"n":"9223372036854775808"},"[a value of the unknown type 9: 01]"]');
});

Deno.test("decodeValue reads every type that LangGraph writes, and refuses others and what is cut", () => {
  assert.equal(decodeValue("null", new Uint8Array()), null);
  assert.deepEqual(decodeValue("json", '{"a": 1}'), { a: 1 });
  assert.deepEqual(decodeValue("json", new TextEncoder().encode("[1]")), [1]);
  assert.deepEqual(decodeValue("bytes", new Uint8Array([1])), new Uint8Array([1]));
  for (const [type, value] of [["pickle", new Uint8Array([0x80])], [null, null], ["msgpack", "text"]]) {
    assert.throws(() => decodeValue(type, value), TypeError);
  }
  const whole = encode({ messages: [object(5, { content: "x" })] });
  for (let length = 0; length < whole.length; length++) {
    assert.throws(() => decodeValue("msgpack", whole.subarray(0, length)), RangeError);
  }
});
