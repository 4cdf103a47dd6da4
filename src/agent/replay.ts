// A finished turn's log, rebuilt from what is stored: for a client that comes back later, or after a restart.
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { Approval } from "../domain/approval.ts";
import type { Logged } from "../domain/event.ts";
import type { ChatMessage } from "../domain/session.ts";
import type { LastTurn } from "../storage/turns.ts";
import { CUT_OFF } from "./cut_turns.ts";
import { EventLog } from "./event_log.ts";
import { lastTurnOf } from "./history.ts";
import { toChatMessage } from "./messages.ts";
import { messagesSince } from "./turn_end.ts";

/** Where a message's events stood in the live log of its turn; kept in its `additional_kwargs.event_seq`. */
export interface EventPlaces {
  /** The turn's id. */
  turn: string;
  start: number;
  end: number;
  /** Unbroken pieces of text (`t`) and reasoning (`r`): the position before the first character, and how many there are. */
  runs?: ["t" | "r", number, number][];
  /** Call id, position of its start, and of its end when it was completed. */
  calls?: [string, number, number?][];
}

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
  const own = lastTurnOf(messages, (message) => message.getType() === "human");
  // A turn that went on after an approval has a log of its own, without what was said before the question; one that was
  // not saved at all must not show what the turn before it said.
  const ofTurn = own.filter((message) => placesOf(message)?.turn === last.turnId);
  const entries = (ofTurn.length ? ofTurn : messagesSince(own, last.startedAt)).flatMap(entriesOf);
  // Parallel calls started and ended in an order of their own.
  for (const { seq, event } of entries.sort((a, b) => a.seq - b.seq)) log.append(event, seq);
  for (const [i, approval] of waiting.entries()) {
    log.append({ type: "approval_request", approval }, last.lastSeq - waiting.length + i);
  }
  if (last.title) log.append({ type: "title", title: last.title }, last.lastSeq - 1);
  log.append({
    type: "turn_end",
    finishReason: last.finishReason ?? "error",
    usage: last.usage ?? { input_tokens: 0, output_tokens: 0, total_tokens: 0, llm_calls: 0 },
    ...(last.finishReason === null ? { error: CUT_OFF } : {}),
    ...(last.error ? { error: last.error } : {}),
  }, last.lastSeq);
  return log;
}

function placesOf(message: BaseMessage): EventPlaces | undefined {
  return message.additional_kwargs.event_seq as EventPlaces | undefined;
}

/** The events of a message at their places; those of a message without places follow each other. */
function entriesOf(message: BaseMessage): Logged[] {
  const chat = toChatMessage(message);
  const places = placesOf(message);
  if (AIMessage.isInstance(message)) return assistantEntries(chat, message, places);
  if (!ToolMessage.isInstance(message) || message.additional_kwargs.not_started) return [];
  const call = { toolCallId: message.tool_call_id, toolName: message.name ?? "" };
  const status = message.status === "error" ? "error" : "success";
  return [
    { seq: places?.start ?? 0, event: { type: "tool_start", ...call } },
    { seq: places?.end ?? 0, event: { type: "tool_end", ...call, output: chat.content, status } },
  ];
}

function assistantEntries(chat: ChatMessage, message: AIMessage, places: EventPlaces | undefined): Logged[] {
  const messageId = chat.id;
  const entries: Logged[] = [{ seq: places?.start ?? 0, event: { type: "message_start", messageId } }];
  const texts = { t: chat.content, r: String(message.additional_kwargs.reasoning_content ?? "") };
  const said = { t: 0, r: 0 };
  for (const [kind, before, length] of places?.runs ?? [["t", 0, chat.content.length] as const]) {
    const text = texts[kind].slice(said[kind], said[kind] += length);
    const type = kind === "t" ? "text_delta" : "reasoning_delta";
    if (text) entries.push({ seq: places ? before + length : 0, event: { type, messageId, text } });
  }
  for (const { id: toolCallId, function: { name, arguments: text } } of chat.tool_calls ?? []) {
    const [, start, end] = places?.calls?.find(([id]) => id === toolCallId) ?? [toolCallId, 0, 0];
    entries.push({ seq: start, event: { type: "tool_call_start", messageId, toolCallId, name } });
    // The fragments may have been mixed with another call's; whole and last, they are right for every position before.
    if (text) {
      const seq = end ? end - 1 : places?.end ?? 0;
      entries.push({ seq, event: { type: "tool_call_delta", messageId, toolCallId, text } });
    }
    if (end !== undefined) {
      entries.push({ seq: end, event: { type: "tool_call_end", messageId, toolCallId } });
    }
  }
  return [...entries, { seq: places?.end ?? 0, event: { type: "message_end", messageId } }];
}
