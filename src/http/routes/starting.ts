// The start of a turn, which needs the caller's model: choosing it may have to ask GNS3, and GNS3 may be slow.
import type { Context } from "hono";
import type { ChosenModel } from "../../agent/model_choice.ts";
import type { Turn } from "../../agent/turn.ts";
import { unlessAborted } from "../../domain/signals.ts";
import { asAppError } from "../errors.ts";
import type { ChatDeps, Visit } from "./deps.ts";

/** So long, in milliseconds, a stream's status waits for the model's choice; a client hears something within 50. */
const PATIENCE_MS = 35;

type Starter<T> = (model: ChosenModel) => T;

/** A start that has succeeded, or one that goes on while the stream is open; it rejects with `AppError` only. */
export type Start<T> = { done: T } | { going: Promise<T> };

/** Chooses the caller's model and calls `start` with it. Throws what either throws, 503 when the server drains meanwhile. */
export async function startNow<T>(c: Context, deps: ChatDeps, visit: Visit, start: Starter<T>): Promise<T> {
  const model = await visit.service.modelFor(visit.caller, c.req.raw.signal);
  deps.mayStart();
  return start(model);
}

/**
 * As `startNow`, for an answer that is a stream: a choice that takes long is not waited for, so its refusal can only be an
 * event. From then on the start no longer depends on the client.
 */
export async function startSoon<T>(
  c: Context,
  deps: ChatDeps,
  visit: Visit,
  start: Starter<T>,
): Promise<Start<T>> {
  const { service, caller } = visit;
  const { signal } = c.req.raw;
  let answered = false;
  const starting = service.modelFor(caller).then((model) => {
    if (!answered) signal.throwIfAborted();
    deps.mayStart();
    return start(model);
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, PATIENCE_MS));
  try {
    const first = await unlessAborted(signal, Promise.race([starting.then((done) => ({ done })), late]));
    if (first) return first;
  } finally {
    clearTimeout(timer);
  }
  answered = true;
  // The agent stays, although the request is as good as answered.
  service.hold();
  const going = starting.catch((error) => {
    throw asAppError(error, deps.log);
  }).finally(() => service.leave());
  return { going };
}

/** What a stream is made of, of a start that gives a turn. */
export function streamedTurn(turn: Turn): { log: Turn["log"]; turnId: string } {
  return { log: turn.log, turnId: turn.id };
}
