// The last turn of each session: how it ended, or that it did not.
import type { FinishReason, TurnError, Usage } from "../domain/event.ts";
import type { TurnRecord } from "../domain/session.ts";
import type { Database } from "./connection.ts";

/**
 * A session's last turn. `finishReason` is null while it runs; for a turn that this process does not run, that means
 * that a crash cut it off: nothing was saved of it but its checkpoints.
 */
export interface LastTurn {
  turnId: string;
  startedAt: string;
  endedAt: string | null;
  finishReason: FinishReason | null;
  usage: Usage | null;
  error: TurnError | null;
  /** The automatic title that this turn made. */
  title: string | null;
  /** Position of `turn_end` in the turn's log; 0 while it runs. */
  lastSeq: number;
}

/** A turn whose end was never saved. `startedAt` is ISO 8601. */
export interface CutTurn {
  threadId: string;
  userId: string;
  turnId: string;
  startedAt: string;
}

/** Notes that a turn of the user's session has started, in place of its former one. False for an unknown session. */
export function writeTurnStart(
  db: Database,
  userId: string,
  threadId: string,
  turnId: string,
  now: Date,
): boolean {
  const noted = db.prepare(
    `INSERT OR REPLACE INTO chat_turns (thread_id, turn_id, started_at)
     SELECT thread_id, ?, ? FROM chat_sessions WHERE thread_id = ? AND user_id = ?`,
  ).run(turnId, now.toISOString(), threadId, userId);
  return noted > 0;
}

/** Notes how a turn ended; also one whose start was never noted. */
export function writeTurnEnd(db: Database, threadId: string, record: TurnRecord): void {
  const usage: Usage = {
    input_tokens: record.inputTokens,
    output_tokens: record.outputTokens,
    total_tokens: record.inputTokens + record.outputTokens,
    llm_calls: record.llmCalls,
  };
  const ended = record.endedAt.toISOString();
  db.prepare(
    `INSERT OR REPLACE INTO chat_turns
     (thread_id, turn_id, started_at, ended_at, finish_reason, usage, error, title, last_seq)
     VALUES (?1, ?2, COALESCE((SELECT started_at FROM chat_turns WHERE thread_id = ?1 AND turn_id = ?2), ?3),
       ?3, ?4, ?5, ?6, ?7, ?8)`,
  ).run(
    threadId,
    record.turnId,
    ended,
    record.finishReason,
    JSON.stringify(usage),
    record.error ? JSON.stringify(record.error) : null,
    record.title ?? null,
    record.lastSeq,
  );
}

/** The session's last turn, or undefined before its first. */
export function readTurn(db: Database, threadId: string): LastTurn | undefined {
  const row = db.prepare(
    `SELECT turn_id, started_at, ended_at, finish_reason, usage, error, title, last_seq FROM chat_turns
     WHERE thread_id = ?`,
  ).get(threadId);
  return row && {
    turnId: row.turn_id as string,
    startedAt: row.started_at as string,
    endedAt: row.ended_at as string | null,
    finishReason: row.finish_reason as FinishReason | null,
    usage: row.usage === null ? null : JSON.parse(row.usage as string) as Usage,
    error: row.error === null ? null : JSON.parse(row.error as string) as TurnError,
    title: row.title as string | null,
    lastSeq: row.last_seq as number,
  };
}

/** The turns that are noted as running, the one that started first before the others; with `threadId` only its. */
export function readCutTurns(db: Database, threadId?: string): CutTurn[] {
  const running =
    `SELECT t.thread_id AS threadId, s.user_id AS userId, t.turn_id AS turnId, t.started_at AS startedAt
    FROM chat_turns t JOIN chat_sessions s ON s.thread_id = t.thread_id WHERE t.finish_reason IS NULL`;
  // With "all or this one" in one statement SQLite would look at every session for one.
  const rows = threadId === undefined
    ? db.prepare(`${running} ORDER BY t.started_at`).all()
    : db.prepare(`${running} AND t.thread_id = ?`).all(threadId);
  return rows as unknown as CutTurn[];
}
