// The schema of the chat database as a list of steps. A step's position in the list is its version in `user_version`.
import { AppError } from "../domain/error.ts";
import type { Database } from "./connection.ts";
import { CHAT_DATABASE, type DatabaseWords } from "./errors.ts";

/** One step of the schema, run once inside a transaction. Never change a published one: add another. */
export type Migration = (db: Database) => void;

/** Refuses a database that a newer version of this program has written. Changes nothing. */
export function refuseNewer(
  db: Database,
  migrations: readonly Migration[],
  { database }: DatabaseWords = CHAT_DATABASE,
): void {
  if (version(db) <= migrations.length) return;
  const versions = `schema ${version(db)}; this one knows ${migrations.length}`;
  throw new AppError(
    "internal",
    `${database} was written by a newer version of gns3-copilot (${versions}). ` +
      "It was left untouched; install the newer version.",
  );
}

/** Runs the steps that `db` lacks, all in one transaction. Does nothing, and writes nothing, when it lacks none. */
export function migrate(db: Database, migrations: readonly Migration[], words?: DatabaseWords): void {
  if (version(db) === migrations.length) return;
  db.transaction(() => {
    // Asked again: another process may have migrated while this one waited for the lock.
    refuseNewer(db, migrations, words);
    for (const step of migrations.slice(version(db))) step(db);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

function version(db: Database): number {
  return Number(db.pragma("user_version"));
}

/** Who made a session's title: nobody yet (it is a stand-in), the `title_generator`, or the user. */
export const TITLE_SOURCE = { standIn: 0, automatic: 1, user: 2 } as const;

/** Titles (in small letters) that the Python copilot gives to a session while it has none, as a list of SQL. */
export const STAND_IN_TITLES =
  "('new conversation', 'new chat', 'new session', 'untitled session', 'gns3 session')";

/** Columns of `chat_sessions` as the Python copilot has them (seed 000), and ours after them. */
const SESSION_COLUMNS: [name: string, definition: string][] = [
  ["id", "INTEGER PRIMARY KEY AUTOINCREMENT"],
  ["thread_id", "TEXT NOT NULL UNIQUE"],
  ["user_id", "TEXT NOT NULL DEFAULT ''"],
  ["project_id", "TEXT NOT NULL DEFAULT ''"],
  ["title", "TEXT NOT NULL DEFAULT ''"],
  ["message_count", "INTEGER DEFAULT 0"],
  ["llm_calls_count", "INTEGER DEFAULT 0"],
  ["input_tokens", "INTEGER DEFAULT 0"],
  ["output_tokens", "INTEGER DEFAULT 0"],
  ["total_tokens", "INTEGER DEFAULT 0"],
  ["last_message_at", "TIMESTAMP"],
  ["created_at", "TIMESTAMP"],
  ["updated_at", "TIMESTAMP"],
  ["metadata", "TEXT"],
  ["stats", "TEXT"],
  ["pinned", "BOOLEAN DEFAULT FALSE"],
  ["title_source", "INTEGER NOT NULL DEFAULT 0"],
];

/** `chat_sessions`, new or completed: databases of early GNS3 versions lack `pinned`. */
function sessions(db: Database): void {
  const columns = SESSION_COLUMNS.map(([name, definition]) => `${name} ${definition}`).join(", ");
  db.exec(`CREATE TABLE IF NOT EXISTS chat_sessions (${columns})`);
  const present = new Set(db.prepare("PRAGMA table_info(chat_sessions)").all().map((column) => column.name));
  for (const [name, definition] of SESSION_COLUMNS) {
    if (!present.has(name)) db.exec(`ALTER TABLE chat_sessions ADD COLUMN ${name} ${definition}`);
  }
  // The Python copilot does not say who made a title: it is kept, whoever it was.
  db.exec(`UPDATE chat_sessions SET title_source = ${TITLE_SOURCE.automatic}
    WHERE title <> '' AND lower(title) NOT IN ${STAND_IN_TITLES}`);
  const index = db.prepare("PRAGMA index_list(chat_sessions)").all().find((row) =>
    row.name === "idx_thread_id"
  );
  if (index && Number(index.unique) === 0) db.exec("DROP INDEX idx_thread_id");
  db.exec(`
    CREATE UNIQUE INDEX IF NOT EXISTS idx_thread_id ON chat_sessions (thread_id);
    CREATE INDEX IF NOT EXISTS idx_user_project ON chat_sessions (user_id, project_id);
    CREATE INDEX IF NOT EXISTS idx_pinned_updated ON chat_sessions (pinned DESC, updated_at DESC);
  `);
}

/**
 * What LangGraph saves, and each session's last turn. The names differ from the Python copilot's `checkpoints` and
 * `writes`, which stay as they are.
 *
 * `saver_rows` holds each message (and each other large value) once; checkpoints and writes refer to rows by `seq`,
 * as ranges where there are many. Nothing has foreign keys: a task's writes may come before its checkpoint.
 */
function saver(db: Database): void {
  db.exec(`
    CREATE TABLE saver_threads (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      thread_id TEXT NOT NULL UNIQUE,
      next_seq INTEGER NOT NULL DEFAULT 1
    );
    CREATE TABLE saver_rows (
      thread INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      kind TEXT NOT NULL,
      id TEXT,
      content TEXT,
      rest TEXT,
      hash INTEGER NOT NULL,
      PRIMARY KEY (thread, seq)
    ) WITHOUT ROWID;
    CREATE INDEX saver_rows_hash ON saver_rows (thread, hash);
    CREATE TABLE saver_checkpoints (
      thread INTEGER NOT NULL,
      ns TEXT NOT NULL,
      id TEXT NOT NULL,
      parent TEXT,
      head TEXT NOT NULL,
      channels TEXT NOT NULL,
      metadata TEXT NOT NULL,
      PRIMARY KEY (thread, ns, id)
    ) WITHOUT ROWID;
    CREATE TABLE saver_writes (
      thread INTEGER NOT NULL,
      ns TEXT NOT NULL,
      checkpoint TEXT NOT NULL,
      task TEXT NOT NULL,
      idx INTEGER NOT NULL,
      path TEXT NOT NULL,
      channel TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (thread, ns, checkpoint, task, idx)
    ) WITHOUT ROWID;
    CREATE TABLE chat_turns (
      thread_id TEXT PRIMARY KEY,
      turn_id TEXT NOT NULL,
      started_at TEXT NOT NULL,
      ended_at TEXT,
      finish_reason TEXT,
      usage TEXT,
      error TEXT,
      title TEXT,
      last_seq INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
  `);
}

/** Calls that wait for a decision, with what is needed to go on with their turn after a restart. */
function approvals(db: Database): void {
  db.exec(`
    CREATE TABLE chat_approvals (
      id TEXT PRIMARY KEY,
      thread_id TEXT NOT NULL,
      place INTEGER NOT NULL,
      request TEXT NOT NULL,
      options TEXT NOT NULL,
      expires_at TEXT NOT NULL,
      decision TEXT
    ) WITHOUT ROWID;
    CREATE INDEX idx_approvals_thread ON chat_approvals (thread_id);
  `);
}

/** Faults that were injected for practice. They belong to the lab, not to the session in which it was done. */
function faults(db: Database): void {
  db.exec(`
    CREATE TABLE injected_faults (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      issue TEXT NOT NULL,
      title TEXT NOT NULL,
      devices TEXT NOT NULL,
      undo TEXT NOT NULL,
      note TEXT,
      user_id TEXT NOT NULL,
      username TEXT NOT NULL,
      injected_at TEXT NOT NULL,
      undone_at TEXT
    );
  `);
}

/** How much of each of the Python copilot's conversations was taken over: see `python/take_over.ts`. */
function pythonThreads(db: Database): void {
  db.exec(`
    CREATE TABLE python_threads (
      id INTEGER PRIMARY KEY,
      thread_id TEXT NOT NULL UNIQUE,
      checkpoint_id TEXT NOT NULL,
      messages INTEGER NOT NULL
    );
  `);
}

/** The chat database. */
export const CHAT_MIGRATIONS: readonly Migration[] = [
  (db) => {
    sessions(db);
    saver(db);
  },
  approvals,
  faults,
  pythonThreads,
];
