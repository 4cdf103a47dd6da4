// Takes the Python copilot's conversations over into our tables, each when it is first used. Its rows stay as they are.
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { readCheckpoint, writeCheckpoint } from "../checkpoint_rows.ts";
import type { Json } from "../codec.ts";
import type { Database } from "../connection.ts";
import { readMessages } from "../conversation.ts";
import type { BaseMessage } from "../message_codec.ts";
import { MessageRows } from "../message_rows.ts";
import { ensureThread } from "../threads.ts";
import { isoTime } from "../times.ts";
import { notice, toMessages } from "./messages.ts";
import { hasPythonTables, newestCheckpoint, type PythonConversation, readConversation } from "./rows.ts";
import { keepTitle } from "./sessions.ts";

const UNREADABLE =
  "[The Python copilot has written a part of this conversation that cannot be read. It is still in the project's chat database.]";

/**
 * The conversations that Python has written into a database. Python may have gone on with one since it was taken over:
 * its new messages are then put after what is here.
 */
export class PythonConversations {
  readonly #db: Database;
  readonly #rows: MessageRows;
  /** Nobody else writes to the database while it is open here, so one look at each thread is enough. */
  readonly #seen = new Set<string>();

  private constructor(db: Database) {
    this.#db = db;
    this.#rows = new MessageRows(db, 0);
  }

  /** Those of `db`; undefined when Python has never used it. */
  static of(db: Database): PythonConversations | undefined {
    return hasPythonTables(db) ? new PythonConversations(db) : undefined;
  }

  /**
   * Brings a thread up to what Python has saved of it, in one transaction; call it before the thread is read. Costs
   * nothing when that was done before. What cannot be read is said in a message of the conversation. Throws `AppError`
   * when the database cannot be read or written.
   */
  takeOver(threadId: string): void {
    if (this.#seen.has(threadId)) return;
    const newest = newestCheckpoint(this.#db, threadId);
    if (newest !== undefined && newest !== this.#taken(threadId)?.checkpoint) {
      // Read before: after an unreadable page SQLite lets a transaction that has begun write nothing more.
      const found = readConversation(this.#db, threadId);
      this.#db.transaction(() => this.#add(threadId, newest, found));
    }
    this.#seen.add(threadId);
  }

  #taken(threadId: string): { checkpoint: string; messages: number } | undefined {
    const row = this.#db.prepare("SELECT checkpoint_id, messages FROM python_threads WHERE thread_id = ?")
      .get(threadId);
    return row && { checkpoint: String(row.checkpoint_id), messages: Number(row.messages) };
  }

  #add(threadId: string, newest: string, found: PythonConversation | undefined): void {
    const before = this.#taken(threadId)?.messages ?? 0;
    const ours = readMessages(this.#db, this.#rows, threadId);
    const fresh = found ? freshMessages(found, before, ours) : [];
    if (!found || found.unreadable > 0) {
      fresh.push(notice(`python-unreadable-${newest}`, isoTime(found?.time) ?? now(), UNREADABLE));
    }
    if (fresh.length > 0) this.#append(threadId, ours, fresh, found?.title);
    keepTitle(this.#db, threadId);
    this.#db.prepare(
      "INSERT OR REPLACE INTO python_threads (thread_id, checkpoint_id, messages) VALUES (?, ?, ?)",
    )
      .run(threadId, newest, found?.saved ?? before);
  }

  #append(threadId: string, ours: BaseMessage[], fresh: BaseMessage[], title: string | undefined): void {
    const thread = ensureThread(this.#db, threadId);
    const messages = this.#rows.write(thread, [...ours, ...fresh]);
    const row = readCheckpoint(this.#db, threadId, "");
    const { id, ...head } = row ? { id: row.id, ...JSON.parse(row.head) } : firstHead();
    const channels: Record<string, Json> = row
      ? JSON.parse(row.channels)
      : { conversation_title: title ?? null };
    const versions = head.channel_versions as Record<string, number>;
    const version = Math.max(0, ...Object.values(versions)) + 1;
    for (const name of ["messages", ...Object.keys(channels)]) versions[name] ??= version;
    versions.messages = version;
    // In place of ours: whatever a clock says, it stays the newest.
    writeCheckpoint(this.#db, {
      thread,
      ns: "",
      id,
      parent: row?.parent ?? null,
      head: JSON.stringify(head),
      channels: JSON.stringify({ ...channels, messages }),
      metadata: row?.metadata ?? JSON.stringify({ source: "update", step: -1, parents: {} }),
    });
    if (row) this.#endTurn(thread, threadId, id);
  }

  /** A turn of ours that waits for a decision, or could be followed again, is not the last one any more. */
  #endTurn(thread: number, threadId: string, checkpoint: string): void {
    this.#db.prepare("DELETE FROM saver_writes WHERE thread = ? AND ns = '' AND checkpoint = ?")
      .run(thread, checkpoint);
    for (const table of ["chat_turns", "chat_approvals"]) {
      this.#db.prepare(`DELETE FROM ${table} WHERE thread_id = ?`).run(threadId);
    }
  }
}

/** The messages that are not in the conversation yet, in their order; `before` of the saved ones were taken earlier. */
function freshMessages(
  { messages, saved, time }: PythonConversation,
  before: number,
  ours: readonly BaseMessage[],
): BaseMessage[] {
  const known = new Map(ours.map((message) => [message.id, message]));
  // Fewer than before: the session was deleted and begun anew.
  const from = saved < before ? 0 : before;
  const cut = (place: number) => `python-cut-${place + 1}`;
  const idOf = (place: number) => place < saved ? `python-${place + 1}` : cut(place);
  return toMessages(messages, isoTime(time) ?? now(), idOf).slice(from).filter((message, i) => {
    if (!message || known.has(message.id)) return false;
    // What was taken as a cut step's result may have been saved after all.
    return known.get(cut(from + i))?.content !== message.content;
  }) as BaseMessage[];
}

function firstHead() {
  const { v, id, ts } = emptyCheckpoint();
  return { id, v, ts, channel_versions: {}, versions_seen: {} };
}

const now = () => new Date().toISOString();
