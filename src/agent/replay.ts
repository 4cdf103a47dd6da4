// A finished turn's log, rebuilt from what is stored: for a client that comes back later, or after a restart.
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { Approval } from "../domain/approval.ts";
import type { ToolStatus } from "../domain/event.ts";
import type { LastTurn } from "../storage/turns.ts";
import { EventLog } from "./event_log.ts";
import { lastTurnOf } from "./history.ts";
import { toChatMessage } from "./messages.ts";

/** Where a message's events stood in the live log; kept in its `additional_kwargs.event_seq`. */
export interface EventPlaces {
  start: number;
  /** The position before the text's first character. */
  text?: number;
  end?: number;
}

const INTERRUPTED =
  "The server stopped in the middle of this turn. What is above was saved; send a message to go on.";

/**
 * The log that the turn had, with whole texts instead of deltas. Positions are those of the live log, so a client that
 * resumes after an id it got before the restart misses no text and gets none twice. `waiting` are the session's open
 * questions.
 */
export function rebuildLog(
  last: LastTurn,
  messages: readonly BaseMessage[],
  waiting: readonly Approval[] = [],
): EventLog {
  const log = new EventLog();
  log.append({ type: "turn_start", turnId: last.turnId });
  const ends: { seq: number; add: (seq: number) => void }[] = [];
  const own = lastTurnOf(messages, (message) => message.getType() === "human");
  for (const message of own) {
    const chat = toChatMessage(message);
    const places = (message.additional_kwargs.event_seq ?? {}) as Partial<EventPlaces>;
    if (AIMessage.isInstance(message)) {
      flush(ends);
      const messageId = chat.id;
      log.append({ type: "message_start", messageId }, places.start);
      if (chat.content) {
        const seq = places.text === undefined ? undefined : places.text + chat.content.length;
        log.append({ type: "text_delta", messageId, text: chat.content }, seq);
      }
      for (const call of chat.tool_calls ?? []) {
        const toolCallId = call.id;
        log.append({ type: "tool_call_start", messageId, toolCallId, name: call.function.name });
        if (call.function.arguments) {
          log.append({ type: "tool_call_delta", messageId, toolCallId, text: call.function.arguments });
        }
        log.append({ type: "tool_call_end", messageId, toolCallId });
      }
      log.append({ type: "message_end", messageId }, places.end);
    } else if (ToolMessage.isInstance(message) && !message.additional_kwargs.not_started) {
      const toolCallId = message.tool_call_id;
      const toolName = message.name ?? "";
      const status: ToolStatus = message.status === "error" ? "error" : "success";
      ends.push({
        seq: places.start ?? 0,
        add: (seq) => log.append({ type: "tool_start", toolCallId, toolName }, seq),
      });
      ends.push({
        seq: places.end ?? Number.MAX_SAFE_INTEGER,
        add: (seq) =>
          log.append({ type: "tool_end", toolCallId, toolName, output: chat.content, status }, seq),
      });
    }
  }
  flush(ends);
  for (const [i, approval] of waiting.entries()) {
    log.append({ type: "approval_request", approval }, last.lastSeq - waiting.length + i);
  }
  if (last.title) log.append({ type: "title", title: last.title }, last.lastSeq - 1);
  log.append({
    type: "turn_end",
    finishReason: last.finishReason ?? "error",
    usage: last.usage ?? { input_tokens: 0, output_tokens: 0, total_tokens: 0, llm_calls: 0 },
    ...(last.finishReason === null ? { error: { code: "internal", message: INTERRUPTED } } : {}),
    ...(last.error ? { error: last.error } : {}),
  }, last.lastSeq);
  return log;
}

/** Parallel calls started and ended in an order of their own. */
function flush(ends: { seq: number; add: (seq: number) => void }[]): void {
  for (const { seq, add } of ends.splice(0).sort((a, b) => a.seq - b.seq)) {
    add(seq === Number.MAX_SAFE_INTEGER ? 0 : seq);
  }
}
