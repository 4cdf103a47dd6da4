// Letting go of a database file that GNS3 has overwritten with a snapshot's, so that the snapshot's content stays.
import { copyFileSync, existsSync, renameSync, rmSync, statSync } from "node:fs";
import type { Database } from "./connection.ts";
import { bytesAt } from "./file_signature.ts";

/**
 * Closes `db` after `changedOutside()`. SQLite would write what it still holds of the former state into the restored
 * file: so that file is put aside first, and back afterwards. Open the database again then; it holds what the snapshot
 * held. Whatever was saved since the snapshot is gone, as with every other file of the project.
 */
export function closeRestored(db: Database): void {
  const file = db.path;
  if (existsSync(file)) {
    const wal = `${file}-wal`;
    // GNS3 overwrites what the snapshot has and leaves the rest: a -wal that is still ours belongs to the past.
    if (existsSync(wal) && statSync(wal).size > 0 && bytesAt(wal, 16, 8) !== db.walSalt) putAside(wal);
    putAside(file);
  }
  db.close();
  finishRestore(file);
}

/** Puts the snapshot's files back into their place, also after a crash in the middle of `closeRestored`. */
export function finishRestore(file: string): void {
  if (!existsSync(`${file}.restored`)) return;
  for (const name of [`${file}-wal`, `${file}-shm`]) rmSync(name, { force: true });
  if (existsSync(`${file}-wal.restored`)) renameSync(`${file}-wal.restored`, `${file}-wal`);
  renameSync(`${file}.restored`, file);
}

function putAside(path: string): void {
  copyFileSync(path, `${path}.restoring`);
  // The name that counts appears only when the copy is whole.
  renameSync(`${path}.restoring`, `${path}.restored`);
}
