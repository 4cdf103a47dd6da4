// Stored messages as the answers of the history routes.
import type { BaseMessage } from "@langchain/core/messages";
import type { Approval } from "../domain/approval.ts";
import { fieldError } from "../domain/error.ts";
import {
  type ChatAnswer,
  type ChatSession,
  type ConversationHistory,
  HISTORY_LIMIT,
} from "../domain/session.ts";
import { exchanges } from "./exchanges.ts";
import { roleOf, shownId, toChatMessage } from "./messages.ts";
import type { Turn } from "./turn.ts";

/**
 * The newest `limit` messages, or those before the message `before`, oldest first: whoever goes on before the first of a
 * page meets every message once. A page does not start with a tool result whose call is cut off: it starts after it, or
 * with the call where nothing else is left. Only one of more than `HISTORY_LIMIT` results of one call message does: no
 * page is longer than that. Throws 422 when `before` is no message of the session.
 */
export function historyOf(
  session: ChatSession,
  messages: readonly BaseMessage[],
  page: { limit?: number; before?: string },
): ConversationHistory {
  let end = messages.length;
  if (page.before !== undefined) {
    end = messages.findIndex((message, place) => shownId(message, place) === page.before);
    if (end < 0) throw fieldError(["query", "before"], "is not a message of this session");
  }
  const start = page.limit === undefined ? 0 : startOf(messages, Math.max(0, end - page.limit), end);
  return {
    thread_id: session.thread_id,
    title: session.title,
    messages: messages.slice(start, end).map((message, i) => toChatMessage(message, start + i)),
    created_at: session.created_at,
    updated_at: session.updated_at,
    llm_calls: session.llm_calls_count,
  };
}

/** Where a page that ends before `end` and would best start at `wanted` starts. */
function startOf(messages: readonly BaseMessage[], wanted: number, end: number): number {
  if (wanted >= end || messages[wanted]!.getType() !== "tool") return wanted;
  const calls = callPlaces(messages);
  let start = wanted;
  while (start < end && (calls.get(start) ?? start) < wanted) start++;
  if (start < end) return start;
  const call = calls.get(wanted)!;
  return end - call <= HISTORY_LIMIT ? call : wanted;
}

/** Where the call of each tool result stands, by the place of the result; a stray one has none. */
function callPlaces(messages: readonly BaseMessage[]): Map<number, number> {
  const places = new Map(messages.map((message, place) => [message, place]));
  return new Map(
    exchanges(messages).exchanges.flatMap(({ message, results }) =>
      results.flatMap((result) => result ? [[places.get(result)!, places.get(message)!] as const] : [])
    ),
  );
}

/** The messages from the last user message on: the last turn's. */
export function lastTurnOf<T>(messages: readonly T[], isUser: (message: T) => boolean): T[] {
  return messages.slice(Math.max(0, messages.findLastIndex(isUser)));
}

/** The answer to a request without a stream: the turn's messages, the last of the assistant's first. */
export function answerOf(
  session: ChatSession,
  turn: Turn,
  messages: readonly BaseMessage[],
  waiting: readonly Approval[],
): ChatAnswer {
  const turnMessages = lastTurnOf(messages, (message) => roleOf(message) === "user");
  const start = messages.length - turnMessages.length;
  const last = turnMessages.map((message, i) => toChatMessage(message, start + i));
  // Where the question could not be saved, the last turn of the history is an earlier one.
  const own = last[0]?.created_at === turn.startedAt.toISOString() ? last : [];
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
