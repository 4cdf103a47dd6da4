// The logs of turns that have ended, for clients that come back: ten minutes, or until the session's next turn, or until
// there are too many. Later they are rebuilt from storage.
import type { Turn } from "./turn.ts";

const KEEP_MS = 10 * 60_000;
const MOST_KEPT = 100;
/** Characters of answers, which is what positions in a log count. */
const MOST_POSITIONS = 20_000_000;

export class FinishedTurns {
  /** The oldest first. */
  readonly #kept = new Map<string, { turn: Turn; timer: ReturnType<typeof setTimeout> }>();

  constructor(private readonly most = MOST_KEPT, private readonly mostPositions = MOST_POSITIONS) {}

  keep(turn: Turn): void {
    this.forget(turn.sessionId);
    const timer = setTimeout(() => this.#kept.delete(turn.sessionId), KEEP_MS);
    this.#kept.set(turn.sessionId, { turn, timer });
    let positions = 0;
    for (const { turn } of this.#kept.values()) positions += turn.log.last;
    for (const [oldest, { turn: { log } }] of this.#kept) {
      const fits = this.#kept.size <= this.most && positions <= this.mostPositions;
      if (fits || this.#kept.size === 1) break;
      positions -= log.last;
      this.forget(oldest);
    }
  }

  of(sessionId: string): Turn | undefined {
    return this.#kept.get(sessionId)?.turn;
  }

  forget(sessionId: string): void {
    clearTimeout(this.#kept.get(sessionId)?.timer);
    this.#kept.delete(sessionId);
  }

  close(): void {
    for (const id of [...this.#kept.keys()]) this.forget(id);
  }
}
