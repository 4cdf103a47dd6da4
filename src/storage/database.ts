// Finds and opens chat databases: which file, whether it may be touched, and the pragmas in the order that works.
import { join, sep } from "node:path";
import { AppError } from "../domain/error.ts";
import { Database, type DatabaseOptions } from "./connection.ts";
import { CHAT_DATABASE, damaged, DATABASE_NAME, storageError } from "./errors.ts";
import { finishKeeping } from "./kept.ts";
import { setPragmas } from "./pragmas.ts";
import { matchSessions } from "./python/sessions.ts";
import { finishRestore } from "./restored.ts";
import { CHAT_MIGRATIONS, migrate, type Migration, refuseNewer } from "./migrations.ts";

export { Database } from "./connection.ts";
export { keepThrough } from "./kept.ts";
export { closeRestored, nodeFilesMark, settled } from "./restored.ts";

const FOLDER = "gns3-copilot";
const FILE = "copilot_checkpoints.db";
// Seed 001's folder and the names its database had.
const OLD_FOLDER = ".gns3-copilot";
const OLD_FILES = [FILE, "checkpoint.db"];

/**
 * Opens the chat database of the project in `projectPath` and brings its schema up to date. The project's folder
 * must exist and lie inside `projectsDir`; only `gns3-copilot` is created in it.
 *
 * Throws `AppError`: `forbidden` outside of `projectsDir` (also through a symbolic link), `not_found` without a
 * folder, `internal` for a damaged or newer database (which is left untouched), `unavailable` for a full or
 * read-only disk.
 */
export function openProjectDatabase(projectPath: string, projectsDir: string): Database {
  const root = resolve(
    projectsDir,
    () => new AppError("unavailable", "The projects directory does not exist. Check --projects-dir."),
  );
  const project = resolve(projectPath, () =>
    new AppError(
      "not_found",
      "The folder of this project does not exist on this machine. This server must run where GNS3 keeps its projects.",
    ));
  if (!inside(project, root)) throw outside();
  const folder = ownFolder(project);
  const file = join(folder, FILE);
  for (
    const end of [
      "",
      "-wal",
      "-shm",
      "-journal",
      ".restored",
      "-wal.restored",
      ".kept",
      ".kept-wal",
      ".kept-shm",
    ]
  ) {
    refuseForeign(file + end);
  }
  guard(() => finishKeeping(file));
  guard(() => finishRestore(file));
  if (!exists(file)) takeOver(join(project, OLD_FOLDER), project, file);
  const db = openDatabase(file);
  try {
    matchSessions(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens the database `path` (`:memory:` for one that is gone when closed) with `migrations` applied. */
export function openDatabase(
  path: string,
  migrations: readonly Migration[] = CHAT_MIGRATIONS,
  options: Omit<DatabaseOptions, "readOnly"> = {},
): Database {
  if (path !== ":memory:" && exists(path) && Deno.statSync(path).size > 0) examine(path, migrations, options);
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
 * Looks at an existing file without changing a byte of it. Throws when it is damaged or of a newer version.
 * A read-only connection never moves a `-wal` file into the database, not even when it is closed.
 */
function examine(path: string, migrations: readonly Migration[], options: DatabaseOptions): void {
  const { words = CHAT_DATABASE } = options;
  if (!hasHeader(path)) throw damaged(undefined, words);
  const db = new Database(path, { ...options, readOnly: true });
  try {
    db.pragma("busy_timeout = 5000");
    refuseNewer(db, migrations, words);
    if (db.pragma("quick_check(1)") !== "ok") throw damaged(undefined, words);
  } finally {
    db.close();
  }
}

/** Whether the file starts as SQLite's do (sqlite.org/fileformat.html, section 1.3). */
function hasHeader(path: string): boolean {
  const header = new Uint8Array(100);
  using file = Deno.openSync(path);
  if ((file.readSync(header) ?? 0) < header.length) return false;
  return new TextDecoder().decode(header.subarray(0, 16)) === "SQLite format 3\0";
}

/** The `gns3-copilot` folder of a project, created when it is missing. */
function ownFolder(project: string): string {
  const folder = join(project, FOLDER);
  if (!exists(folder)) guard(() => Deno.mkdirSync(folder));
  const real = resolve(folder, outside);
  if (!inside(real, project)) throw outside();
  if (!Deno.statSync(real).isDirectory) {
    throw new AppError("unavailable", `In this project's folder ${FOLDER} is a file; it must be a folder.`);
  }
  return real;
}

/** Refuses what is not a plain file of ours: a link or a device in its place would have SQLite write elsewhere. */
function refuseForeign(path: string): void {
  if (!exists(path)) return;
  const found = Deno.lstatSync(path);
  if (found.isSymlink) {
    throw new AppError(
      "forbidden",
      `In this project's folder ${DATABASE_NAME} is a symbolic link, which could lead out of the projects directory ` +
        "(--projects-dir). Put the file itself there.",
    );
  }
  if (!found.isFile) {
    throw new AppError("unavailable", `In this project's folder ${DATABASE_NAME} is not a file.`);
  }
}

/** Copies the database of an early version, with its `-wal`, to where it belongs now. The old files stay. */
function takeOver(oldFolder: string, project: string, file: string): void {
  const old = OLD_FILES.map((name) => join(oldFolder, name)).find(exists);
  if (!old) return;
  for (const path of [old, `${old}-wal`]) {
    if (exists(path) && !inside(resolve(path, outside), project)) throw outside();
  }
  guard(() => {
    // The database's name appears last: if this is cut short, the next start does it again.
    if (exists(`${old}-wal`)) Deno.copyFileSync(`${old}-wal`, `${file}-wal`);
    Deno.copyFileSync(old, `${file}.new`);
    Deno.renameSync(`${file}.new`, file);
  });
}

/** The path without symbolic links, or `refusal()` where there is none. */
function resolve(path: string, refusal: () => AppError): string {
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    // The narrowed permissions of the server refuse every path outside of what it was given.
    throw error instanceof Deno.errors.NotCapable ? outside() : refusal();
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw storageError(error);
  }
}

function inside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function guard(work: () => void): void {
  try {
    work();
  } catch (error) {
    throw storageError(error);
  }
}

function outside(): AppError {
  return new AppError(
    "forbidden",
    "This project's folder is outside of the projects directory of this server. Check --projects-dir.",
  );
}
