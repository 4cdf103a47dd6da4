// Removes checkpoints that are no longer needed, and the rows that only they referred to.
import { type Json, visitTags } from "./codec.ts";
import type { Database } from "./connection.ts";
import type { MessageRows } from "./message_rows.ts";
import { parseRanges, type Run, subtractRanges } from "./ranges.ts";

/**
 * Keeps the newest `kept` checkpoints of each namespace of a thread, with their writes. Writes of checkpoints that are
 * not saved yet stay: a task may finish before its checkpoint is written. Call it inside a transaction.
 */
export function pruneThread(db: Database, rows: MessageRows, thread: number, kept: number): void {
  const oldest = oldestKept(db, thread, kept);
  const dropped: string[] = [];
  for (const [ns, id] of oldest) {
    const checkpoints = db.prepare(
      "DELETE FROM saver_checkpoints WHERE thread = ? AND ns = ? AND id < ? RETURNING channels AS json",
    ).all(thread, ns, id);
    const writes = db.prepare(
      "DELETE FROM saver_writes WHERE thread = ? AND ns = ? AND checkpoint < ? RETURNING value AS json",
    ).all(thread, ns, id);
    for (const { json } of [...checkpoints, ...writes]) dropped.push(json as string);
  }
  deleteUnused(db, rows, thread, dropped);
}

/** Deletes the rows that `dropped` (JSON of deleted checkpoints and writes) refers to and nothing else does. */
export function deleteUnused(db: Database, rows: MessageRows, thread: number, dropped: string[]): void {
  const candidates = dropped.flatMap(runsOf);
  if (candidates.length === 0) return;
  const remaining = db.prepare(
    `SELECT channels AS json FROM saver_checkpoints WHERE thread = ?
     UNION ALL SELECT value FROM saver_writes WHERE thread = ?`,
  ).all(thread, thread);
  rows.delete(thread, subtractRanges(candidates, remaining.flatMap(({ json }) => runsOf(json as string))));
}

/** The rows that a checkpoint's channels or a write refer to. Throws `AppError` for references that nobody writes. */
export function referredRuns(json: Json): Run[] {
  const runs: Run[] = [];
  visitTags(json, (tag, value) => {
    if (tag === "m" || tag === "row") runs.push([value as number, value as number]);
    if (tag === "ms") runs.push(...parseRanges(value as string));
  });
  return runs;
}

const runsOf = (json: string) => referredRuns(JSON.parse(json) as Json);

/**
 * The oldest checkpoint to keep of each namespace that has so many. None at all for a thread with LangGraph's delta channels:
 * they rebuild their value from old checkpoints, so pruning would lose messages without a word.
 */
function oldestKept(db: Database, thread: number, kept: number): Map<string, string> {
  const oldest = new Map<string, string>();
  const counts = new Map<string, number>();
  const checkpoints = db.prepare(
    `SELECT ns, id, instr(metadata, '"delta_writes_versioned"') > 0 FROM saver_checkpoints WHERE thread = ?
     ORDER BY ns, id DESC`,
  ).arrays(thread) as [string, string, number][];
  for (const [ns, id, usesDelta] of checkpoints) {
    if (usesDelta) return new Map();
    const count = (counts.get(ns) ?? 0) + 1;
    counts.set(ns, count);
    if (count === kept) oldest.set(ns, id);
  }
  return oldest;
}
