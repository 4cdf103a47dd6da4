// What is readable of a damaged chat database, put into a new one.
import type { Database, Value } from "./connection.ts";
import { type RawRow, rowsOf } from "./pages.ts";
import { original } from "./text.ts";

interface Table {
  name: string;
  columns: string;
  /**
   * What tells a row from all others, a letter a column: N a number, S a text, J a text of JSON, 0 nothing (a rowid's
   * own column), n and s one or nothing.
   */
  shape: string;
  /** Columns that older databases lack. */
  later?: string;
  rowid?: boolean;
}

const TABLES: readonly Table[] = [
  {
    name: "chat_sessions",
    columns: "id, thread_id, user_id, project_id, title, message_count, llm_calls_count, input_tokens, " +
      "output_tokens, total_tokens, last_message_at, created_at, updated_at, metadata, stats, pinned, title_source",
    shape: "0SSSSnnnnnsssss",
    later: "nn",
    rowid: true,
  },
  { name: "saver_threads", columns: "id, thread_id, next_seq", shape: "0SN", rowid: true },
  {
    name: "injected_faults",
    columns: "id, issue, title, devices, undo, note, user_id, username, injected_at, undone_at",
    shape: "0SSJJsSSSs",
    rowid: true,
  },
  { name: "saver_rows", columns: "thread, seq, kind, id, content, rest, hash", shape: "NNSsssN" },
  {
    name: "saver_checkpoints",
    columns: "thread, ns, id, parent, head, channels, metadata",
    shape: "NSSsJJJ",
  },
  {
    name: "saver_writes",
    columns: "thread, ns, checkpoint, task, idx, path, channel, value",
    shape: "NSSSNSSJ",
  },
  {
    name: "chat_turns",
    columns: "thread_id, turn_id, started_at, ended_at, finish_reason, usage, error, title, last_seq",
    shape: "SSSsssssN",
  },
  {
    name: "chat_approvals",
    columns: "id, thread_id, place, request, options, expires_at, decision",
    shape: "SSNJJSs",
  },
  {
    name: "python_threads",
    columns: "id, thread_id, checkpoint_id, messages",
    shape: "0SSN",
    rowid: true,
  },
];

/** The tables whose rows are found again; a test holds them against the schema. */
export const SALVAGED = TABLES.map(({ name, columns }) => ({ name, columns: columns.split(", ") }));

/** Fills `db`, which is new, with the rows of our tables that stand in `file` and its `-wal`. Makes no sense of them yet. */
export function salvageRows(db: Database, file: Uint8Array, wal: Uint8Array): void {
  db.transaction(() => {
    for (const row of rowsOf(file, wal)) {
      const table = TABLES.find((one) => belongs(row, one));
      if (!table) continue;
      const columns = table.columns.split(", ");
      const values = row.values.slice(0, columns.length).map((value) =>
        typeof value === "string" ? original(value) : value
      );
      if (table.rowid) values[0] = row.rowid!;
      db.prepare(
        `INSERT OR IGNORE INTO ${table.name} (${columns.slice(0, values.length).join(", ")})
         VALUES (${values.map(() => "?").join(", ")})`,
      ).run(...values as Value[]);
    }
  });
}

/** Whether a row looks like one of the table's: columns that were added later may be missing. */
function belongs({ rowid, values }: RawRow, { shape, later = "", rowid: hasRowid = false }: Table): boolean {
  const letters = shape + later;
  if ((rowid !== undefined) !== hasRowid || values.length < shape.length) return false;
  if (later === "" && values.length !== shape.length) return false;
  return values.slice(0, letters.length).every((value, i) => FITS[letters[i]!]!(value));
}

type Test = (value: RawRow["values"][number]) => boolean;
const isText: Test = (value) => typeof value === "string";
const isNumber: Test = (value) => typeof value === "number";

const FITS: Record<string, Test> = {
  "0": (value) => value === null,
  N: isNumber,
  n: (value) => value === null || isNumber(value),
  S: isText,
  s: (value) => value === null || isText(value),
  J: (value) => {
    try {
      return isText(value) && JSON.parse(String(value)) !== undefined;
    } catch {
      return false;
    }
  },
};
