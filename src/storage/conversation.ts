// The messages of a thread's newest checkpoint, all of them or a page, without the rest of the checkpoint.
import { readCheckpoint } from "./checkpoint_rows.ts";
import { type Json, visitTags } from "./codec.ts";
import type { Database } from "./connection.ts";
import type { BaseMessage } from "./message_codec.ts";
import type { MessageRows } from "./message_rows.ts";
import { parseRanges, type Run } from "./ranges.ts";

/** A part of a conversation, oldest first; `more` says whether there are older messages. */
export interface MessagePage {
  messages: BaseMessage[];
  more: boolean;
}

/** All messages of a thread, oldest first; none for an unknown thread. */
export function readMessages(db: Database, rows: MessageRows, threadId: string): BaseMessage[] {
  const found = messageRuns(db, threadId);
  return found ? rows.messages(found.thread, found.runs) : [];
}

/**
 * The newest `limit` messages, or those before the message `before`; only these are read from the disk. Undefined when
 * the thread has no message `before`.
 */
export function readMessagePage(
  db: Database,
  rows: MessageRows,
  threadId: string,
  { limit, before }: { limit: number; before?: string },
): MessagePage | undefined {
  const { thread, runs } = messageRuns(db, threadId) ?? { thread: 0, runs: [] };
  const numbers = runs.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i)
  );
  let end = numbers.length;
  if (before !== undefined) {
    const named = new Set(rows.find(thread, before));
    end = numbers.findLastIndex((seq) => named.has(seq));
  }
  if (end < 0) return undefined;
  const start = Math.max(0, end - limit);
  const page = numbers.slice(start, end).map((seq): Run => [seq, seq]);
  return { messages: rows.messages(thread, page), more: start > 0 };
}

function messageRuns(db: Database, threadId: string): { thread: number; runs: Run[] } | undefined {
  const row = readCheckpoint(db, threadId, "");
  if (!row) return undefined;
  const runs: Run[] = [];
  const { messages = null } = JSON.parse(row.channels) as Record<string, Json>;
  visitTags(messages, (tag, text) => tag === "ms" && runs.push(...parseRanges(text as string)));
  return { thread: row.thread, runs };
}
