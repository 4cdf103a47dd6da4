// Reading a database that a server may be using, without leaving a trace.
import { existsSync, rmSync, statSync } from "node:fs";
import { Database } from "./connection.ts";
import type { DatabaseWords } from "./errors.ts";

/** Runs `work` with the database in `file`. Throws what `work` throws, and `AppError` for damage. */
export function readDatabase<T>(file: string, work: (db: Database) => T, words?: DatabaseWords): T {
  const wal = `${file}-wal`;
  const closed = !existsSync(wal);
  try {
    using db = new Database(file, { readOnly: true, words });
    db.pragma("busy_timeout = 5000");
    return work(db);
  } finally {
    // A connection that only reads makes these files and cannot remove them.
    if (closed && existsSync(wal) && statSync(wal).size === 0) {
      for (const end of ["-wal", "-shm"]) rmSync(file + end, { force: true });
    }
  }
}
