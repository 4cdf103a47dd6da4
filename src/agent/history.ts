// Stored messages as the answers of the history routes.
import type { BaseMessage } from "@langchain/core/messages";
import type { Approval } from "../domain/approval.ts";
import { fieldError } from "../domain/error.ts";
import type { ChatAnswer, ChatMessage, ChatSession, ConversationHistory } from "../domain/session.ts";
import { toChatMessage } from "./messages.ts";
import type { Turn } from "./turn.ts";

/**
 * The newest `limit` messages, or those before the message `before`, oldest first. A page never starts with a tool
 * result whose call is cut off: it then starts after it. Throws 422 when `before` is no message of the session.
 */
export function historyOf(
  session: ChatSession,
  messages: readonly BaseMessage[],
  page: { limit?: number; before?: string },
): ConversationHistory {
  let end = messages.length;
  if (page.before !== undefined) {
    end = messages.findIndex((message) => message.id === page.before);
    if (end < 0) throw fieldError(["query", "before"], "is not a message of this session");
  }
  let start = page.limit === undefined ? 0 : Math.max(0, end - page.limit);
  while (start > 0 && start < end && messages[start]!.getType() === "tool") start++;
  return {
    thread_id: session.thread_id,
    title: session.title,
    messages: messages.slice(start, end).map((message, i) => toChatMessage(message, start + i)),
    created_at: session.created_at,
    updated_at: session.updated_at,
    llm_calls: session.llm_calls_count,
  };
}

/** The messages from the last user message on: the last turn's. */
export function lastTurnOf<T>(messages: readonly T[], isUser: (message: T) => boolean): T[] {
  return messages.slice(Math.max(0, messages.findLastIndex(isUser)));
}

/** The answer to a request without a stream: the turn's messages, the last of the assistant's first. */
export function answerOf(
  session: ChatSession,
  turn: Turn,
  messages: readonly ChatMessage[],
  waiting: readonly Approval[],
): ChatAnswer {
  const own = lastTurnOf(messages, (message) => message.role === "user");
  const finish_reason = turn.finishReason();
  return {
    session_id: turn.sessionId,
    title: session.title,
    message: own.findLast((message) => message.role === "assistant") ?? null,
    messages: own,
    usage: turn.statistics.usage(),
    finish_reason,
    ...(finish_reason === "error" && turn.error ? { error: turn.error.message } : {}),
    ...(finish_reason === "approval" ? { approvals: [...waiting] } : {}),
  };
}
