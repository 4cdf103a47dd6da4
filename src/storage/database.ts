// Opens chat databases: what must be finished before, and the pragmas in the order that works.
import { Database, type DatabaseOptions } from "./connection.ts";
import { CHAT_DATABASE, damaged } from "./errors.ts";
import { refuseForeign } from "./foreign.ts";
import { finishKeeping } from "./kept.ts";
import { lockFolder } from "./lock.ts";
import { earlyDatabase, exists, guard, makePlace } from "./places.ts";
import { setPragmas } from "./pragmas.ts";
import { isWhole } from "./quick_check.ts";
import { refuseEmptied } from "./reader.ts";
import { finishRestore } from "./restored.ts";
import { CHAT_MIGRATIONS, migrate, type Migration, refuseNewer } from "./migrations.ts";

export { Database } from "./connection.ts";
export { keepThrough } from "./kept.ts";
export { closeRestored, nodeFilesMark, settled } from "./restored.ts";

/**
 * Opens the chat database of the project in `projectPath` and brings its schema up to date. The project's folder
 * must exist and lie inside `projectsDir`; only `gns3-copilot` is created in it.
 *
 * Throws `AppError`: `forbidden` outside of `projectsDir` (also through a symbolic link), `not_found` without a
 * folder, `internal` for a damaged or newer database (which is left untouched), `unavailable` for a full or
 * read-only disk, and while another server uses it.
 */
export function openProjectDatabase(projectPath: string, projectsDir: string): Database {
  const { project, folder, file } = makePlace(projectPath, projectsDir);
  const unlock = lockFolder(folder);
  try {
    guard(() => finishKeeping(file));
    guard(() => finishRestore(file));
    if (!exists(file)) takeOver(earlyDatabase(project), file);
    const db = openDatabase(file);
    db.onClose(unlock);
    return db;
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Opens the database `path` (`:memory:` for one that is gone when closed) with `migrations` applied. */
export function openDatabase(
  path: string,
  migrations: readonly Migration[] = CHAT_MIGRATIONS,
  options: Omit<DatabaseOptions, "readOnly"> = {},
): Database {
  if (path !== ":memory:" && exists(path)) {
    refuseEmptied(path, options.words);
    if (Deno.statSync(path).size > 0) examine(path, migrations, options);
  }
  const db = new Database(path, options);
  try {
    db.pragma("busy_timeout = 5000");
    refuseNewer(db, migrations, options.words);
    // Has an effect only before the first table; without it deleting would never make the file smaller.
    db.exec("PRAGMA auto_vacuum = INCREMENTAL");
    setPragmas(db);
    migrate(db, migrations, options.words);
    db.checkpoint();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Looks at an existing file without changing a byte of it. Throws when it is damaged, of a newer version or not ours.
 * A read-only connection never moves a `-wal` file into the database, not even when it is closed.
 */
function examine(path: string, migrations: readonly Migration[], options: DatabaseOptions): void {
  const { words = CHAT_DATABASE } = options;
  if (!hasHeader(path)) throw damaged(undefined, words);
  const db = new Database(path, { ...options, readOnly: true });
  try {
    db.pragma("busy_timeout = 5000");
    refuseNewer(db, migrations, words);
    if (!isWhole(db)) throw damaged(undefined, words);
    refuseForeign(db, migrations, words);
  } finally {
    db.close();
  }
}

/** Whether the file starts as SQLite's do (sqlite.org/fileformat.html, section 1.3). */
function hasHeader(path: string): boolean {
  const header = new Uint8Array(100);
  const file = Deno.openSync(path);
  try {
    if ((file.readSync(header) ?? 0) < header.length) return false;
  } finally {
    file.close();
  }
  return new TextDecoder().decode(header.subarray(0, 16)) === "SQLite format 3\0";
}

/** Copies the database of an early version, with its `-wal`, to where it belongs now. The old files stay. */
function takeOver(old: string | undefined, file: string): void {
  if (!old) return;
  guard(() => {
    // The database's name appears last: if this is cut short, the next start does it again.
    if (exists(`${old}-wal`)) Deno.copyFileSync(`${old}-wal`, `${file}-wal`);
    Deno.copyFileSync(old, `${file}.new`);
    Deno.renameSync(`${file}.new`, file);
  });
}
