// Recovers what is readable of a damaged chat database. The damaged file stays beside the new one.
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename } from "node:path";
import { AppError } from "../domain/error.ts";
import { checkDatabase, type Health } from "./check.ts";
import { copyForeignTables } from "./copy_tables.ts";
import { openDatabase } from "./database.ts";
import { mend } from "./mend.ts";
import { salvageRows } from "./salvage.ts";
import { giveToOwnerOf } from "./visit.ts";

/** What became of a database that was repaired. */
export interface Repair {
  /** What is in the new one. */
  health: Health;
  /** The damaged file's name now. */
  damaged: string;
}

/**
 * Puts a new database with what is readable into the place of `file`, whose folder must be locked. Until the new one is
 * whole the damaged one stays in its place. Throws `AppError` when the disk is full or cannot be written.
 */
export function repairDatabase(file: string, now: Date): Repair {
  const fresh = `${file}.repaired`;
  removeDatabase(fresh);
  {
    using db = openDatabase(fresh);
    const [pages, wal] = [readFileSync(file), existing(`${file}-wal`)];
    salvageRows(db, pages, wal);
    copyForeignTables(db, file, pages, wal);
    mend(db);
  }
  const health = checkDatabase(fresh);
  if (health.problems.length > 0) {
    throw new AppError(
      "internal",
      `The repair did not succeed. Nothing was changed. ${health.problems.join(" ")}`,
    );
  }
  chmodSync(fresh, statSync(file).mode);
  giveToOwnerOf(file, fresh);
  const damaged = `${file}.damaged-${now.toISOString().replace(/[-:.]/g, "")}`;
  // Copies first: at any moment there is a whole database or the damaged one at the name that counts.
  copyFileSync(file, damaged, constants.COPYFILE_EXCL);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${damaged}-wal`);
  for (const end of ["-wal", "-shm"]) rmSync(file + end, { force: true });
  renameSync(fresh, file);
  return { health, damaged: basename(damaged) };
}

/** Makes a whole database as small as it can be, and returns the bytes before and after. */
export function compactDatabase(file: string): { before: number; after: number } {
  const size = () => statSync(file).size;
  const before = size();
  using db = openDatabase(file);
  db.exec("PRAGMA auto_vacuum = INCREMENTAL");
  db.exec("VACUUM");
  db.checkpoint();
  return { before, after: size() };
}

function existing(path: string): Uint8Array {
  return existsSync(path) ? readFileSync(path) : new Uint8Array();
}

function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
}
