// Whether a database file is one of this program's, told by its tables before anything is written to it.
import { AppError } from "../domain/error.ts";
import { Database } from "./connection.ts";
import type { DatabaseWords } from "./errors.ts";
import { migrate, type Migration } from "./migrations.ts";

/** Columns of each table, by its name. */
type Tables = Map<string, Set<string>>;

/** What `migrations` make of an empty database. */
const known = new WeakMap<readonly Migration[], Tables>();

/**
 * Refuses a database that `migrations` cannot bring up to date, or that is up to date by its number and lacks what belongs
 * to that: some other program's. Reads only; the migrations are tried on an empty copy in memory.
 */
export function refuseForeign(
  db: Database,
  migrations: readonly Migration[],
  { database }: DatabaseWords,
): void {
  const tables = upToDate(db, migrations);
  for (const [name, columns] of expected(migrations)) {
    const found = tables?.get(name);
    if (found && [...columns].every((column) => found.has(column))) continue;
    throw new AppError(
      "internal",
      `${database} is not one of this program: its tables are others. It was left untouched; move it away to begin anew.`,
    );
  }
}

function upToDate(db: Database, migrations: readonly Migration[]): Tables | undefined {
  const version = Number(db.pragma("user_version"));
  if (version === migrations.length) return tablesOf(db);
  using trial = new Database(":memory:");
  const schema = db.prepare(
    "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
  );
  try {
    for (const { sql } of schema.all()) trial.exec(String(sql));
    trial.exec(`PRAGMA user_version = ${version}`);
    migrate(trial, migrations);
  } catch {
    return undefined;
  }
  return tablesOf(trial);
}

function expected(migrations: readonly Migration[]): Tables {
  let tables = known.get(migrations);
  if (!tables) {
    using fresh = new Database(":memory:");
    migrate(fresh, migrations);
    tables = tablesOf(fresh);
    known.set(migrations, tables);
  }
  return tables;
}

function tablesOf(db: Database): Tables {
  const rows = db.prepare(
    `SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
     WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
  ).arrays();
  const tables: Tables = new Map();
  for (const [table, column] of rows) {
    const columns = tables.get(String(table)) ?? new Set();
    tables.set(String(table), columns.add(String(column)));
  }
  return tables;
}
