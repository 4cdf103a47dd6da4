// Who uses a project's chat database: one server at a time, because each trusts what it has in memory.
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AppError, errorText } from "../domain/error.ts";
import { storageError } from "./errors.ts";

/** An empty file that stays. Only the operating system's lock on it counts, which ends with the process however that ends. */
export const LOCK_FILE = "lock";

/**
 * Takes the folder of a project's database for this server; returns how to let go of it. Copies of the folder are not
 * locked. Throws `unavailable` when another server (or another one in this process) has it, or it cannot be written.
 */
export function lockFolder(folder: string): () => void {
  const path = join(folder, LOCK_FILE);
  let db: DatabaseSync | undefined;
  try {
    // Whoever holds it writes nothing to it: this is somebody else's file. It is not emptied, because a process that
    // closes a file loses its locks on it.
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) rmSync(path);
    db = new DatabaseSync(path);
    db.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    // Of a file that may only be read, SQLite takes a reader's lock without a word. What is changed here is never written.
    db.exec("PRAGMA user_version = 1");
    const held = db;
    return () => held.close();
  } catch (error) {
    db?.close();
    throw /database is locked/i.test(errorText(error)) ? inUse() : storageError(error);
  }
}

function inUse(): AppError {
  return new AppError(
    "unavailable",
    "Another GNS3 Copilot server is using this project's chats. Use that one, or stop it and try again.",
    { retryAfter: 5 },
  );
}
