// Waiting that an AbortSignal ends.

/** `work`, or the signal's reason as soon as it aborts. */
export async function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return await work;
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

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
