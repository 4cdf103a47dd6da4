import assert from "node:assert/strict";
import { Turn } from "../../src/agent/turn.ts";
import { AppError } from "../../src/domain/error.ts";
import type { TurnEnd } from "../../src/agent/turn_end.ts";

const newTurn = () => new Turn("turn", "session", "user", new Date());
const lastOf = (turn: Turn) => turn.log.slice(0).at(-1)!.event;

Deno.test("Turn ends once: what finishes late changes nothing", async () => {
  const turn = newTurn();
  const saved: TurnEnd[] = [];
  turn.finish((record) => saved.push(record), {});
  turn.finish((record) => saved.push(record), {});
  turn.publish({ type: "text_delta", messageId: "m", text: "late" });
  await turn.finished;
  assert.equal(saved.length, 1);
  assert.deepEqual(turn.log.slice(0).map((entry) => entry.event.type), ["turn_start", "turn_end"]);
  assert.equal(saved[0]!.lastSeq, turn.log.last);
  assert.equal(turn.abort("user"), false);
});

Deno.test("Turn tells an abort from a failure: what fails because of a stop is no error", () => {
  const turn = newTurn();
  assert.equal(turn.abort("user"), true);
  assert.equal(turn.abort("user"), false);
  turn.fail({ code: "model_error", message: "The connection was cut." });
  turn.finish(() => {}, {});
  const end = lastOf(turn);
  assert.ok(end.type === "turn_end" && end.finishReason === "aborted" && end.error === undefined);
});

Deno.test("Turn that was stopped ends with an error when something of it could not be saved", () => {
  const turn = newTurn();
  turn.abort("user");
  turn.lose({ code: "unavailable", message: "The disk is full." });
  turn.finish(() => {}, {});
  const end = lastOf(turn);
  assert.ok(end.type === "turn_end" && end.finishReason === "error");
  assert.equal(end.error?.message, "The disk is full.");
});

Deno.test("Turn keeps the first of two failures", () => {
  const turn = newTurn();
  turn.fail({ code: "model_error", message: "first" });
  turn.fail({ code: "internal", message: "second" });
  turn.finish(() => {}, {});
  const end = lastOf(turn);
  assert.ok(end.type === "turn_end" && end.finishReason === "error");
  assert.equal(end.error?.message, "first");
});

Deno.test("Turn that cannot be saved ends with that error and not with a success", async () => {
  const turn = newTurn();
  turn.finish(() => {
    throw new AppError("internal", "The disk is full.");
  }, {});
  await turn.finished;
  const end = lastOf(turn);
  assert.ok(end.type === "turn_end" && end.finishReason === "error");
  assert.equal(end.error?.message, "The disk is full.");
});
