// Waiting that an AbortSignal ends.
import { unlessAborted } from "../domain/signals.ts";

/** Waits `ms` milliseconds, or until `early` resolves. Throws the signal's reason. */
export async function pause(ms: number, signal: AbortSignal, early?: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await unlessAborted(signal, early ? Promise.race([promise, early]) : promise);
  } finally {
    clearTimeout(timer);
  }
}
