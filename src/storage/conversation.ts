// The messages of a thread's newest checkpoint, without the rest of the checkpoint.
import { readCheckpoint } from "./checkpoint_rows.ts";
import { type Json, visitTags } from "./codec.ts";
import type { Database } from "./connection.ts";
import type { BaseMessage } from "./message_codec.ts";
import type { MessageRows } from "./message_rows.ts";
import { parseRanges, type Run } from "./ranges.ts";

/** All messages of a thread, oldest first; none for an unknown thread. */
export function readMessages(db: Database, rows: MessageRows, threadId: string): BaseMessage[] {
  const found = messageRuns(db, threadId);
  return found ? rows.messages(found.thread, found.runs) : [];
}

/** How many messages `readMessages` gives, without reading one. */
export function countMessages(db: Database, threadId: string): number {
  const runs = messageRuns(db, threadId)?.runs ?? [];
  return runs.reduce((count, [first, last]) => count + last - first + 1, 0);
}

function messageRuns(db: Database, threadId: string): { thread: number; runs: Run[] } | undefined {
  const row = readCheckpoint(db, threadId, "");
  if (!row) return undefined;
  const runs: Run[] = [];
  const { messages = null } = JSON.parse(row.channels) as Record<string, Json>;
  visitTags(messages, (tag, text) => tag === "ms" && runs.push(...parseRanges(text as string)));
  return { thread: row.thread, runs };
}
