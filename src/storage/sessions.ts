// The sessions of one project: who owns them, what they are called, their figures. Nobody reaches another's session.
import { AppError } from "../domain/error.ts";
import type { CopilotMode } from "../domain/model_config.ts";
import type { ChatSession, TurnRecord } from "../domain/session.ts";
import type { Database, Row, Value } from "./connection.ts";
import { TITLE_SOURCE } from "./migrations.ts";
import { DEFAULT_TITLE, jsonObject, SESSION_COLUMNS, toSession } from "./session_row.ts";
import { addTurn } from "./statistics.ts";
import { deleteThread } from "./threads.ts";
import { isoTime } from "./times.ts";
import {
  type CutTurn,
  type LastTurn,
  readCutTurns,
  readTurn,
  writeTurnEnd,
  writeTurnStart,
} from "./turns.ts";

/** A session to create. Its `title` is a stand-in until an automatic one is made, unless `titleByUser`. */
export interface NewSession {
  thread_id: string;
  user_id: string;
  project_id: string;
  title?: string | null;
  titleByUser?: boolean;
  copilot_mode?: CopilotMode;
  now?: Date;
  /** Its first turn, noted as running in the same transaction. */
  turn?: { id: string; startedAt: Date };
}

/** Which sessions to list, and which page of them. */
export interface SessionQuery {
  limit: number;
  offset: number;
  /** Part of the title, in any case. */
  q?: string;
  copilot_mode?: CopilotMode;
}

// Read times are compared as SQLite understands them: the Python copilot spells them in more than one way.
const ORDER = "ORDER BY COALESCE(pinned, 0) DESC, julianday(updated_at) DESC, id DESC";

/**
 * The `chat_sessions` of one project's database. Every method takes the owner: somebody else's session is answered as
 * one that does not exist. All throw `AppError` when the database cannot be read or written.
 */
export class ChatSessionsRepository {
  readonly #db: Database;
  /** The newest `updated_at` of the project, in milliseconds. */
  #newest: number;

  /** A database that came with a copied project is adopted: its sessions get this project's id. */
  constructor(db: Database, projectId: string) {
    this.#db = db;
    const foreign = "project_id IS NOT ?";
    if (db.prepare(`SELECT 1 FROM chat_sessions WHERE ${foreign} LIMIT 1`).get(projectId)) {
      db.prepare(`UPDATE chat_sessions SET project_id = ? WHERE ${foreign}`).run(projectId, projectId);
    }
    const newest = db.prepare(
      "SELECT updated_at FROM chat_sessions ORDER BY julianday(updated_at) DESC LIMIT 1",
    ).get();
    this.#newest = Date.parse(isoTime(newest?.updated_at) ?? "") || 0;
  }

