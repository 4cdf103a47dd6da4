// One prepared statement: values in and out, errors as sentences.
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { type DatabaseWords, storageError } from "./errors.ts";
import { original, storable } from "./text.ts";

/** A value as SQLite takes and gives it. */
export type Value = SQLInputValue;
/** A row by column name. */
export type Row = Record<string, Value>;

/** A prepared statement. Any text comes back as it was. All methods throw `AppError` for damage, a full disk and the like. */
export interface Statement {
  get(...values: Value[]): Row | undefined;
  all(...values: Value[]): Row[];
  /** As `all`, rows as arrays of columns: less work for thousands of rows. */
  arrays(...values: Value[]): Value[][];
  /** Runs it and answers the number of changed rows. */
  run(...values: Value[]): number;
}

/** Runs `work`; what SQLite complains about becomes a sentence. */
export type Guard = <T>(work: () => T) => T;

/** A guard whose sentences use these words. */
export function guardWith(words: DatabaseWords): Guard {
  return (work) => {
    try {
      return work();
    } catch (error) {
      throw storageError(error, words);
    }
  };
}

/** The statement that `prepare` makes, when it is first used. Each `run` goes through `writing`. */
export function wrap(prepare: () => StatementSync, guard: Guard, writing: Guard): Statement {
  let rows: StatementSync | undefined;
  let columns: StatementSync | undefined;
  const byName = () => rows ??= prepare();
  const byColumn = () => {
    if (!columns) {
      columns = prepare();
      // Deno has this method of Node's, its type declarations do not.
      (columns as unknown as { setReturnArrays(on: boolean): void }).setReturnArrays(true);
    }
    return columns;
  };
  return {
    get: (...values) => {
      const row = guard(() => byName().get(...values.map(toStored)) as Row | undefined);
      return row && toOriginals(row);
    },
    all: (...values) => guard(() => byName().all(...values.map(toStored)) as Row[]).map(toOriginals),
    arrays: (...values) => {
      const rows = guard(() => byColumn().all(...values.map(toStored)) as unknown as Value[][]);
      for (const row of rows) toOriginals(row as unknown as Row);
      return rows;
    },
    run: (...values) => {
      const { changes } = writing(() => guard(() => byName().run(...values.map(toStored))));
      return Number(changes);
    },
  };
}

function toStored(value: Value): Value {
  return typeof value === "string" ? storable(value) : value;
}

/** Changes the row itself, by name or by column: it is nobody else's yet. */
function toOriginals(row: Row): Row {
  for (const key in row) {
    const value = row[key];
    if (typeof value === "string") row[key] = original(value);
  }
  return row;
}
