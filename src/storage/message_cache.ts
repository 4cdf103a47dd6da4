// Message objects that were read or written lately, by row number and the other way round.
import { type AIMessage, type BaseMessage, isChunk } from "./message_codec.ts";

/** Where a message object was stored, and what it looked like then: messages are not frozen. */
interface Known {
  thread: number;
  seq: number;
  id: string | undefined;
  content: unknown;
  kwargs: unknown;
  calls: unknown;
}

/** Cached messages of one thread by row number. */
interface Thread {
  messages: Map<number, BaseMessage>;
  characters: number;
}

/** Bounded by the length of the cached texts; whole threads leave it, the longest unused first. */
export class MessageCache {
  readonly #limit: number;
  /** Least recently used first. */
  readonly #threads = new Map<number, Thread>();
  #known = new WeakMap<BaseMessage, Known>();
  /** Rows deleted since the start: a message object may outlive its row. */
  readonly #deleted = new Map<number, Set<number>>();

  /** `limit` is in characters; the thread in use stays whatever its size. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The cached messages of a thread, which becomes the most recently used one. */
  messages(thread: number): ReadonlyMap<number, BaseMessage> {
    const entry = this.#thread(thread);
    this.#threads.delete(thread);
    this.#threads.set(thread, entry);
    let characters = 0;
    for (const { characters: own } of this.#threads.values()) characters += own;
    for (const [other, { characters: own }] of this.#threads) {
      if (characters <= this.#limit || other === thread) break;
      characters -= own;
      this.#threads.delete(other);
    }
    return entry.messages;
  }

  /** The row that holds exactly this object's present content; undefined when it must be stored (again). */
  rowOf(thread: number, message: BaseMessage): number | undefined {
    const known = this.#known.get(message);
    if (known?.thread !== thread || this.#deleted.get(thread)?.has(known.seq)) return undefined;
    if (
      known.id === message.id && known.content === message.content &&
      known.kwargs === message.additional_kwargs &&
      known.calls === callsOf(message)
    ) return known.seq;
    // Changed since: it is no longer what its row reads as.
    this.#thread(thread).messages.delete(known.seq);
    return undefined;
  }

  /** Notes that `message` is row `seq`, a text of `characters`. */
  add(thread: number, seq: number, message: BaseMessage, characters: number): void {
    const { id, content, additional_kwargs: kwargs } = message;
    this.#known.set(message, { thread, seq, id, content, kwargs, calls: callsOf(message) });
    // A chunk is read back as a whole message, so the chunk itself is not what to return.
    if (isChunk(message)) return;
    const entry = this.#thread(thread);
    if (!entry.messages.has(seq)) entry.characters += characters;
    entry.messages.set(seq, message);
  }

  /** Notes that a row was deleted. */
  delete(thread: number, seq: number): void {
    const deleted = this.#deleted.get(thread) ?? new Set();
    this.#deleted.set(thread, deleted.add(seq));
    this.#thread(thread).messages.delete(seq);
  }

  /** Drops the messages of the threads for which `unwanted` is true. */
  evict(unwanted: (thread: number) => boolean): void {
    for (const thread of this.#threads.keys()) if (unwanted(thread)) this.#threads.delete(thread);
  }

  /** Drops everything: after a rollback row numbers may come to mean something else. */
  clear(): void {
    this.#known = new WeakMap();
    this.#threads.clear();
    this.#deleted.clear();
  }

  #thread(thread: number): Thread {
    let entry = this.#threads.get(thread);
    if (!entry) {
      entry = { messages: new Map(), characters: 0 };
      this.#threads.set(thread, entry);
    }
    return entry;
  }
}

function callsOf(message: BaseMessage): unknown {
  return message.type === "ai" ? (message as AIMessage).tool_calls : undefined;
}
