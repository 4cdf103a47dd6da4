// What a wire format is: a pure function of the events of a turn.
import type { Logged } from "../../domain/event.ts";

/** One message for the wire; `seq` stands on the last message made from a log entry and becomes its SSE id. */
export interface WireMessage {
  data: unknown;
  seq?: number;
}

/**
 * A translation of one turn's log. It sees the log from its start in order, in batches of whatever is there: a reader
 * that fell behind gets larger batches, and neighbouring text in a batch becomes one message.
 */
export interface Dialect {
  translate(batch: readonly Logged[]): WireMessage[];
  /** What fills a silence; it has no place in the log. */
  keepAlive: unknown;
  /** What tells a client that it may not listen any longer; nothing follows it, and the turn does not end by it. */
  refusal(error: { code: string; message: string }): unknown;
}

/** Cuts a batch at position `after`: what a client has seen, and what it has not. A text may be cut in its middle. */
export function cutAt(batch: readonly Logged[], after: number): [Logged[], Logged[]] {
  const seen: Logged[] = [];
  const fresh: Logged[] = [];
  for (const entry of batch) {
    const { event, seq } = entry;
    // Every stream ends with its terminal event, also for a client that has got further than what is on the disk.
    if (seq <= after && event.type !== "turn_end") {
      seen.push(entry);
    } else if (
      (event.type === "text_delta" || event.type === "reasoning_delta") && seq - event.text.length < after
    ) {
      const at = event.text.length - (seq - after);
      seen.push({ seq: after, event: { ...event, text: event.text.slice(0, at).toWellFormed() } });
      fresh.push({ seq, event: { ...event, text: event.text.slice(at).toWellFormed() } });
    } else {
      fresh.push(entry);
    }
  }
  return [seen, fresh];
}
