// Where a message object was stored, and what it looked like then: messages are not frozen.
import type { AIMessage, BaseMessage } from "./message_codec.ts";

/** A message object's row. */
export interface Known {
  readonly thread: number;
  readonly seq: number;
  readonly id: string | undefined;
  readonly content: unknown;
  readonly kwargs: unknown;
  readonly calls: unknown;
}

/** What is to be known of a message that is row `seq` of `thread`. */
export function know(thread: number, seq: number, message: BaseMessage): Known {
  const { id, content, additional_kwargs: kwargs } = message;
  return { thread, seq, id, content, kwargs, calls: callsOf(message) };
}

/** Whether a message has not changed since. */
export function looksAs(message: BaseMessage, known: Known): boolean {
  return known.id === message.id && known.content === message.content &&
    known.kwargs === message.additional_kwargs && known.calls === callsOf(message);
}

function callsOf(message: BaseMessage): unknown {
  return message.type === "ai" ? (message as AIMessage).tool_calls : undefined;
}
