// The SQL of checkpoints and writes, and their columns as the saver works with them.
import type { Database, Row } from "./connection.ts";

/** A saved checkpoint. `head`, `channels` and `metadata` are JSON. */
export interface CheckpointRow {
  thread: number;
  threadId: string;
  ns: string;
  id: string;
  parent: string | null;
  head: string;
  channels: string;
  metadata: string;
}

/** One write of a task; `value` is JSON. */
export interface WriteRow {
  task: string;
  idx: number;
  path: string;
  channel: string;
  value: string;
}

const COLUMNS = `c.thread, t.thread_id AS threadId, c.ns, c.id, c.parent, c.head, c.channels, c.metadata
  FROM saver_checkpoints c JOIN saver_threads t ON t.id = c.thread`;

/** The checkpoint `id` of a thread's namespace, or its newest one without an `id`. */
export function readCheckpoint(
  db: Database,
  threadId: string,
  ns: string,
  id?: string,
): CheckpointRow | undefined {
  const row = id
    ? db.prepare(`SELECT ${COLUMNS} WHERE t.thread_id = ? AND c.ns = ? AND c.id = ?`).get(threadId, ns, id)
    : db.prepare(`SELECT ${COLUMNS} WHERE t.thread_id = ? AND c.ns = ? ORDER BY c.id DESC LIMIT 1`).get(
      threadId,
      ns,
    );
  return row as unknown as CheckpointRow | undefined;
}

/** Which checkpoints there are, newest first; each filter counts only when it is given. */
export function findCheckpoints(
  db: Database,
  filter: { threadId?: string; ns?: string; id?: string; before?: string },
): { threadId: string; ns: string; id: string }[] {
  const rows: Row[] = db.prepare(
    `SELECT t.thread_id AS threadId, c.ns, c.id FROM saver_checkpoints c JOIN saver_threads t ON t.id = c.thread
     WHERE (?1 IS NULL OR t.thread_id = ?1) AND (?2 IS NULL OR c.ns = ?2)
       AND (?3 IS NULL OR c.id = ?3) AND (?4 IS NULL OR c.id < ?4)
     ORDER BY c.id DESC`,
  ).all(filter.threadId ?? null, filter.ns ?? null, filter.id ?? null, filter.before ?? null);
  return rows as unknown as { threadId: string; ns: string; id: string }[];
}

/** Saves a checkpoint in place of an earlier one with its id, whose `channels` are returned. */
export function writeCheckpoint(db: Database, row: Omit<CheckpointRow, "threadId">): string | undefined {
  const { thread, ns, id, parent, head, channels, metadata } = row;
  const save = (or: string) =>
    db.prepare(
      `INSERT OR ${or} INTO saver_checkpoints (thread, ns, id, parent, head, channels, metadata)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ).run(thread, ns, id, parent, head, channels, metadata);
  if (save("IGNORE") > 0) return undefined;
  const earlier = db.prepare("SELECT channels FROM saver_checkpoints WHERE thread = ? AND ns = ? AND id = ?")
    .get(thread, ns, id);
  save("REPLACE");
  return earlier?.channels as string | undefined;
}

/** The writes to a checkpoint, in no particular order. */
export function readWrites(db: Database, thread: number, ns: string, checkpoint: string): WriteRow[] {
  const rows = db.prepare(
    "SELECT task, idx, path, channel, value FROM saver_writes WHERE thread = ? AND ns = ? AND checkpoint = ?",
  ).all(thread, ns, checkpoint);
  return rows as unknown as WriteRow[];
}

/**
 * Saves a write. One with an index below 0 (an error, an interrupt, …) takes the place of an earlier one, any other is
 * saved only once. Returns the `value` that is not kept: the earlier one, this one, or undefined.
 */
export function writeWrite(
  db: Database,
  thread: number,
  ns: string,
  checkpoint: string,
  { task, idx, path, channel, value }: WriteRow,
): string | undefined {
  const earlier = db.prepare(
    "SELECT value FROM saver_writes WHERE thread = ? AND ns = ? AND checkpoint = ? AND task = ? AND idx = ?",
  ).get(thread, ns, checkpoint, task, idx)?.value as string | undefined;
  if (earlier !== undefined && idx >= 0) return value;
  db.prepare(
    `INSERT OR REPLACE INTO saver_writes
     (thread, ns, checkpoint, task, idx, path, channel, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(thread, ns, checkpoint, task, idx, path, channel, value);
  return earlier;
}
