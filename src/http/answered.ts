// What is to happen when a request's handler has given its answer, however it did.
import type { Context } from "hono";

const waiting = new WeakMap<Request, (() => void)[]>();

/** Calls `work` when the request's handler is done: its answer may still be streaming. */
export function whenAnswered(c: Context, work: () => void): void {
  const known = waiting.get(c.req.raw);
  if (known) known.push(work);
  else waiting.set(c.req.raw, [work]);
}

/** Called once for every request, by the application. */
export function answered(c: Context): void {
  for (const work of waiting.get(c.req.raw) ?? []) work();
  waiting.delete(c.req.raw);
}
