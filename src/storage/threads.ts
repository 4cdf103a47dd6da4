// LangGraph's thread ids and the small numbers that stand for them in every other table. A number is never used again.
import type { Database } from "./connection.ts";

/** The number of a thread, or undefined for one without anything saved. */
export function threadNumber(db: Database, threadId: string): number | undefined {
  return db.prepare("SELECT id FROM saver_threads WHERE thread_id = ?").get(threadId)?.id as
    | number
    | undefined;
}

/** Whether a number still stands for a thread. */
export function isThread(db: Database, thread: number): boolean {
  return db.prepare("SELECT 1 FROM saver_threads WHERE id = ?").get(thread) !== undefined;
}

/** The number of a thread, which is given one if it has none. Call it inside a transaction. */
export function ensureThread(db: Database, threadId: string): number {
  const known = threadNumber(db, threadId);
  if (known !== undefined) return known;
  const row = db.prepare("INSERT INTO saver_threads (thread_id) VALUES (?) RETURNING id").get(threadId);
  return row!.id as number;
}

/** Deletes all that was saved of a thread, the Python copilot's rows included. Call it inside a transaction. */
export function deleteThread(db: Database, threadId: string): void {
  const thread = threadNumber(db, threadId);
  if (thread !== undefined) {
    for (const table of ["saver_writes", "saver_checkpoints", "saver_rows"]) {
      db.prepare(`DELETE FROM ${table} WHERE thread = ?`).run(thread);
    }
    db.prepare("DELETE FROM saver_threads WHERE id = ?").run(thread);
  }
  db.prepare("DELETE FROM python_threads WHERE thread_id = ?").run(threadId);
  // Absent in a database of our own.
  const tables = db.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('checkpoints', 'writes')",
  );
  for (const { name } of tables.all()) db.prepare(`DELETE FROM ${name} WHERE thread_id = ?`).run(threadId);
}
