// Letting go of a database file that GNS3 has overwritten with a snapshot's, so that the snapshot's content stays.
import { copyFileSync, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "./connection.ts";
import { fileSignature, GONE } from "./file_signature.ts";

/** How long a file that GNS3 may still be unpacking must have been left alone, and how long that is waited for. */
const QUIET_MS = 150;
const PATIENCE_MS = 5_000;

/**
 * Closes `db` after `changedOutside()`. SQLite would write what it still holds of the former state into the restored
 * file: so that file is put aside first, and back afterwards. Open the database again then; it holds what the snapshot
 * held. Whatever was saved since the snapshot is gone, as with every other file of the project.
 */
export function closeRestored(db: Database): void {
  const file = db.path;
  if (existsSync(file)) {
    const wal = `${file}-wal`;
    // GNS3 overwrites what the snapshot has and leaves the rest: a -wal that is still ours belongs to the past. Its
    // content would not tell: a snapshot's may be the beginning of the very same one.
    if (existsSync(wal) && statSync(wal).size > 0 && !db.ownsWal()) putAside(wal);
    putAside(file);
  }
  db.onClose(() => finishRestore(file));
  db.close();
}

/**
 * Resolves when nobody has written to the file for a moment, or when it is gone: only a whole file can be put aside.
 * After five seconds it is taken as it is.
 */
export async function settled(path: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let before = fileSignature(path); performance.now() < deadline;) {
    if (before === GONE) return;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    const now = fileSignature(path);
    if (now === before) return;
    before = now;
  }
}

/**
 * Tells one set of a project's nodes' files from another: a restore removes their folder and makes it anew, also when
 * the snapshot is older than the first chat and leaves our database as it is. Undefined when there is no such folder.
 */
export function nodeFilesMark(projectPath: string): string | undefined {
  try {
    const { ino, birthtimeMs } = statSync(join(projectPath, "project-files"));
    return `${ino}:${birthtimeMs}`;
  } catch {
    return undefined;
  }
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
