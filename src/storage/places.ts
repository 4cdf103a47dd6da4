// Where a project's chat database is, and whether it may be touched: nothing here follows a link out of the project.
import { join, sep } from "node:path";
import { AppError } from "../domain/error.ts";
import { DATABASE_NAME, storageError } from "./errors.ts";
import { LOCK_FILE } from "./lock.ts";

const FOLDER = "gns3-copilot";
const FILE = "copilot_checkpoints.db";
// Seed 001's folder and the names its database had.
const OLD_FOLDER = ".gns3-copilot";
const OLD_FILES = [FILE, "checkpoint.db"];
/** What may stand behind the database's name. */
const ENDINGS = [
  ...["", "-wal", "-shm", "-journal", ".new", ".repaired"],
  ...[".restored", "-wal.restored", ".restoring", "-wal.restoring"],
  ...[".kept", ".kept-wal", ".kept-shm", ".kept-journal"],
];

/** A project's folders and the file of its database, as real paths. */
export interface Place {
  project: string;
  folder: string;
  file: string;
}

/**
 * Where the database of the project in `projectPath` is or will be; its folder is created when it is missing. Throws
 * `AppError`: `not_found` without the project's folder, `forbidden` outside of `projectsDir` and for links, `unavailable`
 * when something else stands in the way.
 */
export function makePlace(projectPath: string, projectsDir: string): Place {
  const project = projectFolder(projectPath, projectsDir);
  const folder = join(project, FOLDER);
  if (!exists(folder)) guard(() => Deno.mkdirSync(folder));
  return placeIn(project, folder);
}

/** As `makePlace`, for looking only: undefined when the project has no chat database. */
export function findPlace(projectPath: string, projectsDir: string): Place | undefined {
  const project = projectFolder(projectPath, projectsDir);
  const folder = join(project, FOLDER);
  if (!exists(folder)) return undefined;
  const place = placeIn(project, folder);
  return ["", ".kept", ".restored"].some((end) => exists(place.file + end)) ? place : undefined;
}

/** The database of an early version, where a project has one. Throws as `makePlace` does. */
export function earlyDatabase(project: string): string | undefined {
  const folder = join(project, OLD_FOLDER);
  if (!exists(folder)) return undefined;
  refuseLink(folder, OLD_FOLDER);
  if (!Deno.statSync(folder).isDirectory) return undefined;
  const old = OLD_FILES.map((name) => join(folder, name)).find(exists);
  if (old) { for (const path of [old, `${old}-wal`]) refuseForeign(path, `${OLD_FOLDER}'s database`); }
  return old;
}

/** Whether there is anything at `path`, a link that leads nowhere included. */
export function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw storageError(error);
  }
}

/** Runs `work`; what the system refuses becomes a sentence. */
export function guard<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storageError(error);
  }
}

function projectFolder(projectPath: string, projectsDir: string): string {
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
  return project;
}

function placeIn(project: string, folder: string): Place {
  const real = resolve(folder, outside);
  if (!inside(real, project)) throw outside();
  if (!Deno.statSync(real).isDirectory) {
    throw new AppError("unavailable", `In this project's folder ${FOLDER} is a file; it must be a folder.`);
  }
  const file = join(real, FILE);
  refuseForeign(join(real, LOCK_FILE), `${FOLDER}/${LOCK_FILE}`);
  for (const end of ENDINGS) refuseForeign(file + end, DATABASE_NAME + end);
  return { project, folder: real, file };
}

/** Refuses what is not a plain file of ours: a link or a device in its place would have SQLite write elsewhere. */
function refuseForeign(path: string, name: string): void {
  if (!exists(path)) return;
  refuseLink(path, name);
  if (!Deno.lstatSync(path).isFile) {
    throw new AppError("unavailable", `In this project's folder ${name} is not a file.`);
  }
}

function refuseLink(path: string, name: string): void {
  if (!Deno.lstatSync(path).isSymlink) return;
  throw new AppError(
    "forbidden",
    `In this project's folder ${name} is a symbolic link, which could lead out of the projects directory ` +
      "(--projects-dir). Put what it leads to there.",
  );
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

function inside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function outside(): AppError {
  return new AppError(
    "forbidden",
    "This project's folder is outside of the projects directory of this server. Check --projects-dir.",
  );
}
