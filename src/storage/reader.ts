// Reading a database that a server may be using, without leaving a trace.
import { existsSync, rmSync, statSync } from "node:fs";
import { Database } from "./connection.ts";
import { damaged, type DatabaseWords } from "./errors.ts";

/** Refuses a file that lost all its bytes beside a `-wal` file that has some: SQLite would throw those away. */
export function refuseEmptied(file: string, words?: DatabaseWords): void {
  const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size;
  if (size(file) === 0 && (size(`${file}-wal`) ?? 0) > 0) throw damaged(undefined, words);
}

/** Runs `work` with the database in `file`. Throws what `work` throws, and `AppError` for damage. */
export function readDatabase<T>(file: string, work: (db: Database) => T, words?: DatabaseWords): T {
  const wal = `${file}-wal`;
  const closed = !existsSync(wal);
  refuseEmptied(file, words);
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
