// A console as text: always reads, keeps what nobody has taken yet, and waits until it shows what somebody looks for.
import { AppError } from "../domain/error.ts";
import type { Transport } from "./transport.ts";

/** The console did not show what was looked for within the time limit. */
export class ChannelTimeout extends Error {
  override readonly name = "ChannelTimeout";
}

/** The connection ended. */
export class ChannelClosed extends Error {
  override readonly name = "ChannelClosed";
}

/** Something that was seen; it counts once the console has been quiet for `quietMs` since its last byte. */
export interface Sight<T> {
  value: T;
  quietMs: number;
}

export interface WaitOptions {
  limitMs: number;
  signal?: AbortSignal;
}

/** A prompt, a pager's line or an echo is never longer. */
const TAIL = 4_096;

/** What nobody takes is kept up to here, the newest of it: a device may print without an end. In characters. */
const MOST_KEPT = 8_000_000;

/** Owns the transport: `close` ends both. */
export class Channel {
  readonly #transport: Transport;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;
  #chunks: string[] = [];
  #size = 0;
  #kept = 0;
  #tail = "";
  #closed = false;
  #change = Promise.withResolvers<void>();

  constructor(transport: Transport) {
    this.#transport = transport;
    this.#writer = transport.writable.getWriter();
    this.#writer.closed.catch(() => {});
    this.#reading = this.#read();
  }

  /** Characters that came since the last time they were taken. */
  get size(): number {
    return this.#size;
  }

  /** What came since the last time, as it came; the end of it when it is more than 8,000,000 characters. */
  take(): string {
    const text = this.#chunks.join("");
    [this.#chunks, this.#size, this.#kept, this.#tail] = [[], 0, 0, ""];
    return text;
  }

  /** The lines that came and were not taken; what stands on the line that has not ended stays. */
  takeLines(): string {
    const text = this.take();
    const end = text.lastIndexOf("\n") + 1;
    this.#keep(text.slice(end));
    return text.slice(0, end);
  }

  /** The end of what was not taken. */
  get tail(): string {
    return this.#tail;
  }

  /** Sends `text` as it is. Throws `ChannelClosed`. */
  async send(text: string): Promise<void> {
    if (this.#closed) throw new ChannelClosed("The console connection is closed.");
    try {
      await this.#writer.write(new TextEncoder().encode(text));
    } catch (error) {
      // The right to type here was taken away.
      if (error instanceof AppError) throw error;
      throw new ChannelClosed("The console connection is closed.");
    }
  }

  /**
   * Waits until `look` finds something at the end of what came (at most the last 4,096 characters) and the console
   * stays quiet for the time it asks for. Throws `ChannelTimeout`, `ChannelClosed`, or the signal's reason.
   */
  async settle<T>(look: (tail: string) => Sight<T> | undefined, options: WaitOptions): Promise<T> {
    const deadline = performance.now() + options.limitMs;
    for (;;) {
      options.signal?.throwIfAborted();
      const sight = look(this.#tail);
      if (sight && sight.quietMs <= 0) return sight.value;
      const left = deadline - performance.now();
      // Something seen may still be confirmed by silence when the time is up.
      const changed = await this.#wait(sight ? sight.quietMs : left, options.signal);
      if (changed === "quiet") {
        if (sight) return sight.value;
        throw new ChannelTimeout("The console did not answer in time.");
      }
      if (changed === "closed") {
        const last = look(this.#tail);
        if (last) return last.value;
        throw new ChannelClosed("The console connection was closed.");
      }
      if (left <= 0) throw new ChannelTimeout("The console did not answer in time.");
    }
  }

  /** Waits for `ms` without a byte, at most `limitMs`; whether it became quiet. Returns early when it closes. */
  async quiet(ms: number, options: WaitOptions): Promise<boolean> {
    const deadline = performance.now() + options.limitMs;
    while (performance.now() < deadline) {
      if (await this.#wait(ms, options.signal) !== "data") return true;
    }
    return false;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#transport.close();
    await this.#reading;
  }

  async #wait(ms: number, signal?: AbortSignal): Promise<"data" | "quiet" | "closed"> {
    if (this.#closed) return "closed";
    const { promise, resolve } = Promise.withResolvers<"data" | "quiet">();
    const timer = setTimeout(() => resolve("quiet"), Math.max(0, ms));
    const wake = () => resolve("data");
    signal?.addEventListener("abort", wake, { once: true });
    try {
      const event = await Promise.race([promise, this.#change.promise.then(() => "data" as const)]);
      signal?.throwIfAborted();
      return this.#closed ? "closed" : event;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
    }
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    const reader = this.#transport.readable.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        this.#keep(decoder.decode(value, { stream: true }));
        this.#changed();
      }
    } catch {
      // The end of the stream, for whatever reason, is all there is to know.
    }
    this.#closed = true;
    this.#changed();
  }

  #keep(text: string) {
    this.#chunks.push(text);
    this.#size += text.length;
    this.#kept += text.length;
    if (this.#kept > 2 * MOST_KEPT) {
      this.#chunks = [this.#chunks.join("").slice(-MOST_KEPT)];
      this.#kept = MOST_KEPT;
    }
    this.#tail = (this.#tail + text).slice(-TAIL);
  }

  #changed() {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }
}
