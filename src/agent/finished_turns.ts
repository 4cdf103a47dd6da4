// The logs of turns that have ended, for clients that come back: ten minutes, or until the session's next turn.
import type { Turn } from "./turn.ts";

const KEEP_MS = 10 * 60_000;

export class FinishedTurns {
  readonly #kept = new Map<string, { turn: Turn; timer: ReturnType<typeof setTimeout> }>();

  keep(turn: Turn): void {
    this.forget(turn.sessionId);
    const timer = setTimeout(() => this.#kept.delete(turn.sessionId), KEEP_MS);
    this.#kept.set(turn.sessionId, { turn, timer });
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
