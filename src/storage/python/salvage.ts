// The Python copilot's rows, found again in the pages of a file whose tables cannot be read in order any more.
import type { Database, Value } from "../connection.ts";
import type { RawRow } from "../pages.ts";

/** LangGraph's tables, as its saver for SQLite makes them. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS checkpoints (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
  );
  CREATE TABLE IF NOT EXISTS writes (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL,
    task_path TEXT NOT NULL DEFAULT '', idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
  );
`;

const WRITE_COLUMNS = "thread_id, checkpoint_ns, checkpoint_id, task_id";

/** How rows look: T text, N number, b bytes or text or nothing, t text or nothing. Older savers had no `task_path`. */
const SHAPES = [
  {
    shape: "TTTttbb",
    into:
      "checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)",
  },
  { shape: "TTTTTNTtb", into: `writes (${WRITE_COLUMNS}, task_path, idx, channel, type, value)` },
  { shape: "TTTTNTtb", into: `writes (${WRITE_COLUMNS}, idx, channel, type, value)` },
  { shape: "TTTTNTtbT", into: `writes (${WRITE_COLUMNS}, idx, channel, type, value, task_path)` },
];

/** What stands in the column `type`; other tables have other texts in its place. */
const TYPES = ["msgpack", "json", "null", "bytes", "bytearray", null];

/**
 * Puts those of Python's rows among `rows` into `db` that are missing there, for sessions that it has: what stands in free
 * pages may belong to a deleted one.
 */
export function salvagePython(db: Database, rows: Iterable<RawRow>): void {
  db.transaction(() => {
    const sessions = new Set(db.prepare("SELECT thread_id FROM chat_sessions").arrays().map(([id]) => id));
    for (const { rowid, values } of rows) {
      const found = rowid === undefined ? undefined : SHAPES.find(({ shape }) => fits(values, shape));
      if (!found || !sessions.has(values[0] as string)) continue;
      db.exec(SCHEMA);
      const places = values.map(() => "?").join(", ");
      db.prepare(`INSERT OR IGNORE INTO ${found.into} VALUES (${places})`).run(...values as Value[]);
    }
  });
}

function fits(values: RawRow["values"], shape: string): boolean {
  if (values.length !== shape.length) return false;
  return values.every((value, i) => {
    const text = typeof value === "string";
    switch (shape[i]) {
      case "T":
        return text;
      case "N":
        return typeof value === "number";
      case "t":
        return text || value === null;
      default:
        return text || value === null || value instanceof Uint8Array;
    }
  }) && TYPES.includes(values[shape.lastIndexOf("t")] as string | null);
}
