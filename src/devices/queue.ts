// First come, first served: one writer at a time for each console, and a bound on how many run at once.

/** Gives the place back. Calling it again does nothing. */
export type Leave = () => void;

/** At most `places` are inside; the others wait in the order in which they came. */
export class Turnstile {
  #free: number;
  readonly #waiting: { admit(): void }[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /** Whether nobody is inside and nobody waits, given how many places there are. */
  idle(places: number): boolean {
    return this.#free === places && this.#waiting.length === 0;
  }

  /** Resolves when it is our turn. An abort while waiting gives the place in the queue up and throws its reason. */
  async enter(signal: AbortSignal): Promise<Leave> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return this.#leave();
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const ticket = { admit: resolve };
    const abort = () => {
      const at = this.#waiting.indexOf(ticket);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      reject(signal.reason);
    };
    this.#waiting.push(ticket);
    signal.addEventListener("abort", abort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
    return this.#leave();
  }

  #leave(): Leave {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.#waiting.shift();
      if (next) next.admit();
      else this.#free++;
    };
  }
}

/** One turnstile with a single place for each key; a key that nobody uses is forgotten. */
export class KeyedQueue {
  readonly #lines = new Map<string, Turnstile>();

  async enter(key: string, signal: AbortSignal): Promise<Leave> {
    const line = this.#lines.get(key) ?? new Turnstile(1);
    this.#lines.set(key, line);
    const forget = () => {
      if (line.idle(1) && this.#lines.get(key) === line) this.#lines.delete(key);
    };
    const leave = await line.enter(signal).catch((error) => {
      forget();
      throw error;
    });
    return () => {
      leave();
      forget();
    };
  }

  /** How many keys are in use. */
  get size(): number {
    return this.#lines.size;
  }
}
