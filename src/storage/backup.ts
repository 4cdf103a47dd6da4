// A copy of a chat database at one moment, made while a server may be writing to it.
import { closeSync, existsSync, openSync, renameSync, rmSync } from "node:fs";
import { AppError } from "../domain/error.ts";
import { checkDatabase, type Health } from "./check.ts";
import type { DatabaseWords } from "./errors.ts";
import { CHAT_DATABASE } from "./errors.ts";
import { readDatabase } from "./reader.ts";

/** What is said when the copy, not the database, cannot be written. */
const COPY: DatabaseWords = { ...CHAT_DATABASE, folder: "the backup", content: "the backup" };

/**
 * Copies the database in `file` to `target`, which must not be there, and checks the copy; only its owner may read it. It
 * is one file that any SQLite opens. Throws `AppError` for a damaged database, and when the copy cannot be written; then
 * nothing is left of it.
 */
export function backupDatabase(file: string, target: string): Health {
  if (existsSync(target)) {
    throw new AppError("conflict", `${target} is there already; a backup overwrites nothing.`);
  }
  const partial = `${target}.partial`;
  try {
    rmSync(partial, { force: true });
    closeSync(openSync(partial, "wx", 0o600));
  } catch (error) {
    const { code } = error as { code?: string };
    throw new AppError(
      "unavailable",
      `The backup ${target} cannot be written (${code ?? "unknown reason"}).`,
    );
  }
  try {
    readDatabase(file, (db) => db.prepare("VACUUM INTO ?").run(partial), COPY);
    const health = checkDatabase(partial);
    if (health.problems.length > 0) throw new AppError("internal", health.problems.join(" "));
    renameSync(partial, target);
    return health;
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}
