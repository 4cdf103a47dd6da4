// Message objects that were read or written lately, by row number and the other way round.
import { type BaseMessage, isChunk } from "./message_codec.ts";
import { know, type Known, looksAs } from "./known_message.ts";
import type { MessageList } from "./message_list.ts";

/** Cached messages of one thread by row number. */
interface Thread {
  messages: Map<number, BaseMessage>;
  characters: number;
  /** The last long list of them. */
  list?: MessageList;
}

/** Bounded by the length of the cached texts; whole threads leave it, the longest unused first. */
export class MessageCache {
  readonly #limit: number;
  /** Least recently used first. */
  readonly #threads = new Map<number, Thread>();
  #characters = 0;
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
    for (const other of this.#threads.keys()) {
      if (this.#characters <= this.#limit || other === thread) break;
      this.#drop(other);
    }
    return entry.messages;
  }

  /** The row that holds exactly this object's present content; undefined when it must be stored (again). */
  rowOf(thread: number, message: BaseMessage): number | undefined {
    const known = this.#known.get(message);
    if (known?.thread !== thread || this.#deleted.get(thread)?.has(known.seq)) return undefined;
    if (looksAs(message, known)) return known.seq;
    // Changed since: it is no longer what its row reads as.
    this.#forget(thread, known.seq);
    return undefined;
  }

  /** Notes that `message` is row `seq`, a text of `characters`. */
  add(thread: number, seq: number, message: BaseMessage, characters: number): void {
    this.#known.set(message, know(thread, seq, message));
    // A chunk is read back as a whole message, so the chunk itself is not what to return.
    if (isChunk(message)) return;
    const entry = this.#thread(thread);
    if (!entry.messages.has(seq)) {
      entry.characters += characters;
      this.#characters += characters;
    }
    entry.messages.set(seq, message);
  }

  /** What is known of a message object, when it is a row of `thread`. */
  known(thread: number, message: BaseMessage): Known | undefined {
    const known = this.#known.get(message);
    return known?.thread === thread ? known : undefined;
  }

  /** The list that `setList` was given last, while all of it is still stored and cached. */
  list(thread: number): MessageList | undefined {
    return this.#threads.get(thread)?.list;
  }

  /** Remembers a list of a thread's messages. */
  setList(thread: number, list: MessageList): void {
    this.#thread(thread).list = list;
  }

  /** Notes that a row was deleted. */
  delete(thread: number, seq: number): void {
    const deleted = this.#deleted.get(thread) ?? new Set();
    this.#deleted.set(thread, deleted.add(seq));
    this.#forget(thread, seq);
  }

  /** Drops the messages of the threads for which `unwanted` is true. */
  evict(unwanted: (thread: number) => boolean): void {
    for (const thread of this.#threads.keys()) if (unwanted(thread)) this.#drop(thread);
  }

  /** Drops everything: after a rollback row numbers may come to mean something else. */
  clear(): void {
    this.#known = new WeakMap();
    this.#threads.clear();
    this.#characters = 0;
    this.#deleted.clear();
  }

  #forget(thread: number, seq: number): void {
    const entry = this.#thread(thread);
    entry.messages.delete(seq);
    entry.list = undefined;
  }

  #drop(thread: number): void {
    this.#characters -= this.#threads.get(thread)?.characters ?? 0;
    this.#threads.delete(thread);
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
