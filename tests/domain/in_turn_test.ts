import assert from "node:assert/strict";
import { inTurn, type Stage } from "../../src/domain/in_turn.ts";

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

Deno.test("inTurn lets one who comes alone go on in the same turn of the event loop", async () => {
  const order: string[] = [];
  setImmediate(() => order.push("next turn"));
  await inTurn("start").then(() => order.push("went on"));
  assert.deepEqual(order, ["went on"]);
  await nextTurn();
});

Deno.test("inTurn lets everything else run between those who come at the same moment", async () => {
  await nextTurn();
  const order: string[] = [];
  const everythingElse = (async () => {
    for (let turn = 0; turn < 5; turn++) {
      await nextTurn();
      order.push("else");
    }
  })();
  await Promise.all(Array.from({ length: 5 }, async () => {
    await inTurn("start");
    order.push("work");
    // What one does next without waiting for anything belongs to its turn.
    await Promise.resolve();
    order.push("more work");
  }));
  await everythingElse;
  assert.deepEqual(order, Array.from({ length: 5 }, () => ["work", "more work", "else"]).flat());
});

Deno.test("inTurn lets those who have got further go before those who have not begun", async () => {
  await nextTurn();
  const order: Stage[] = [];
  const go = async (stage: Stage) => {
    await inTurn(stage);
    order.push(stage);
  };
  await inTurn("start");
  await Promise.all(Array.from(["start", "start", "further", "further"] as const, go));
  assert.deepEqual(order, ["further", "further", "start", "start"]);
});
