import assert from "node:assert/strict";
import { formatRanges, parseRanges, subtractRanges } from "../../src/storage/ranges.ts";
import { refusal } from "./helpers.ts";

Deno.test("formatRanges writes ascending runs in the order of the numbers", () => {
  assert.equal(formatRanges([1, 2, 3, 7, 5, 6, 4]), "1-3,7,5-6,4");
  assert.equal(formatRanges([9]), "9");
  assert.equal(formatRanges(Array.from({ length: 1998 }, (_, i) => i + 1).concat(2003)), "1-1998,2003");
});

Deno.test("parseRanges reads what formatRanges wrote", () => {
  assert.deepEqual(parseRanges("1-3,7,5-6,4"), [[1, 3], [7, 7], [5, 6], [4, 4]]);
});

Deno.test("parseRanges refuses what formatRanges cannot have written", () => {
  for (const text of ["", "1-", "a", "1,,2", "3-1", "-1", "1-999999999999", "1.5", "1-2-3", "9".repeat(20)]) {
    assert.throws(() => parseRanges(text), refusal("internal", /is damaged/), text);
  }
});

Deno.test("subtractRanges leaves exactly the numbers that are in no other run", () => {
  assert.deepEqual(subtractRanges([[1, 10]], [[3, 4], [8, 20]]), [[1, 2], [5, 7]]);
  assert.deepEqual(subtractRanges([[1, 5], [3, 9], [20, 20]], [[4, 4]]), [[1, 3], [5, 9], [20, 20]]);
  assert.deepEqual(subtractRanges([[5, 6]], [[1, 100]]), []);
  assert.deepEqual(subtractRanges([[5, 6]], []), [[5, 6]]);
});

Deno.test("subtractRanges agrees with sets on every pair of small lists", () => {
  const lists: [number, number][][] = [[], [[1, 2]], [[2, 4]], [[1, 1], [3, 3]], [[4, 6], [1, 2]], [[1, 6]], [
    [2, 2],
    [2, 5],
  ]];
  const members = (runs: [number, number][]) =>
    [1, 2, 3, 4, 5, 6, 7].filter((n) => runs.some(([first, last]) => first <= n && n <= last));
  for (const from of lists) {
    for (const without of lists) {
      const left = members(from).filter((n) => !members(without).includes(n));
      assert.deepEqual(members(subtractRanges(from, without)), left, JSON.stringify([from, without]));
    }
  }
});
