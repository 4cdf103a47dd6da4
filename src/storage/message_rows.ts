// The rows of a thread that hold messages and other large values, each stored once.
import { type BaseMessage, isBaseMessage } from "@langchain/core/messages";
import { type Json, pack, type References, tagged, unpack } from "./codec.ts";
import type { Database, Value } from "./connection.ts";
import { damaged } from "./errors.ts";
import { hashOf } from "./hash.ts";
import { MessageCache } from "./message_cache.ts";
import { decodeMessage, encodeMessage, type StoredMessage } from "./message_codec.ts";
import { LONG, MessageList } from "./message_list.ts";
import { formatRanges, formatRuns, parseRanges, type Run } from "./ranges.ts";

/** What a row of its own holds: no other row. */
const NO_REFERENCES: References = {
  write: () => null,
  read: () => {
    throw damaged();
  },
};

/** JSON text of this length or more is stored as a row of its own, so that copies of a checkpoint share it. */
const LARGE = 512;

/**
 * Writes and reads `saver_rows`, and the values that refer to them. Messages that it returns are shared: nobody may
 * change them. Write inside a transaction.
 */
export class MessageRows {
  readonly #db: Database;
  readonly #cache: MessageCache;

  /** `cachedCharacters` bounds the text of the messages kept in memory. */
  constructor(db: Database, cachedCharacters: number) {
    this.#db = db;
    this.#cache = new MessageCache(cachedCharacters);
    db.onRollback(() => this.#cache.clear());
  }

  /** A channel's value as it stands in a checkpoint or a write: itself, or a reference to a row where it is large. */
  write(thread: number, value: unknown): Json {
    let refers = false;
    const json = pack(value, {
      write: (part) => {
        const reference = this.#reference(thread, part);
        refers ||= reference !== null;
        return reference;
      },
      read: () => null,
    });
    if (refers || json === null || typeof json === "boolean" || typeof json === "number") return json;
    const text = JSON.stringify(json);
    if (text.length < LARGE) return json;
    return tagged("row", this.#store(thread, { kind: "value", id: null, content: text, rest: null }));
  }

  /** The value that `write` was given. Changes `json` on the way: hand over what was just parsed. */
  read(thread: number, json: Json): unknown {
    const references: References = {
      write: () => null,
      read: (tag, value) => {
        if (tag === "m") return this.messages(thread, [[value as number, value as number]])[0];
        if (tag === "ms") return this.messages(thread, parseRanges(value as string));
        if (tag === "row") return unpack(this.#readValue(thread, value as number), NO_REFERENCES);
        throw damaged();
      },
    };
    return unpack(json, references);
  }

  /** The messages in `runs`, in that order; from memory where they are, else in one query. */
  messages(thread: number, runs: readonly Run[]): BaseMessage[] {
    const cached = this.#cache.messages(thread);
    const remembered = this.#cache.list(thread)?.read(runs);
    if (remembered) return remembered;
    let first = Infinity;
    let last = 0;
    for (const [from, to] of runs) {
      let seq = from;
      while (seq <= to && cached.has(seq)) seq++;
      if (seq > to) continue;
      first = Math.min(first, seq);
      last = Math.max(last, to);
    }
    if (last > 0) this.#load(thread, cached, first, last);
    const result: BaseMessage[] = [];
    for (const [from, to] of runs) {
      for (let seq = from; seq <= to; seq++) {
        const message = cached.get(seq);
        if (!message) throw damaged();
        result.push(message);
      }
    }
    this.#remember(thread, result, runs);
    return result;
  }

  /** Deletes rows that nothing refers to any more. */
  delete(thread: number, runs: readonly Run[]): void {
    for (const [first, last] of runs) {
      this.#db.prepare("DELETE FROM saver_rows WHERE thread = ? AND seq BETWEEN ? AND ?").run(
        thread,
        first,
        last,
      );
      for (let seq = first; seq <= last; seq++) this.#cache.delete(thread, seq);
    }
  }

  /** Drops the cached messages of the threads for which `unwanted` is true. */
  evict(unwanted: (thread: number) => boolean): void {
    this.#cache.evict(unwanted);
  }

  /** What stands for a message, or for an array of nothing but messages; null for anything else. */
  #reference(thread: number, value: object): Json | null {
    if (isBaseMessage(value)) return tagged("m", this.#rowOf(thread, value));
    if (!Array.isArray(value) || value.length === 0) return null;
    const list = this.#cache.list(thread);
    const begun = list?.begins(value) ?? 0;
    const rest = begun > 0 ? value.slice(begun) : value as unknown[];
    if (!rest.every(isBaseMessage)) return null;
    const rows = rest.map((message) => this.#rowOf(thread, message));
    if (begun > 0) {
      for (const message of rest) list!.add(message, this.#cache.known(thread, message)!);
      return tagged("ms", formatRuns(list!.runs));
    }
    this.#remember(thread, rest);
    return tagged("ms", formatRanges(rows));
  }

  /** For the next time: see `MessageList`. */
  #remember(thread: number, messages: readonly BaseMessage[], runs?: readonly Run[]): void {
    if (messages.length < LONG) return;
    const list = new MessageList();
    for (const message of messages) {
      const known = this.#cache.known(thread, message);
      if (!known) return;
      list.add(message, known);
    }
    if (!runs || list.holds(runs)) this.#cache.setList(thread, list);
  }

  #rowOf(thread: number, message: BaseMessage): number {
    const known = this.#cache.rowOf(thread, message);
    if (known !== undefined) return known;
    const stored = encodeMessage(message);
    const seq = this.#store(thread, stored);
    this.#cache.add(thread, seq, message, size(stored));
    return seq;
  }

  /** The number of a row with exactly these columns: one that is there already, else a new one. */
  #store(thread: number, { kind, id, content, rest }: StoredMessage): number {
    const hash = hashOf(kind, id ?? "", content ?? "", rest ?? "");
    // The index is named because SQLite would otherwise rather walk through the whole thread.
    const same = this.#db.prepare(
      `SELECT seq FROM saver_rows INDEXED BY saver_rows_hash
       WHERE thread = ? AND hash = ? AND kind = ? AND id IS ? AND content IS ? AND rest IS ?`,
    ).get(thread, hash, kind, id, content, rest);
    if (same) return same.seq as number;
    const next = this.#db.prepare(
      "UPDATE saver_threads SET next_seq = next_seq + 1 WHERE id = ? RETURNING next_seq - 1 AS seq",
    ).get(thread);
    const seq = next!.seq as number;
    this.#db.prepare(
      "INSERT INTO saver_rows (thread, seq, kind, id, content, rest, hash) VALUES (?, ?, ?, ?, ?, ?, ?)",
    ).run(thread, seq, kind, id, content, rest, hash);
    return seq;
  }

  #load(thread: number, cached: ReadonlyMap<number, BaseMessage>, first: number, last: number): void {
    const rows = this.#db.prepare(
      `SELECT seq, kind, id, content, rest FROM saver_rows
       WHERE thread = ? AND seq BETWEEN ? AND ? AND kind <> 'value'`,
    ).arrays(thread, first, last);
    for (const [seq, ...columns] of rows) {
      if (cached.has(seq as number)) continue;
      const stored = toStored(columns);
      this.#cache.add(thread, seq as number, decodeMessage(stored), size(stored));
    }
  }

  #readValue(thread: number, seq: number): Json {
    const row = this.#db.prepare("SELECT content FROM saver_rows WHERE thread = ? AND seq = ?").get(
      thread,
      seq,
    );
    if (typeof row?.content !== "string") throw damaged();
    return JSON.parse(row.content);
  }
}

function toStored([kind, id, content, rest]: Value[]): StoredMessage {
  return {
    kind: kind as string,
    id: id as string | null,
    content: content as string | null,
    rest: rest as string | null,
  };
}

function size({ content, rest }: StoredMessage): number {
  // 300: the objects around the text.
  return 300 + (content?.length ?? 0) + (rest?.length ?? 0);
}
