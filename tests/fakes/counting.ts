// What a process holds on to, counted: timers that are set, and listeners that wait for a signal to abort.

export interface Held {
  timers: number;
  listeners: number;
}

export interface Counting extends Disposable {
  now(): Held;
}

/** Counts from here on, until it is disposed of. Only what was set since then counts. */
export function counting(): Counting {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const timers = new Set<unknown>();
  const globals = globalThis as unknown as { setTimeout: unknown; clearTimeout: unknown };
  globals.setTimeout = (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const id = set(() => {
      timers.delete(id);
      work(...args);
    }, ms);
    timers.add(id);
    return id;
  };
  globals.clearTimeout = (id?: number) => {
    timers.delete(id);
    clear(id);
  };

  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  const listening = new Set<AbortSignal>();
  const counts = new WeakMap<AbortSignal, Set<unknown>>();
  EventTarget.prototype.addEventListener = function (this: EventTarget, ...args) {
    const [type, listener] = args;
    if (this instanceof AbortSignal && type === "abort" && listener && !this.aborted) {
      const own = counts.get(this) ?? new Set();
      counts.set(this, own.add(listener));
      listening.add(this);
    }
    return add.apply(this, args);
  };
  EventTarget.prototype.removeEventListener = function (this: EventTarget, ...args) {
    if (this instanceof AbortSignal && args[0] === "abort") counts.get(this)?.delete(args[1]);
    return remove.apply(this, args);
  };

  return {
    now() {
      let listeners = 0;
      for (const signal of listening) {
        // What waited for a signal that has aborted waits no more.
        const own = signal.aborted ? 0 : counts.get(signal)!.size;
        if (own === 0) listening.delete(signal);
        listeners += own;
      }
      return { timers: timers.size, listeners };
    },
    [Symbol.dispose]() {
      Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
      EventTarget.prototype.addEventListener = add;
      EventTarget.prototype.removeEventListener = remove;
    },
  };
}
