// What the Python copilot has saved: LangGraph's tables `checkpoints` and `writes`, which are only read here.
import { AppError } from "../../domain/error.ts";
import type { Database } from "../connection.ts";
import { decodeValue, plain } from "./values.ts";

/** A conversation as its newest readable checkpoint has it. Values are as `decodeValue` gives them. */
export interface PythonConversation {
  /** All of its messages, oldest first. */
  messages: unknown[];
  /** How many of them a checkpoint holds; those after them are results of a step that was cut before its checkpoint. */
  saved: number;
  title: string | undefined;
  /** When the checkpoint was made, as Python spells it. */
  time: string | undefined;
  /** How many newer checkpoints, and results of a step, cannot be read. */
  unreadable: number;
}

/** Whether a database holds the tables, in the form that the copilot's versions have. */
export function hasPythonTables(db: Database): boolean {
  const columns = (table: string) =>
    db.prepare(`SELECT name FROM pragma_table_info(?)`).all(table).map(({ name }) => name);
  const key = ["thread_id", "checkpoint_ns", "checkpoint_id", "type"];
  return [...key, "checkpoint"].every((name) => columns("checkpoints").includes(name)) &&
    [...key, "task_id", "idx", "channel", "value"].every((name) => columns("writes").includes(name));
}

/** The id of a thread's newest checkpoint; undefined when Python has saved nothing of it. Reads no values. */
export function newestCheckpoint(db: Database, threadId: string): string | undefined {
  const row = db.prepare(
    `SELECT checkpoint_id AS id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''
     ORDER BY checkpoint_id DESC LIMIT 1`,
  ).get(threadId);
  return row && String(row.id);
}

/**
 * Reads a thread's conversation. Every checkpoint holds all messages up to it, so only one of them is decoded: the newest
 * that can be. Undefined when there is none such.
 */
export function readConversation(db: Database, threadId: string): PythonConversation | undefined {
  const ids = db.prepare(
    `SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' ORDER BY checkpoint_id DESC`,
  ).arrays(threadId).map(([id]) => String(id));
  for (const [unreadable, id] of ids.entries()) {
    const checkpoint = readCheckpoint(db, threadId, id);
    if (checkpoint) return conversationOf(db, threadId, id, checkpoint, unreadable);
  }
  return undefined;
}

function readCheckpoint(db: Database, threadId: string, id: string): Record<string, unknown> | undefined {
  const select = db.prepare(
    "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?",
  );
  const row = unlessDamaged(() => select.get(threadId, id));
  const checkpoint = row && decoded(row.type, row.checkpoint);
  return isRecord(checkpoint) && isRecord(checkpoint.channel_values) ? checkpoint : undefined;
}

function conversationOf(
  db: Database,
  threadId: string,
  id: string,
  { channel_values, ts }: Record<string, unknown>,
  unreadable: number,
): PythonConversation {
  const channels = channel_values as Record<string, unknown>;
  const saved = listOf(channels.messages);
  const { results, unreadable: lost } = readResults(db, threadId, id);
  // A turn's first checkpoint holds what was asked, which is no message before the next one.
  const asked = isRecord(channels.__start__) ? listOf(channels.__start__.messages) : [];
  const title = plain(channels.conversation_title);
  return {
    messages: [...saved, ...(results.length > 0 ? results : asked)],
    saved: saved.length,
    title: typeof title === "string" && title !== "" ? title : undefined,
    time: typeof ts === "string" ? ts : undefined,
    unreadable: unreadable + lost,
  };
}

/** What the nodes of a cut step have answered. */
function readResults(db: Database, threadId: string, id: string): { results: unknown[]; unreadable: number } {
  const select = db.prepare(
    `SELECT type, value FROM writes WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?
       AND channel = 'messages' ORDER BY task_id, idx`,
  );
  const writes = unlessDamaged(() => select.all(threadId, id));
  if (!writes) return { results: [], unreadable: 1 };
  const values = writes.map(({ type, value }) => decoded(type, value));
  return {
    results: values.flatMap((value) => value === undefined ? [] : listOf(value)),
    unreadable: values.filter((value) => value === undefined).length,
  };
}

/** Undefined where the file is damaged: an opening does not look at these rows, and others can still be read. */
function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof AppError && error.code === "internal") return undefined;
    throw error;
  }
}

function decoded(type: unknown, value: unknown): unknown {
  try {
    return decodeValue(type, value);
  } catch {
    return undefined;
  }
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
