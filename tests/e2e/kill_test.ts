// The server killed in the middle of turns; `deno task kill` does it for as long as one likes.
import assert from "node:assert/strict";
import { killRounds } from "../../scripts/kill/rounds.ts";
import { EXECUTABLE, NO_EXECUTABLE } from "./needs.ts";

const command = NO_EXECUTABLE ? [Deno.execPath(), "run", "-A", "--no-check", "main.ts"] : [EXECUTABLE];

Deno.test("a server that is killed in the middle of turns loses no finished turn, and goes on with those that it cut", async () => {
  const seed = Date.now() % 1_000_000;
  console.log(`${NO_EXECUTABLE ? "the source" : "the executable"}, seed ${seed}`);
  const report = await killRounds({ rounds: 20, seed, command, log: () => {} });
  assert.deepEqual(report.faults, [], `deno task kill --rounds 20 --seed ${seed}`);
  assert.ok(report.kills >= 20 && report.finished > 0 && report.cut > 0, JSON.stringify(report));
  assert.deepEqual([report.lost, report.corrupt], [0, 0]);
});
