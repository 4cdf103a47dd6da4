import assert from "node:assert/strict";
import { isDeeper } from "../../src/domain/json.ts";

const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

Deno.test("isDeeper counts levels of arrays and objects, wherever they are", () => {
  assert.equal(isDeeper("text", 0), false);
  assert.equal(isDeeper(null, 0), false);
  assert.equal(isDeeper({}, 0), true);
  assert.equal(isDeeper({ a: 1, b: [2] }, 2), false);
  assert.equal(isDeeper({ a: 1, b: [{}] }, 2), true);
  assert.equal(isDeeper(nested(64)), false);
  assert.equal(isDeeper(nested(65)), true);
});

Deno.test("isDeeper is not itself at a loss with a million levels", () => {
  assert.equal(isDeeper(nested(1_000_000)), true);
});
