// Deleting a session of the Python copilot: it may be a gigabyte, and nobody else is to wait for that.
import type { Database } from "../connection.ts";
import { hasPythonTables, newestCheckpoint } from "./rows.ts";

/** So much is deleted at once: about a tenth of a second. */
const BYTES_AT_ONCE = 2_000_000;
const ROWS_AT_ONCE = 1_000;

/**
 * Deletes what Python has saved of a thread but its newest checkpoint, bit by bit, and lets others run in between. The
 * conversation stays readable until `ChatSessionsRepository.delete` deletes the rest, so that a crash loses nothing.
 * Throws `AppError` when the database cannot be written, or was closed meanwhile.
 */
export async function deleteOldRows(db: Database, threadId: string): Promise<void> {
  if (!hasPythonTables(db)) return;
  const newest = newestCheckpoint(db, threadId);
  if (newest === undefined) return;
  for (const [table, value] of [["writes", "value"], ["checkpoints", "checkpoint"]]) {
    const select = `SELECT rowid AS id, length(${value}) AS bytes FROM ${table}
      WHERE thread_id = ? AND checkpoint_id <> ? LIMIT ${ROWS_AT_ONCE}`;
    // Prepared anew each time: the database may have moved meanwhile.
    for (let rows; (rows = db.prepare(select).all(threadId, newest)).length > 0;) {
      db.transaction(() => {
        let bytes = 0;
        for (const row of rows) {
          db.prepare(`DELETE FROM ${table} WHERE rowid = ?`).run(row.id!);
          if ((bytes += Number(row.bytes)) > BYTES_AT_ONCE) break;
        }
      });
      // Deleted pages are overwritten, by way of the -wal file.
      db.checkpoint();
      await new Promise((resolve) => setTimeout(resolve));
    }
  }
}
