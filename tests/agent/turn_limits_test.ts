import assert from "node:assert/strict";
import { type Limits, TurnLimits } from "../../src/agent/turn_limits.ts";
import { openStateDatabase } from "../../src/storage/state_database.ts";
import { TokenUsage } from "../../src/storage/token_usage.ts";

const NOON = Date.parse("2026-03-01T12:00:00Z");
const OFF: Limits = { turnsPerMinute: 0, tokensPerDay: 0, groupTokensPerDay: 0 };

function limited(limits: Partial<Limits>, work: (limits: TurnLimits, clock: { now: number }) => void) {
  using database = openStateDatabase(":memory:");
  const clock = { now: NOON };
  work(new TurnLimits({ ...OFF, ...limits }, new TokenUsage(database), () => clock.now), clock);
}
const refused = (words: RegExp, retryAfter: number) => (error: unknown) => {
  const { code, message, retryAfter: seconds } = error as {
    code: string;
    message: string;
    retryAfter: number;
  };
  assert.deepEqual([code, seconds], ["rate_limited", retryAfter]);
  return words.test(message);
};

Deno.test("without limits nothing is counted and nothing refused", () =>
  limited({}, (limits) => {
    for (let i = 0; i < 1000; i++) limits.admit({ userId: "a", groupId: "g" });
    limits.spent({ userId: "a", groupId: "g" }, { input: 1e9, output: 1e9 });
    limits.admit({ userId: "a", groupId: "g" });
  }));

Deno.test("turns a minute are counted for each user in a window that moves, refusals are not", () =>
  limited({ turnsPerMinute: 2 }, (limits, clock) => {
    limits.admit({ userId: "a" });
    clock.now += 20_000;
    limits.admit({ userId: "a" });
    clock.now += 10_000;
    for (let i = 0; i < 5; i++) {
      assert.throws(() => limits.admit({ userId: "a" }), refused(/2 messages a minute/, 30));
    }
    limits.admit({ userId: "b" });
    clock.now += 30_000;
    limits.admit({ userId: "a" });
    assert.throws(() => limits.admit({ userId: "a" }), refused(/2 messages/, 20));
  }));

Deno.test("tokens a day: a user who has spent them waits until midnight UTC, whoever's model it was", () =>
  limited({ tokensPerDay: 100 }, (limits, clock) => {
    limits.spent({ userId: "a", groupId: "g" }, { input: 90, output: 9 });
    limits.admit({ userId: "a" });
    limits.spent({ userId: "a" }, { input: 1, output: 0 });
    assert.throws(
      () => limits.admit({ userId: "a" }),
      refused(/used up today's 100 tokens.*00:00 UTC/, 12 * 3600),
    );
    limits.admit({ userId: "b", groupId: "g" });
    clock.now = Date.parse("2026-03-02T00:00:00Z");
    limits.admit({ userId: "a" });
  }));

Deno.test("tokens a day of a group are all that its members spend with its configurations", () =>
  limited({ groupTokensPerDay: 100 }, (limits) => {
    limits.spent({ userId: "a", groupId: "g" }, { input: 50, output: 0 });
    limits.spent({ userId: "a" }, { input: 1000, output: 0 });
    limits.admit({ userId: "b", groupId: "g" });
    limits.spent({ userId: "b", groupId: "g" }, { input: 50, output: 0 });
    assert.throws(
      () => limits.admit({ userId: "c", groupId: "g" }),
      refused(/Your group has used up/, 12 * 3600),
    );
    limits.admit({ userId: "a" });
    limits.admit({ userId: "a", groupId: "h" });
  }));
