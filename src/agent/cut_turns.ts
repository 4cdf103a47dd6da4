// Turns that a crash has cut off: counted like all others, as far as they were saved.
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { errorText } from "../domain/error.ts";
import type { TurnError } from "../domain/event.ts";
import type { Logger } from "../log.ts";
import type { ProjectStorage } from "./project_storage.ts";
import { TurnStatistics } from "./turn_statistics.ts";

/** How such a turn ends. */
export const CUT_OFF: TurnError = {
  code: "internal",
  message: "The server stopped in the middle of this turn. What is above was saved; send a message to go on.",
};

/**
 * Ends the turns that are noted as running, of one session or of all. To be called when none runs: the database is this
 * process's own, so nobody else runs them. What cannot be saved now is tried again before the session's next turn.
 */
export function settleCutTurns({ sessions, saver }: ProjectStorage, log: Logger, sessionId?: string): void {
  for (const turn of sessions.cutTurns(sessionId)) {
    try {
      const own = saver.messages(turn.threadId).filter((message) => timeOf(message) >= turn.startedAt);
      sessions.endTurn(turn.userId, turn.threadId, {
        ...statisticsOf(own).record(),
        turnId: turn.turnId,
        finishReason: "error",
        error: CUT_OFF,
        lastSeq: 0,
        endedAt: new Date(own.map(timeOf).sort().at(-1) ?? turn.startedAt),
      });
    } catch (error) {
      log.warn("A turn that was cut off could not be counted.", { error: errorText(error) });
    }
  }
}

/** Its model calls are those whose answers were saved. */
function statisticsOf(messages: readonly BaseMessage[]): TurnStatistics {
  const statistics = new TurnStatistics();
  statistics.messages = messages.length;
  for (const message of messages) {
    if (message.getType() === "tool") statistics.toolCalls++;
    if (!AIMessage.isInstance(message)) continue;
    statistics.llmCalls++;
    const { input_tokens: input = 0, output_tokens: output = 0 } = message.usage_metadata ?? {};
    statistics.addCall({ input, output, estimated: message.usage_metadata === undefined });
  }
  return statistics;
}

function timeOf({ additional_kwargs }: BaseMessage): string {
  return String(additional_kwargs.created_at ?? "");
}
