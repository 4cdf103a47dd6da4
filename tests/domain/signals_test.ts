import assert from "node:assert/strict";
import { joinSignals } from "../../src/domain/signals.ts";
import { runCollecting } from "../fakes/collecting.ts";

/** Counts the listeners of a signal. */
function counted(controller: AbortController): { signal: AbortSignal; listeners(): number } {
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal) as (...args: unknown[]) => void;
  const remove = signal.removeEventListener.bind(signal) as (...args: unknown[]) => void;
  signal.addEventListener = (...args: unknown[]) => (listeners++, add(...args));
  signal.removeEventListener = (...args: unknown[]) => (listeners--, remove(...args));
  return { signal, listeners: () => listeners };
}

Deno.test("joinSignals aborts with the reason of whichever signal aborts first", () => {
  const [first, second] = [new AbortController(), new AbortController()];
  using joined = joinSignals([first.signal, undefined, second.signal]);
  assert.equal(joined.signal.aborted, false);
  second.abort("second");
  first.abort("first");
  assert.equal(joined.signal.reason, "second");
  assert.equal(joined.late, false);
});

Deno.test("joinSignals is aborted from the start when one of its signals is", () => {
  const free = new AbortController();
  using joined = joinSignals([free.signal, AbortSignal.abort("over")], { ms: 60_000 });
  assert.equal(joined.signal.reason, "over");
});

Deno.test("joinSignals aborts when the time is over, and says so", async () => {
  using joined = joinSignals([new AbortController().signal], { ms: 1, reason: () => "too late" });
  await new Promise((resolve) => joined.signal.addEventListener("abort", resolve));
  assert.equal(joined.signal.reason, "too late");
  assert.equal(joined.late, true);
  using usual = joinSignals([], { ms: 0 });
  await new Promise((resolve) => usual.signal.addEventListener("abort", resolve));
  assert.equal(usual.signal.reason.name, "TimeoutError");
});

Deno.test("joinSignals waits for a very long time as long as it can instead of not at all", async () => {
  using joined = joinSignals([], { ms: Number.MAX_SAFE_INTEGER });
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(joined.signal.aborted, false);
});

Deno.test("joinSignals leaves no listener behind, disposed of or aborted", () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const [a, b] = [counted(first), counted(second)];
  {
    using joined = joinSignals([a.signal, b.signal], { ms: 60_000 });
    assert.deepEqual([a.listeners(), b.listeners()], [1, 1]);
    assert.equal(joined.signal.aborted, false);
  }
  assert.deepEqual([a.listeners(), b.listeners()], [0, 0]);
  using joined = joinSignals([a.signal, b.signal], { ms: 60_000 });
  second.abort("over");
  assert.equal(joined.signal.reason, "over");
  assert.deepEqual([a.listeners(), b.listeners()], [0, 0]);
});

Deno.test("joinSignals still aborts after a garbage collection, when nobody but a listener knows the signal", async () => {
  assert.deepEqual(await runCollecting(new URL("signals_collecting.ts", import.meta.url)), {
    listener: "aborted: stop",
    limit: "aborted: too late",
    nested: "aborted: stop",
    request: "failed: stop",
  });
});
