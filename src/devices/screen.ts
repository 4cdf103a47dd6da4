// A console as somebody sees it who sits before it: what stands on the last line, which prompt it is, and typing a line.
import { type Channel, ChannelTimeout } from "./channel.ts";
import { FLOOD, type Look, lookAt, lookAtWaking } from "./look.ts";
import type { Mode, Platform } from "./platform.ts";
import { lastLine } from "./text.ts";
import { type Echo, typeLine } from "./typing.ts";

const MOST_CLEARS = 20;
const CLEAR_QUIET_MS = 120;
const OTHERS_QUIET_MS = 900;
// deno-lint-ignore no-control-regex -- bells and padding, which terminals of old needed
const PADDING = /[\x00\x07]/g;
// deno-lint-ignore no-control-regex -- backspaces, blanks and the sequences that erase
const ONLY_ERASED = /^(?:[ \r]|\x1b\[\d*[CDKJP])*\x08(?:[\b \r]|\x1b\[\d*[CDKJP])*$/;
// Or the prompt is drawn again over the line, which is wiped by blanks or a sequence.
// deno-lint-ignore no-control-regex -- the sequences that go up and erase
const DRAWN_AGAIN = /^(?:\x1b\[\d*A)*[\r\b]([^\r\n]*?)(?: +\r\1 ?|\x1b\[\d*[JK][^]*)$/;

export const SOMEBODY = "Somebody else types on this console at the same time.";
const CLEARED = "Somebody had left a half-typed line on this console; it was cleared, not run.";

export interface SettleOptions {
  limitMs: number;
  signal: AbortSignal;
  /** Characters of the same output that were taken already. */
  printed?: number;
  waking?: boolean;
}

export class Screen {
  readonly channel: Channel;
  readonly platform: Platform;
  /** What a user should know about the console: somebody else types on it, a line was cleared. */
  readonly notes = new Set<string>();
  readonly #outputChars: number;
  prompt = "";
  mode?: Mode;

  constructor(channel: Channel, platform: Platform, outputChars: number) {
    this.channel = channel;
    this.platform = platform;
    this.#outputChars = outputChars;
  }

  /**
   * What the last line is, once the console is quiet. Keeps a new prompt: names change in the middle of a batch. Throws
   * `ChannelTimeout`, `ChannelClosed`, or the signal's reason.
   */
  async settle({ limitMs, signal, printed = 0, waking }: SettleOptions): Promise<Look> {
    const look = await this.channel.settle((tail) => {
      if (printed + this.channel.size > this.#outputChars) return FLOOD;
      return waking ? lookAtWaking(tail, this.platform) : lookAt(tail, this.platform, this.prompt);
    }, { limitMs, signal });
    if (look.kind === "prompt") [this.prompt, this.mode] = [look.text, look.mode];
    return look;
  }

  /** Types one line without return; only a line that stands there whole and alone is "shown". */
  type(line: string, signal: AbortSignal): Promise<Echo> {
    return typeLine(this.channel, line, {
      prompt: () => this.prompt,
      stands: (limitMs) => this.#stands(limitMs, signal),
      clear: () => this.clearLine(signal),
      enter: () => this.channel.send(this.platform.enter),
      disturbed: () => this.notes.add(SOMEBODY),
      signal,
    });
  }

  /** Empties a half-typed line; the device shows by its backspaces that there was one. */
  async clearLine(signal: AbortSignal): Promise<void> {
    for (let round = 0; round < MOST_CLEARS; round++) {
      this.channel.take();
      await this.channel.send(this.platform.clear);
      await this.channel.quiet(CLEAR_QUIET_MS, { limitMs: 2_000, signal });
      const came = this.channel.tail.replace(PADDING, "");
      const erased = ONLY_ERASED.test(came);
      // Anything else than erasing: the keys have ended a pager or a question, and no line was lost.
      if (erased || DRAWN_AGAIN.test(came)) this.notes.add(CLEARED);
      if (!erased) return;
    }
    // It echoes, so a line is being edited: the interrupt empties it too, and return must not run the rest of it.
    await this.channel.send(this.platform.interrupt[0]!);
    await this.channel.quiet(CLEAR_QUIET_MS, { limitMs: 2_000, signal });
  }

  /** What stands on the line once the console is quiet: the prompt alone, nothing, or something that we did not type. */
  async #stands(limitMs: number, signal: AbortSignal): Promise<"prompt" | "nothing" | "text"> {
    try {
      return await this.channel.settle((tail) => {
        const look = lookAt(tail, this.platform, this.prompt);
        if (look?.value.kind === "prompt") return { value: "prompt" as const, quietMs: look.quietMs };
        return {
          value: lastLine(tail).trim() ? "text" as const : "nothing" as const,
          quietMs: OTHERS_QUIET_MS,
        };
      }, { limitMs, signal });
    } catch (error) {
      if (error instanceof ChannelTimeout) return "text";
      throw error;
    }
  }
}