  /** Creates an empty session. Throws `AppError` `conflict` when its id is taken, whoever has it. */
  create(session: NewSession): ChatSession {
    const { thread_id, user_id, project_id, title, titleByUser, copilot_mode, now = new Date(), turn } =
      session;
    return this.#db.transaction(() => {
      const row = this.#db.prepare(
        `INSERT INTO chat_sessions (thread_id, user_id, project_id, title, title_source, message_count,
           llm_calls_count, input_tokens, output_tokens, total_tokens, created_at, updated_at, metadata, stats, pinned)
         VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0, 0, ?, ?, ?, '{}', 0) ON CONFLICT DO NOTHING RETURNING ${SESSION_COLUMNS}`,
      ).get(
        thread_id,
        user_id,
        project_id,
        title || DEFAULT_TITLE,
        title && titleByUser ? TITLE_SOURCE.user : TITLE_SOURCE.standIn,
        now.toISOString(),
        this.#stamp(now),
        JSON.stringify(copilot_mode ? { copilot_mode } : {}),
      );
      if (!row) throw new AppError("conflict", "A session with this id exists already. Choose another id.");
      if (turn) this.startTurn(user_id, thread_id, turn.id, turn.startedAt);
      return toSession(row);
    });
  }

  /** The user's session, or undefined. */
  get(userId: string, threadId: string): ChatSession | undefined {
    const row = this.#row(userId, threadId);
    return row && toSession(row);
  }

  /** The user who owns a session, or undefined for an unknown one. Not for answers to clients. */
  ownerOf(threadId: string): string | undefined {
    const row = this.#db.prepare("SELECT user_id FROM chat_sessions WHERE thread_id = ?").get(threadId);
    return row && String(row.user_id);
  }

  /** A page of the user's sessions, pinned ones first, then the last changed; `total` counts all that match. */
  list(userId: string, query: SessionQuery): { sessions: ChatSession[]; total: number } {
    const { limit, offset, q, copilot_mode } = query;
    const ids = this.#db.prepare(`SELECT id, title, metadata FROM chat_sessions WHERE user_id = ? ${ORDER}`)
      .all(userId)
      .filter((row) => matches(row, q, copilot_mode))
      .map((row) => row.id!);
    const read = this.#db.prepare(`SELECT ${SESSION_COLUMNS} FROM chat_sessions WHERE id = ?`);
    const sessions = ids.slice(offset, offset + limit).map((id) => toSession(read.get(id)!));
    return { sessions, total: ids.length };
  }

  /** Whether a session still lacks a title made by the user or by the `title_generator`. Check the owner before. */
  wantsTitle(threadId: string): boolean {
    const row = this.#db.prepare("SELECT title_source FROM chat_sessions WHERE thread_id = ?").get(threadId);
    return row?.title_source === TITLE_SOURCE.standIn;
  }

  /** Sets the user's own title, which no automatic one replaces later. */
  rename(userId: string, threadId: string, title: string, now = new Date()): ChatSession | undefined {
    return this.#update(userId, threadId, "title = ?, title_source = ?, updated_at = ?", () => [
      title,
      TITLE_SOURCE.user,
      this.#stamp(now),
    ]);
  }

  /** Pins or unpins; the session's place among the others stays what it was (`updated_at` does not move). */
  setPinned(userId: string, threadId: string, pinned: boolean): ChatSession | undefined {
    return this.#update(userId, threadId, "pinned = ?", () => [pinned ? 1 : 0]);
  }

  /** Deletes a session with all that was saved of it, and makes the file smaller. False for an unknown one. */
  delete(userId: string, threadId: string): boolean {
    const deleted = this.#db.transaction(() => {
      if (!this.#row(userId, threadId)) return false;
      this.#deleteRows(threadId);
      return true;
    });
    if (deleted) this.#db.shrink();
    return deleted;
  }

  /** The ids of all sessions of the project, whoever owns them. Not for answers to clients. */
  threadIds(): string[] {
    return this.#db.prepare("SELECT thread_id FROM chat_sessions").arrays().map(([id]) => String(id));
  }

  /** Deletes every session of the project, whoever owns it, and answers how many there were. */
  deleteAll(): number {
    const count = this.#db.transaction(() => {
      const ids = this.threadIds();
      for (const id of ids) this.#deleteRows(id);
      return ids.length;
    });
    this.#db.shrink();
    return count;
  }

  /** Notes that a turn runs. False for an unknown session. */
  startTurn(userId: string, threadId: string, turnId: string, now: Date): boolean {
    return this.#db.transaction(() => writeTurnStart(this.#db, userId, threadId, turnId, now));
  }

  /**
   * Saves what a turn has added, however it ended, in one transaction, for good: not even a power cut takes the turn away
   * when this has returned. Call it once a turn. Undefined for an unknown session, which it may have become since the
   * turn started. `recordOf` is given the session as it was before. `also` belongs to the transaction: when it throws, the
   * end is not saved either.
   */
  endTurn(
    userId: string,
    threadId: string,
    recordOf: TurnRecord | ((before: ChatSession) => TurnRecord),
    also: () => void = () => {},
  ): ChatSession | undefined {
    return this.#db.durably(() => {
      const row = this.#row(userId, threadId);
      if (!row) return undefined;
      const before = toSession(row);
      const record = typeof recordOf === "function" ? recordOf(before) : recordOf;
      this.#setTitle(threadId, record.title);
      const { stats, ...figures } = addTurn(before, record);
      const after = this.#db.prepare(
        `UPDATE chat_sessions SET message_count = ?, llm_calls_count = ?, input_tokens = ?, output_tokens = ?,
           total_tokens = ?, stats = ?, last_message_at = ?, updated_at = ? WHERE thread_id = ?
         RETURNING ${SESSION_COLUMNS}`,
      ).get(
        figures.message_count,
        figures.llm_calls_count,
        figures.input_tokens,
        figures.output_tokens,
        figures.total_tokens,
        JSON.stringify(stats),
        record.messages !== 0 ? record.endedAt.toISOString() : before.last_message_at,
        this.#stamp(record.endedAt),
        threadId,
      );
      writeTurnEnd(this.#db, threadId, record);
      also();
      return toSession(after!);
    });
  }

  /** The last turn of a session. Check the owner before. */
  lastTurn(threadId: string): LastTurn | undefined {
    return readTurn(this.#db, threadId);
  }

  /** The turns that are noted as running, the one that started first before the others; with `threadId` only its. */
  cutTurns(threadId?: string): CutTurn[] {
    return readCutTurns(this.#db, threadId);
  }

  #row(userId: string, threadId: string): Row | undefined {
    return this.#db.prepare(
      `SELECT ${SESSION_COLUMNS} FROM chat_sessions WHERE thread_id = ? AND user_id = ?`,
    )
      .get(threadId, userId);
  }

  /** Sets an automatic title, unless there is none or the user has made one. */
  #setTitle(threadId: string, title: string | undefined): void {
    if (!title) return;
    this.#db.prepare(
      "UPDATE chat_sessions SET title = ?, title_source = ? WHERE thread_id = ? AND title_source <> ?",
    )
      .run(title, TITLE_SOURCE.automatic, threadId, TITLE_SOURCE.user);
  }

  #update(userId: string, threadId: string, set: string, values: () => Value[]): ChatSession | undefined {
    return this.#db.transaction(() => {
      if (!this.#row(userId, threadId)) return undefined;
      this.#db.prepare(`UPDATE chat_sessions SET ${set} WHERE thread_id = ?`).run(...values(), threadId);
      return this.get(userId, threadId);
    });
  }

  #deleteRows(threadId: string): void {
    deleteThread(this.#db, threadId);
    this.#db.prepare("DELETE FROM chat_turns WHERE thread_id = ?").run(threadId);
    this.#db.prepare("DELETE FROM chat_approvals WHERE thread_id = ?").run(threadId);
    this.#db.prepare("DELETE FROM chat_sessions WHERE thread_id = ?").run(threadId);
  }

  /** The time for `updated_at`: later than any other of the project, so that the order of a list is certain. */
  #stamp(now: Date): string {
    this.#newest = Math.max(now.getTime(), this.#newest + 1);
    return new Date(this.#newest).toISOString();
  }
}

function matches(row: Row, q: string | undefined, mode: CopilotMode | undefined): boolean {
  if (q && !String(row.title ?? "").toLowerCase().includes(q.toLowerCase())) return false;
  return !mode || jsonObject(row.metadata).copilot_mode === mode;
}
