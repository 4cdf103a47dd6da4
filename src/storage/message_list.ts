// A thread's messages as they were written or read last: the next time there are mostly the same ones, and a few more.
import { type BaseMessage, isChunk } from "./message_codec.ts";
import { type Known, looksAs } from "./known_message.ts";
import { appendRow, type Run } from "./ranges.ts";

/** Shorter lists are not worth remembering. */
export const LONG = 16;

/** Messages in their order with the rows that hold them. */
export class MessageList {
  readonly #messages: BaseMessage[] = [];
  readonly #known: Known[] = [];
  readonly #runs: Run[] = [];
  /** A chunk is not what reading its row gives. */
  #readable = true;

  /** The rows, in the messages' order. */
  get runs(): readonly Run[] {
    return this.#runs;
  }

  /** Adds a message; `known` tells its row. */
  add(message: BaseMessage, known: Known): void {
    this.#messages.push(message);
    this.#known.push(known);
    appendRow(this.#runs, known.seq);
    this.#readable &&= !isChunk(message);
  }

  /** Whether `messages` begins with these, each as it was. Answers their number then. */
  begins(messages: readonly unknown[]): number | undefined {
    const count = this.#messages.length;
    if (messages.length < count) return undefined;
    for (let i = 0; i < count; i++) {
      if (messages[i] !== this.#messages[i] || !looksAs(this.#messages[i]!, this.#known[i]!)) {
        return undefined;
      }
    }
    return count;
  }

  /** The messages, when `runs` are exactly their rows. */
  read(runs: readonly Run[]): BaseMessage[] | undefined {
    return this.#readable && this.holds(runs) ? this.#messages.slice() : undefined;
  }

  /** Whether `runs` are exactly the messages' rows. */
  holds(runs: readonly Run[]): boolean {
    return runs.length === this.#runs.length &&
      runs.every(([first, last], i) => first === this.#runs[i]![0] && last === this.#runs[i]![1]);
  }
}
