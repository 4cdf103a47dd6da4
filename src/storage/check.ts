// Whether a chat database is whole: SQLite's own check of the file, then whether its rows fit each other.
import { AppError } from "../domain/error.ts";
import { type Json, unpack } from "./codec.ts";
import type { Database, Value } from "./connection.ts";
import { CHAT_MIGRATIONS, refuseNewer } from "./migrations.ts";
import { CHAT_DATABASE } from "./errors.ts";
import { refuseForeign } from "./foreign.ts";
import { IN_PLACE } from "./message_codec.ts";
import { MessageRows } from "./message_rows.ts";
import { readDatabase } from "./reader.ts";

/** What a check found; `problems` are sentences for a person, none for a whole database. */
export interface Health {
  problems: string[];
  /** A newer version of this program wrote it, or another program: nothing else is known, and nothing to be repaired. */
  notOurs: boolean;
  sessions: number;
  messages: number;
}

/** Longer lists of the same kind of damage tell nobody more. */
const MOST = 10;

/**
 * Checks the database in `file` without changing it; a server may be using it. An older one is checked as it is. Throws
 * `AppError` for a file that cannot be read by this user.
 */
export function checkDatabase(file: string): Health {
  const health: Health = { problems: [], notOurs: false, sessions: 0, messages: 0 };
  try {
    readDatabase(file, (db) => checkOpen(db, health));
  } catch (error) {
    // A file that this user may not read is not damaged.
    if (!(error instanceof AppError) || error.code !== "internal") throw error;
    health.problems.push(health.notOurs ? error.message : "The file is damaged: SQLite cannot read it.");
  }
  return health;
}

function checkOpen(db: Database, health: Health): void {
  const version = Number(db.pragma("user_version"));
  // One moment for all of it: others may be writing.
  db.exec("BEGIN");
  const found = db.prepare(`PRAGMA integrity_check(${MOST})`).all().map((row) =>
    String(Object.values(row)[0])
  );
  health.problems.push(
    ...found.filter((line) => line !== "ok").map((line) => `The file is damaged: ${line}.`),
  );
  if (health.problems.length > 0) return;
  try {
    refuseNewer(db, CHAT_MIGRATIONS);
    refuseForeign(db, CHAT_MIGRATIONS, CHAT_DATABASE);
  } catch (error) {
    health.notOurs = true;
    throw error;
  }
  if (hasTable(db, "chat_sessions")) health.sessions = count(db, "chat_sessions");
  if (version > 0) checkConversations(db, health);
}

function checkConversations(db: Database, health: Health): void {
  const rows = new MessageRows(db, 0);
  let unreadable = 0;
  for (const { id } of db.prepare("SELECT id FROM saver_threads").all()) {
    const messages = countMessages(db, rows, Number(id));
    if (messages === undefined) unreadable++;
    health.messages += messages ?? 0;
    rows.evict(() => true);
  }
  const say = (number: number, one: string, many: string) => {
    if (number > 0) health.problems.push(number === 1 ? one : many.replace("N", String(number)));
  };
  say(unreadable, "One conversation cannot be read.", "N conversations cannot be read.");
  say(
    count(db, "saver_threads t WHERE next_seq <= (SELECT max(seq) FROM saver_rows WHERE thread = t.id)"),
    "One conversation would overwrite its own messages.",
    "N conversations would overwrite their own messages.",
  );
  say(
    count(db, "saver_threads WHERE thread_id NOT IN (SELECT thread_id FROM chat_sessions)"),
    "One conversation belongs to no session.",
    "N conversations belong to no session.",
  );
  const unknown = ["saver_rows", "saver_checkpoints", "saver_writes"].map((table) =>
    `SELECT thread FROM ${table} WHERE thread NOT IN (SELECT id FROM saver_threads)`
  );
  say(
    count(db, `(${unknown.join(" UNION ")})`),
    "What was saved of one conversation belongs to none.",
    "What was saved of N conversations belongs to none.",
  );
  say(
    count(db, "chat_turns WHERE thread_id NOT IN (SELECT thread_id FROM chat_sessions)"),
    "The last turn of one session is there without the session.",
    "The last turns of N sessions are there without them.",
  );
}

/** How many messages a thread's newest checkpoint has; undefined when something of what is saved of it cannot be read. */
function countMessages(db: Database, rows: MessageRows, thread: number): number | undefined {
  const parsed = (text: Value | undefined) => JSON.parse(String(text)) as Json;
  try {
    let messages = 0;
    const checkpoints = db.prepare(
      "SELECT ns, channels, metadata FROM saver_checkpoints WHERE thread = ? ORDER BY id",
    );
    for (const { ns, channels, metadata } of checkpoints.all(thread)) {
      const values = rows.read(thread, parsed(channels)) as Record<string, unknown>;
      if (ns === "") messages = Array.isArray(values.messages) ? values.messages.length : 0;
      unpack(parsed(metadata), IN_PLACE);
    }
    const writes = db.prepare("SELECT value FROM saver_writes WHERE thread = ?");
    for (const { value } of writes.all(thread)) rows.read(thread, parsed(value));
    return messages;
  } catch {
    return undefined;
  }
}

function count(db: Database, from: string): number {
  return Number(db.prepare(`SELECT count(*) AS n FROM ${from}`).get()!.n);
}

function hasTable(db: Database, name: string): boolean {
  return count(db, `sqlite_schema WHERE type = 'table' AND name = '${name}'`) > 0;
}
