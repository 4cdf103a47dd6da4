// LangGraph's thread ids and the small numbers that stand for them in every other table. A number is never used again.
import type { Database } from "./connection.ts";

/** What was found, for each database. Nobody else writes to one that is open here. */
const known = new WeakMap<Database, Map<string, number>>();

/** The number of a thread, or undefined for one without anything saved. */
export function threadNumber(db: Database, threadId: string): number | undefined {
  const numbers = numbersOf(db);
  const seen = numbers.get(threadId);
  if (seen !== undefined) return seen;
  const row = db.prepare("SELECT id FROM saver_threads WHERE thread_id = ?").get(threadId);
  if (row) numbers.set(threadId, row.id as number);
  return row?.id as number | undefined;
}

/** Whether a number still stands for a thread. */
export function isThread(db: Database, thread: number): boolean {
  return db.prepare("SELECT 1 FROM saver_threads WHERE id = ?").get(thread) !== undefined;
}

/** The number of a thread, which is given one if it has none. Call it inside a transaction. */
export function ensureThread(db: Database, threadId: string): number {
  const seen = threadNumber(db, threadId);
  if (seen !== undefined) return seen;
  const row = db.prepare("INSERT INTO saver_threads (thread_id) VALUES (?) RETURNING id").get(threadId);
  const number = row!.id as number;
  numbersOf(db).set(threadId, number);
  return number;
}

/** Deletes all that was saved of a thread, the Python copilot's rows included. Call it inside a transaction. */
export function deleteThread(db: Database, threadId: string): void {
  const thread = threadNumber(db, threadId);
  if (thread !== undefined) {
    for (const table of ["saver_writes", "saver_checkpoints", "saver_rows"]) {
      db.prepare(`DELETE FROM ${table} WHERE thread = ?`).run(thread);
    }
    db.prepare("DELETE FROM saver_threads WHERE id = ?").run(thread);
    numbersOf(db).delete(threadId);
  }
  db.prepare("DELETE FROM python_threads WHERE thread_id = ?").run(threadId);
  // Absent in a database of our own.
  const tables = db.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('checkpoints', 'writes')",
  );
  for (const { name } of tables.all()) db.prepare(`DELETE FROM ${name} WHERE thread_id = ?`).run(threadId);
}

function numbersOf(db: Database): Map<string, number> {
  let numbers = known.get(db);
  if (!numbers) {
    const empty = numbers = new Map();
    known.set(db, empty);
    // Some of them may never have been saved.
    db.onRollback(() => empty.clear());
  }
  return numbers;
}
