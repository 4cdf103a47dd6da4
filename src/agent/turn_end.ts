// The end of a turn as it is saved: what is counted is what history holds, however the turn ended.
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { errorText } from "../domain/error.ts";
import type { ChatSession, TurnRecord } from "../domain/session.ts";
import type { Logger } from "../log.ts";
import type { ProjectStorage } from "./project_storage.ts";
import { TurnStatistics } from "./turn_statistics.ts";

/** All of a turn's record but its messages, which are counted where they are stored. */
export type TurnEnd = Omit<TurnRecord, "messages">;

/** Whose end is saved. `unsaved`: something of the turn is known to be lost. */
export interface EndedTurn {
  userId: string;
  sessionId: string;
  startedAt: Date;
  unsaved: boolean;
}

/**
 * Saves how a turn ended, in one transaction. `message_count` is the length of the history afterwards, whatever was
 * counted before. Calls and tokens of an answer that is lost are billed, but not the session's. Undefined for a session
 * that is gone. Throws `AppError` when it cannot be written. With `log` the session's old checkpoints are removed in the same
 * transaction; where that fails, the end is saved without it and `log` is told: the next turn removes them.
 */
export function saveTurnEnd(
  { sessions, saver }: Pick<ProjectStorage, "sessions" | "saver">,
  { userId, sessionId, startedAt, unsaved }: EndedTurn,
  end: TurnEnd,
  log?: Logger,
): ChatSession | undefined {
  const stored = saver.countMessages(sessionId);
  const figures = unsaved ? savedFigures(saver.messages(sessionId), startedAt) : {};
  const save = (also?: () => void) =>
    sessions.endTurn(userId, sessionId, ({ message_count }) => ({
      ...end,
      ...figures,
      messages: stored - message_count,
    }), also);
  if (!log) return save();
  try {
    return save(() => saver.prune(sessionId));
  } catch (error) {
    // The end alone may still fit on a full disk. When it does not, that is what is thrown.
    const session = save();
    log.warn("Old checkpoints could not be removed.", { error: errorText(error) });
    return session;
  }
}

function savedFigures(messages: readonly BaseMessage[], startedAt: Date): Partial<TurnEnd> {
  const { llmCalls, inputTokens, outputTokens } = statisticsOf(
    messagesSince(messages, startedAt.toISOString()),
  ).record();
  return { llmCalls, inputTokens, outputTokens };
}

/** The messages that were made at `time` (ISO 8601) or later: those of the turn that started then, when it is the last. */
export function messagesSince(messages: readonly BaseMessage[], time: string): BaseMessage[] {
  return messages.filter((message) => timeOf(message) >= time);
}

/** When a message was made, in ISO 8601; "" for one that does not tell. */
export function timeOf({ additional_kwargs }: BaseMessage): string {
  return String(additional_kwargs.created_at ?? "");
}

/** What a turn's saved messages tell of it: its model calls are those whose answers were saved. */
export function statisticsOf(messages: readonly BaseMessage[]): TurnStatistics {
  const statistics = new TurnStatistics();
  for (const message of messages) {
    if (message.getType() === "tool") statistics.toolCalls++;
    if (!AIMessage.isInstance(message)) continue;
    statistics.llmCalls++;
    const { input_tokens: input = 0, output_tokens: output = 0 } = message.usage_metadata ?? {};
    statistics.addCall({ input, output, estimated: message.usage_metadata === undefined });
  }
  return statistics;
}
