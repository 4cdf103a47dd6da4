// This server's own database, in the state directory: model configurations, and what was spent on models.
import { join } from "node:path";
import { AppError } from "../domain/error.ts";
import type { Database } from "./connection.ts";
import { openDatabase } from "./database.ts";
import { type DatabaseWords, storageError } from "./errors.ts";
import type { Migration } from "./migrations.ts";

const FILE = "gns3_copilot.db";

const STATE_DATABASE: DatabaseWords = {
  database: `This server's database ${FILE}`,
  file: FILE,
  content: "this server's state",
  folder: "the state directory (--state-dir)",
  repair: "put a backup in its place, or move it away to begin with an empty one",
  reopen: "Try again in a moment.",
};

/** A step's position in the list is its version in `user_version`. Never change a published one: add another. */
const STATE_MIGRATIONS: readonly Migration[] = [(db) =>
  db.exec(`
    CREATE TABLE model_configs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      config_id TEXT NOT NULL UNIQUE,
      owner_kind TEXT NOT NULL CHECK (owner_kind IN ('user', 'group')),
      owner_id TEXT NOT NULL,
      name TEXT NOT NULL,
      model_type TEXT NOT NULL,
      settings TEXT NOT NULL,
      api_key BLOB,
      key_set_by TEXT,
      version INTEGER NOT NULL,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX idx_model_configs_owner ON model_configs (owner_kind, owner_id);

    CREATE TABLE model_defaults (
      owner_kind TEXT NOT NULL,
      owner_id TEXT NOT NULL,
      config_id TEXT NOT NULL,
      PRIMARY KEY (owner_kind, owner_id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE token_usage (
      owner_kind TEXT NOT NULL,
      owner_id TEXT NOT NULL,
      day TEXT NOT NULL,
      tokens INTEGER NOT NULL,
      PRIMARY KEY (owner_kind, owner_id, day)
    ) STRICT, WITHOUT ROWID;
  `)];

/**
 * Opens the database in `stateDir` (`:memory:` for one that is gone when closed). Throws `AppError` for a damaged or
 * newer one, which is left untouched, for a directory that cannot be written, and `not_found` for one that `must exist`.
 */
export function openStateDatabase(stateDir: string, which?: "must exist"): Database {
  const options = { shared: true, words: STATE_DATABASE };
  if (stateDir === ":memory:") return openDatabase(stateDir, STATE_MIGRATIONS, options);
  const path = join(stateDir, FILE);
  try {
    // Made here, because SQLite would let everybody read it.
    Deno.openSync(path, { create: which !== "must exist", write: true, mode: 0o600 }).close();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound && which) {
      throw new AppError(
        "not_found",
        `There is no ${FILE} in the state directory. Name the server's with --state-dir.`,
      );
    }
    throw storageError(error, STATE_DATABASE);
  }
  return openDatabase(path, STATE_MIGRATIONS, options);
}
