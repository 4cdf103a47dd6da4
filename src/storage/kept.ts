// Keeping a database through a restore of a snapshot: GNS3 overwrites the project's files, the chats among them.
import { existsSync, renameSync, rmSync } from "node:fs";
import { AppError } from "../domain/error.ts";
import { Database } from "./connection.ts";
import { setPragmas } from "./pragmas.ts";

/**
 * Runs `restore`, in which GNS3 writes the snapshot's database into the place of this one. Meanwhile the database is
 * under another name, in use as always; afterwards it takes its place back. Whatever `restore` throws is thrown, after
 * that. Only one at a time.
 */
export async function keepThrough<T>(db: Database, restore: () => Promise<T>): Promise<T> {
  const file = db.path;
  const kept = keptName(file);
  if (db.changedOutside()) {
    throw new AppError(
      "conflict",
      "A snapshot of this project has just been restored. Try again in a moment.",
    );
  }
  db.moveTo(kept, () => renameSync(file, kept), setPragmas);
  try {
    return await restore();
  } finally {
    // When it was closed meanwhile, the next opening does the same.
    if (db.open) db.moveTo(file, () => replace(file, kept), setPragmas);
    else finishKeeping(file);
  }
}

/** Puts a kept database back into its place, also after a crash in the middle of `keepThrough`. */
export function finishKeeping(file: string): void {
  const kept = keptName(file);
  if (!existsSync(kept)) return;
  // What a crash has left in its -wal file belongs to it under this name only.
  const db = new Database(kept);
  try {
    setPragmas(db);
  } finally {
    db.close();
  }
  replace(file, kept);
}

function replace(file: string, kept: string): void {
  for (const end of ["-wal", "-shm"]) rmSync(file + end, { force: true });
  renameSync(kept, file);
}

const keptName = (file: string) => `${file}.kept`;
