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
import type { Database } from "./connection.ts";
import { openDatabase } from "./database.ts";
import { readDatabase } from "./reader.ts";
import { mend, salvageRows } from "./salvage.ts";
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
    salvageRows(db, readFileSync(file), existing(`${file}-wal`));
    copyForeignTables(db, file);
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

/** The rows of tables that are not ours, the Python copilot's: as far as SQLite reads them. */
function copyForeignTables(db: Database, file: string): void {
  try {
    readDatabase(file, (old) => {
      const tables = old.prepare(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL",
      );
      for (const { name, sql } of tables.all()) {
        const known = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name!);
        if (!known && !String(name).startsWith("sqlite_")) copyTable(old, db, String(name), String(sql));
      }
    });
  } catch (error) {
    // Not even the list of tables can be read.
    if (!(error instanceof AppError)) throw error;
  }
}

function copyTable(from: Database, to: Database, name: string, sql: string): void {
  to.transaction(() => {
    to.exec(sql);
    const table = `"${name.replaceAll('"', '""')}"`;
    try {
      for (const row of from.prepare(`SELECT * FROM ${table}`).arrays()) {
        to.prepare(`INSERT INTO ${table} VALUES (${row.map(() => "?").join(", ")})`).run(...row);
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  });
}

function existing(path: string): Uint8Array {
  return existsSync(path) ? readFileSync(path) : new Uint8Array();
}

function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
}
