// What every connection to a chat database is set to.
import type { Database } from "./connection.ts";

/** The pragmas of a connection, in the order that works. */
export function setPragmas(db: Database): void {
  // Before WAL: switching to it may have to wait for another program.
  db.pragma("busy_timeout = 5000");
  db.pragma("journal_mode = WAL");
  // A power cut costs the last changes, never the database; `durably` is for what it must not cost.
  db.exec("PRAGMA synchronous = NORMAL");
  db.pragma("journal_size_limit = 1048576");
  // What a user deletes must not stay readable in the file.
  db.pragma("secure_delete = ON");
  // Only `Database` moves the -wal file, so that it notices when somebody else changes the file.
  db.pragma("wal_autocheckpoint = 0");
}
