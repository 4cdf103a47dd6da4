// Several reasons to stop as one signal. `AbortSignal.any` and `AbortSignal.timeout` are used nowhere: Deno lets the signal
// that they make be collected as garbage while somebody still waits for it, and then nothing ends the wait any more.

/** A signal made of others. Disposing of it leaves nothing behind on them; it is then never aborted any more. */
export interface JoinedSignal extends Disposable {
  readonly signal: AbortSignal;
  /** It was the time limit that aborted it. */
  readonly late: boolean;
}

export interface TimeLimit {
  /** Milliseconds. */
  ms: number;
  /** The reason to abort with; a `TimeoutError` when left out. */
  reason?: () => unknown;
}

/** A timer cannot wait longer than this; it would fire at once. */
const LONGEST = 2 ** 31 - 1;

/**
 * Aborts with the reason of the first of `signals` that aborts, or when the time is over. The others hold on to it by
 * listeners of their own until then or until it is disposed of, so that it lives as long as one of them can abort.
 */
export function joinSignals(
  signals: readonly (AbortSignal | undefined)[],
  limit?: TimeLimit,
): JoinedSignal {
  const joined = new AbortController();
  const listening: [AbortSignal, () => void][] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let late = false;

  const release = () => {
    clearTimeout(timer);
    for (const [signal, stop] of listening.splice(0)) signal.removeEventListener("abort", stop);
  };
  const abort = (reason: unknown) => {
    release();
    joined.abort(reason);
  };

  const given = signals.filter((signal) => signal !== undefined);
  const aborted = given.find((signal) => signal.aborted);
  if (aborted) {
    joined.abort(aborted.reason);
  } else {
    for (const signal of given) {
      const stop = () => abort(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      listening.push([signal, stop]);
    }
    if (limit) {
      timer = setTimeout(() => {
        late = true;
        abort(limit.reason?.() ?? new DOMException("The time is over.", "TimeoutError"));
      }, Math.min(limit.ms, LONGEST));
    }
  }
  return {
    signal: joined.signal,
    get late() {
      return late;
    },
    [Symbol.dispose]: release,
  };
}

/** What `work` resolves to, or the signal's reason as soon as it aborts. `work` itself goes on, and must be looked after. */
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
