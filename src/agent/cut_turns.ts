// Turns whose end was never saved (a crash, a full disk, a copy of a project in which one ran): counted like all others,
// as far as they were saved.
import { errorText } from "../domain/error.ts";
import type { TurnError } from "../domain/event.ts";
import type { Logger } from "../log.ts";
import type { ProjectStorage } from "./project_storage.ts";
import { messagesSince, saveTurnEnd, statisticsOf, timeOf } from "./turn_end.ts";

/** How such a turn ends. Nobody knows why: in a copy of a project, the turn of the original may have gone on. */
export const CUT_OFF: TurnError = {
  code: "internal",
  message:
    "This turn was cut off before its end was saved. What is above was saved; send a message to go on.",
};

/**
 * Ends the turns that are noted as running, of one session or of all. To be called when none runs: the database is this
 * process's own, so nobody else runs them. What cannot be saved now is tried again before the session's next turn.
 */
export function settleCutTurns(storage: ProjectStorage, log: Logger, sessionId?: string): void {
  for (const { userId, threadId, turnId, startedAt } of storage.sessions.cutTurns(sessionId)) {
    try {
      const own = messagesSince(storage.saver.messages(threadId), startedAt);
      const turn = { userId, sessionId: threadId, startedAt: new Date(startedAt), unsaved: true };
      saveTurnEnd(storage, turn, {
        ...statisticsOf(own).record(),
        turnId,
        finishReason: "error",
        error: CUT_OFF,
        lastSeq: 0,
        endedAt: new Date(own.map(timeOf).sort().at(-1) ?? startedAt),
      });
    } catch (error) {
      log.warn("A turn that was cut off could not be counted.", { error: errorText(error) });
    }
  }
}
