import assert from "node:assert/strict";
import { isoTime } from "../../src/storage/times.ts";

Deno.test("isoTime answers every spelling of a time in UTC with Z", () => {
  assert.equal(isoTime("2026-03-01T10:11:12.345Z"), "2026-03-01T10:11:12.345Z");
  assert.equal(isoTime("2026-03-01 10:11:12"), "2026-03-01T10:11:12.000Z");
  assert.equal(isoTime("2026-03-01T10:11:12.345678+00:00"), "2026-03-01T10:11:12.345Z");
  assert.equal(isoTime("2026-03-01 10:11:12.5+02:00"), "2026-03-01T08:11:12.500Z");
  assert.equal(isoTime("2026-03-01T10:11:12.345678"), "2026-03-01T10:11:12.345Z");
  assert.equal(isoTime("2026-03-01"), "2026-03-01T00:00:00.000Z");
});

Deno.test("isoTime answers null for what is no time", () => {
  for (const value of [null, undefined, "", "yesterday", "2026-13-45 99:99:99", 5]) {
    assert.equal(isoTime(value), null);
  }
});
