// Tables of other programs in a damaged database: the Python copilot's, and whatever else somebody keeps there.
import { AppError } from "../domain/error.ts";
import type { Database, Value } from "./connection.ts";
import { rowsOf } from "./pages.ts";
import { salvagePython } from "./python/salvage.ts";
import { readDatabase } from "./reader.ts";

/**
 * Copies the tables of `file` that `db` lacks, as far as they can be read: row by row where SQLite does, Python's from
 * the bytes of the pages where it does not. `pages` and `wal` are the bytes of the file and of its `-wal` file.
 */
export function copyForeignTables(db: Database, file: string, pages: Uint8Array, wal: Uint8Array): void {
  if (!copyReadable(db, file)) salvagePython(db, rowsOf(pages, wal));
}

/** Whether all of it could be read. */
function copyReadable(db: Database, file: string): boolean {
  let whole = true;
  try {
    readDatabase(file, (old) => {
      const tables = old.prepare(
        `SELECT t.name, t.wr, s.sql FROM pragma_table_list t JOIN sqlite_schema s ON s.name = t.name
         WHERE t.schema = 'main' AND t.type = 'table' AND s.sql IS NOT NULL`,
      );
      for (const { name, wr, sql } of tables.all()) {
        const known = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name!);
        if (known || String(name).startsWith("sqlite_")) continue;
        db.transaction(() => {
          db.exec(String(sql));
          whole = copyRows(old, db, `"${String(name).replaceAll('"', '""')}"`, wr === 1) && whole;
        });
      }
    });
  } catch (error) {
    // Not even the list of tables can be read.
    if (!(error instanceof AppError)) throw error;
    return false;
  }
  return whole;
}

/** Copies the rows that can be read, one after the other: together they may be more than memory holds. */
function copyRows(from: Database, to: Database, table: string, withoutRowid: boolean): boolean {
  const insert = (row: Value[]) =>
    to.prepare(`INSERT INTO ${table} VALUES (${row.map(() => "?").join(", ")})`).run(...row);
  const readable = (read: () => Value[][]): Value[][] | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return undefined;
    }
  };
  if (withoutRowid) {
    const rows = readable(() => from.prepare(`SELECT * FROM ${table}`).arrays());
    for (const row of rows ?? []) insert(row);
    return rows !== undefined;
  }
  const ids = readable(() => from.prepare(`SELECT rowid FROM ${table}`).arrays());
  let whole = ids !== undefined;
  for (const [id] of ids ?? []) {
    const rows = readable(() => from.prepare(`SELECT * FROM ${table} WHERE rowid = ?`).arrays(id!));
    for (const row of rows ?? []) insert(row);
    whole &&= rows !== undefined;
  }
  return whole;
}
