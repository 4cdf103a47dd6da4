// The event stream of GNS3's chat (contract section 3, seed 000).
import type { Logged, TurnEvent } from "../../domain/event.ts";
import type { Dialect, WireMessage } from "./dialect.ts";

interface OpenCall {
  name: string;
  text: string;
  shown: number;
}

/**
 * A `tool_call` repeats all arguments so far, so each repetition must be worth it: the text has to have grown by half.
 * All updates of a call together then stay below three times its final size.
 */
const GROWTH = 1.5;
const FIRST_UPDATE = 16;

/** Translates one turn. `reasoning`: the client asked to see the model's reasoning. */
export function gns3Dialect(sessionId: string, options: { reasoning?: boolean } = {}): Dialect {
  const calls = new Map<string, OpenCall>();
  const session_id = sessionId;

  const toolCall = (id: string, messageId: string, text: string, complete: boolean) => ({
    type: "tool_call",
    tool_call: {
      id,
      type: "function",
      function: { name: calls.get(id)?.name ?? "", arguments: text, ...(complete ? { complete: true } : {}) },
    },
    message_id: messageId,
    session_id,
  });

  const one = (event: TurnEvent): unknown[] => {
    switch (event.type) {
      case "text_delta":
        return event.text === ""
          ? []
          : [{ type: "content", content: event.text, message_id: event.messageId, session_id }];
      case "reasoning_delta":
        if (!options.reasoning || event.text === "") return [];
        return [{ type: "reasoning", content: event.text, message_id: event.messageId, session_id }];
      case "tool_call_start":
        calls.set(event.toolCallId, { name: event.name, text: "", shown: 0 });
        return [toolCall(event.toolCallId, event.messageId, "", false)];
      case "tool_call_delta": {
        const call = calls.get(event.toolCallId);
        if (!call) return [];
        call.text += event.text;
        if (call.text.length < Math.max(call.shown * GROWTH, FIRST_UPDATE)) return [];
        call.shown = call.text.length;
        return [toolCall(event.toolCallId, event.messageId, call.text, false)];
      }
      case "tool_call_end": {
        const call = calls.get(event.toolCallId);
        const message = toolCall(event.toolCallId, event.messageId, call?.text ?? "", true);
        calls.delete(event.toolCallId);
        return [message];
      }
      case "tool_start":
        return [{
          type: "tool_start",
          tool_name: event.toolName,
          tool_call_id: event.toolCallId,
          session_id,
        }];
      case "tool_end":
        return [{
          type: "tool_end",
          tool_name: event.toolName,
          tool_call_id: event.toolCallId,
          tool_output: event.output,
          status: event.status,
          session_id,
        }];
      case "approval_request":
        return [{ type: "approval_request", approval: event.approval, session_id }];
      case "title":
        return [{ type: "title", title: event.title, session_id }];
      case "turn_end":
        return turnEnd(event, session_id);
      default:
        return [];
    }
  };

  return {
    keepAlive: { type: "heartbeat", session_id },
    refusal: ({ code, message }) => ({ type: "error", error: message, code, session_id }),
    translate: (batch) => mergeText(batch).flatMap(({ seq, event }) => numbered(one(event), seq)),
  };
}

function turnEnd(event: TurnEvent & { type: "turn_end" }, session_id: string): unknown[] {
  if (event.finishReason === "error") {
    const error = event.error ?? { code: "internal", message: "The turn failed." };
    return [{ type: "error", error: error.message, code: error.code, session_id }];
  }
  const done = { type: "done", session_id, finish_reason: event.finishReason, usage: event.usage };
  return event.finishReason === "aborted" ? [{ type: "abort", session_id }, done] : [done];
}

/** Only the last message of an entry carries its position: resuming after it must miss nothing. */
function numbered(messages: unknown[], seq: number): WireMessage[] {
  return messages.map((data, i) => i === messages.length - 1 ? { data, seq } : { data });
}

/** Joins neighbouring deltas of the same kind and message, so that a reader that fell behind gets fewer, larger ones. */
export function mergeText(batch: readonly Logged[]): Logged[] {
  if (batch.length < 2) return batch.slice();
  const out: Logged[] = [];
  let parts: string[] = [];
  const flush = () => {
    const last = out.at(-1);
    if (parts.length > 1 && last && "text" in last.event) {
      out[out.length - 1] = { seq: last.seq, event: { ...last.event, text: parts.join("") } };
    }
    parts = [];
  };
  for (const entry of batch) {
    const last = out.at(-1);
    if (last && joins(last.event, entry.event)) {
      out[out.length - 1] = { seq: entry.seq, event: last.event };
      parts.push((entry.event as { text: string }).text);
    } else {
      flush();
      out.push(entry);
      if ("text" in entry.event) parts = [entry.event.text];
    }
  }
  flush();
  return out;
}

function joins(a: TurnEvent, b: TurnEvent): boolean {
  if (a.type !== b.type || !("text" in a) || !("text" in b) || a.messageId !== b.messageId) return false;
  return a.type !== "tool_call_delta" || a.toolCallId === (b as { toolCallId?: string }).toolCallId;
}
