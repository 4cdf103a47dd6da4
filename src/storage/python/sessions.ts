// What the Python copilot does to `chat_sessions`, and what it leaves undone there.
import type { Database } from "../connection.ts";
import { STAND_IN_TITLES, TITLE_SOURCE } from "../migrations.ts";
import { DEFAULT_TITLE, jsonObject } from "../session_row.ts";
import { deleteThread } from "../threads.ts";
import { isoTime } from "../times.ts";
import { toMessages } from "./messages.ts";
import { hasPythonTables, newestCheckpoint, readConversation } from "./rows.ts";

/**
 * Call it after opening, before anything is read. Deletes what we hold of sessions that were deleted in Python, and gives a session to each of
 * Python's conversations that has none: early versions had no table of sessions.
 */
export function matchSessions(db: Database): void {
  if (!hasPythonTables(db)) return;
  const withoutSession = "thread_id NOT IN (SELECT thread_id FROM chat_sessions)";
  const deleted = db.prepare(`SELECT thread_id FROM saver_threads WHERE ${withoutSession}`).all();
  const unknown = db.prepare(`SELECT DISTINCT thread_id FROM checkpoints WHERE ${withoutSession}`).all();
  if (deleted.length === 0 && unknown.length === 0) return;
  // Read before: after an unreadable page SQLite lets a transaction that has begun write nothing more.
  const lost = unknown.map(({ thread_id }) => lostSession(db, String(thread_id)));
  db.transaction(() => {
    for (const { thread_id } of deleted) forget(db, String(thread_id));
    for (const session of lost) if (session) addSession(db, session);
  });
}

/** A title that Python's conversation has is kept, whoever made it: Python does not say. */
export function keepTitle(db: Database, threadId: string): void {
  db.prepare(
    `UPDATE chat_sessions SET title_source = ${TITLE_SOURCE.automatic}
     WHERE thread_id = ? AND title_source = ${TITLE_SOURCE.standIn}
       AND title <> '' AND lower(title) NOT IN ${STAND_IN_TITLES}`,
  ).run(threadId);
}

/** Python deletes a session's checkpoints with it: one that it still has was not deleted. */
function forget(db: Database, threadId: string): void {
  if (newestCheckpoint(db, threadId) !== undefined) return;
  deleteThread(db, threadId);
  for (const table of ["chat_turns", "chat_approvals"]) {
    db.prepare(`DELETE FROM ${table} WHERE thread_id = ?`).run(threadId);
  }
}

/** A session as it is to be written. */
interface LostSession {
  threadId: string;
  userId: string;
  projectId: string;
  title: string;
  messages: number;
  begun: string;
  ended: string;
}

/** What is known of it. The owner stands in the checkpoint's metadata; without one nobody may see the conversation. */
function lostSession(db: Database, threadId: string): LostSession | undefined {
  const row = db.prepare(
    `SELECT CAST(metadata AS TEXT) AS metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''
     ORDER BY checkpoint_id DESC LIMIT 1`,
  ).get(threadId);
  const { user_id, project_id } = jsonObject(row?.metadata);
  if (typeof user_id !== "string" || user_id === "") return undefined;
  const found = readConversation(db, threadId);
  const ended = isoTime(found?.time) ?? new Date().toISOString();
  const messages = toMessages(found?.messages ?? [], ended, String);
  return {
    threadId,
    userId: user_id,
    projectId: typeof project_id === "string" ? project_id : "",
    title: found?.title ?? DEFAULT_TITLE,
    messages: messages.length,
    begun: String(messages[0]?.additional_kwargs.created_at ?? ended),
    ended,
  };
}

function addSession(db: Database, session: LostSession): void {
  const { threadId, userId, projectId, title, messages, begun, ended } = session;
  db.prepare(
    `INSERT INTO chat_sessions (thread_id, user_id, project_id, title, title_source, message_count, last_message_at,
       created_at, updated_at, metadata, stats, pinned) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', '{}', 0)`,
  ).run(threadId, userId, projectId, title, TITLE_SOURCE.standIn, messages, ended, begun, ended);
  keepTitle(db, threadId);
}
