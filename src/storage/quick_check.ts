// Whether a database can be used, before anything of it is changed.
import type { Database } from "./connection.ts";

/** The Python copilot's tables: a gigabyte is common, and what cannot be read in them costs one conversation. */
const PYTHON_TABLES = ["checkpoints", "writes"];

/** Whether SQLite finds the database whole. Python's checkpoints are left out: they are checked when they are read. */
export function isWhole(db: Database): boolean {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0").all()
    .map(({ name }) => String(name));
  if (!tables.includes(PYTHON_TABLES[0]!)) return db.pragma("quick_check(1)") === "ok";
  return tables.filter((name) => !PYTHON_TABLES.includes(name))
    .every((name) => db.pragma(`quick_check("${name.replaceAll('"', '""')}")`) === "ok");
}
