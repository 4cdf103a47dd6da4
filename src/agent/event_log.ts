// The log of one turn: written by the agent, read by any number of connections at their own pace.
import { type Logged, positions, type TurnEvent } from "../domain/event.ts";

/** Append-only and shared by all readers; nothing is queued per reader, so a slow one costs no memory. */
export class EventLog {
  readonly #entries: Logged[] = [];
  #waiting: (() => void)[] = [];
  #last = 0;
  #ended = false;

  /** The position of the newest event. */
  get last(): number {
    return this.#last;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Adds an event and wakes the readers. Returns its position. After `turn_end` nothing more is taken, so that it is
   * the last event whatever finishes late. `seq` places an event that is rebuilt from storage where it stood before.
   */
  append(event: TurnEvent, seq?: number): number {
    if (this.#ended) return this.#last;
    this.#last = seq !== undefined && seq >= this.#last && seq > 0 ? seq : this.#last + positions(event);
    this.#entries.push({ seq: this.#last, event });
    if (event.type === "turn_end") this.#ended = true;
    const waiting = this.#waiting;
    if (waiting.length) {
      this.#waiting = [];
      for (const wake of waiting) wake();
    }
    return this.#last;
  }

  /** The entries from index `from` on, at most `max`. Indexes are a reader's bookkeeping; they never leave the process. */
  slice(from: number, max = Infinity): readonly Logged[] {
    return this.#entries.slice(from, from + max);
  }

  get length(): number {
    return this.#entries.length;
  }

  /** Calls `wake` once when something is appended; the returned function takes that back. */
  onAppend(wake: () => void): () => void {
    this.#waiting.push(wake);
    return () => {
      const at = this.#waiting.indexOf(wake);
      if (at >= 0) this.#waiting.splice(at, 1);
    };
  }
}
