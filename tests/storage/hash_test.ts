import assert from "node:assert/strict";
import { hashOf } from "../../src/storage/hash.ts";

Deno.test("hashOf is a whole number that SQLite and JavaScript both hold, and equal for equal texts", () => {
  for (const text of ["", "a", "路由 😀", "x".repeat(100_000)]) {
    const hash = hashOf("human", text);
    assert.ok(Number.isSafeInteger(hash) && hash >= 0 && hash < 2 ** 48);
    assert.equal(hashOf("human", text), hash);
  }
});

Deno.test("hashOf differs for ten thousand short texts and for long ones that differ at an end", () => {
  assert.equal(new Set(Array.from({ length: 10_000 }, (_, i) => hashOf("ai", `m-${i}`))).size, 10_000);
  const long = "x".repeat(5000);
  assert.equal(
    new Set([long, `${long}x`, `y${long.slice(1)}`, `${long.slice(1)}y`].map((text) => hashOf(text))).size,
    4,
  );
});
