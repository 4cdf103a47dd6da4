// First come, first served.
import assert from "node:assert/strict";
import { KeyedQueue, Turnstile } from "../../src/devices/queue.ts";

const { signal: never } = new AbortController();

Deno.test("Turnstile admits in the order of arrival, never more than its places", async () => {
  const gate = new Turnstile(2);
  const order: number[] = [];
  let inside = 0, most = 0;
  await Promise.all(Array.from({ length: 6 }, async (_, i) => {
    const leave = await gate.enter(never);
    order.push(i);
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside--;
    leave();
    leave();
  }));
  assert.deepEqual(order, [0, 1, 2, 3, 4, 5]);
  assert.equal(most, 2);
  assert.ok(gate.idle(2));
});

Deno.test("Turnstile lets an aborted waiter go and gives its place to the next", async () => {
  const gate = new Turnstile(1);
  const leave = await gate.enter(never);
  const stop = new AbortController();
  const second = gate.enter(stop.signal);
  const third = gate.enter(never);
  stop.abort(new Error("enough"));
  await assert.rejects(second, { message: "enough" });
  leave();
  (await third)();
  await assert.rejects(gate.enter(stop.signal), { message: "enough" });
  assert.ok(gate.idle(1));
});

Deno.test("KeyedQueue lets different keys in at once and forgets those that nobody uses", async () => {
  const queue = new KeyedQueue();
  const [a, b] = [await queue.enter("a", never), await queue.enter("b", never)];
  let second = false;
  const next = queue.enter("a", never).then((leave) => {
    second = true;
    return leave;
  });
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual([second, queue.size], [false, 2]);
  a();
  (await next)();
  b();
  assert.equal(queue.size, 0);
});
