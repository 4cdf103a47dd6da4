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
  if (usesDeltaChannels(db, thread)) return;
  const dropped: string[] = [];
  const namespaces = db.prepare("SELECT DISTINCT ns FROM saver_checkpoints WHERE thread = ?").all(thread);
  for (const { ns } of namespaces) {
    const oldest = db.prepare(
      "SELECT id FROM saver_checkpoints WHERE thread = ? AND ns = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
    ).get(thread, ns!, kept - 1)?.id;
    if (oldest === undefined) continue;
    const checkpoints = db.prepare(
      "DELETE FROM saver_checkpoints WHERE thread = ? AND ns = ? AND id < ? RETURNING channels AS json",
    ).all(thread, ns!, oldest);
    const writes = db.prepare(
      "DELETE FROM saver_writes WHERE thread = ? AND ns = ? AND checkpoint < ? RETURNING value AS json",
    ).all(thread, ns!, oldest);
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

/** LangGraph's delta channels rebuild their value from old checkpoints: pruning would lose messages without a word. */
function usesDeltaChannels(db: Database, thread: number): boolean {
  return db.prepare(
    `SELECT 1 FROM saver_checkpoints WHERE thread = ? AND instr(metadata, '"delta_writes_versioned"') > 0 LIMIT 1`,
  ).get(thread) !== undefined;
}
