// One engine for every kind of device: wakes the console, finds the prompt, runs commands, and leaves it as it was.
import { AppError } from "../domain/error.ts";
import { type Channel, ChannelClosed, ChannelTimeout } from "./channel.ts";
import { FLOOD, type Look, lookAt } from "./look.ts";
import { cleanOutput, type CommandResult, failureLine, withoutPrompt } from "./output.ts";
import { limitOf, type Mode, nextStep, type Platform } from "./platform.ts";
import { cleanText, lastLine } from "./text.ts";
import { type Echo, typeLine } from "./typing.ts";

/** Milliseconds, and the most characters that one command may print. */
export interface DriverLimits {
  wakeMs: number;
  commandMs: number;
  restoreMs: number;
  outputChars: number;
}

const ENTER_AGAIN_MS = 3_000;
const MOST_STEPS = 6;
const MOST_CLEARS = 20;
const CLEAR_QUIET_MS = 120;
const OTHERS_QUIET_MS = 900;

export class Driver {
  /** What a user should know about the console: somebody else types on it, a line was cleared. */
  readonly notes = new Set<string>();
  readonly #channel: Channel;
  readonly #platform: Platform;
  readonly #limits: DriverLimits;
  #prompt = "";
  #mode?: Mode;
  #found?: Mode;
  #busy = false;

  constructor(channel: Channel, platform: Platform, limits: DriverLimits) {
    this.#channel = channel;
    this.#platform = platform;
    this.#limits = limits;
  }

  /**
   * Brings the console to a prompt in the home mode. Never confirms anything and never runs what somebody left on the
   * line. Throws `unavailable` that says what the console shows, `ChannelClosed`, or the signal's reason.
   */
  async open(signal: AbortSignal): Promise<void> {
    await this.#clearLine(signal);
    await this.#wake(this.#limits.wakeMs, signal);
    this.#found = this.#mode;
    await this.#goTo(this.#platform.home, signal);
    for (const line of this.#platform.onOpen) await this.run(line, signal);
  }

  /**
   * Runs one command that was judged before. Throws `ChannelClosed` before it was sent, `unavailable` when the command
   * before could not be stopped, or the signal's reason.
   */
  async run(command: string, signal: AbortSignal): Promise<CommandResult> {
    if (this.#busy) throw unready("its console did not return to the prompt after the command before");
    const started = performance.now();
    const limitMs = limitOf(this.#platform, command, this.#limits.commandMs);
    const done = (raw: string, more: Partial<CommandResult> = {}): CommandResult => {
      const output = cleanOutput(raw, this.#platform);
      const failed = more.failed ?? failureLine(output, this.#platform);
      const elapsedMs = Math.round(performance.now() - started);
      return { input: command, output, ...more, ...(failed ? { failed } : {}), elapsedMs };
    };
    this.#busy = true;
    const typed = await this.#type(command, signal);
    if (typed !== "shown") {
      this.#busy = false;
      return done("", { failed: NOT_TYPED[typed], notSent: true });
    }
    await this.#channel.send(this.#platform.lineEnding);
    let raw = "";
    try {
      const end = await this.#until(started + limitMs, signal, (text) => void (raw += text));
      raw += this.#channel.take();
      if (end === "prompt") {
        this.#busy = false;
        return done(withoutPrompt(raw));
      }
      const restored = await this.#interrupt(this.#limits.restoreMs, signal);
      raw += this.#channel.take();
      const seconds = Math.round((performance.now() - started) / 1_000);
      const why = end === "limit"
        ? `It did not end by itself and was stopped after ${seconds} s.`
        : end === "flood"
        ? `It printed more than ${this.#limits.outputChars} characters and was stopped.`
        : `The device waits for an answer: "${end.asks}". The command was stopped.`;
      if (!restored) {
        return done(raw, { failed: `${why} The console did not return to its prompt.`, stopped: true });
      }
      return done(withoutPrompt(raw).replace(/\^C\s*$/, ""), { failed: why, stopped: true });
    } catch (error) {
      if (!(error instanceof ChannelClosed)) throw error;
      raw += this.#channel.take();
      return done(raw, { failed: "The console closed while the command ran: has the node stopped?" });
    }
  }

  /** Whether a command is running that must be interrupted before the console is given back. */
  get busy(): boolean {
    return this.#busy;
  }

  /** Leaves the console as it was found: stops what runs, runs the platform's closing commands, goes back to the mode. */
  async leave(signal: AbortSignal): Promise<void> {
    try {
      if (this.#busy && !await this.#interrupt(this.#limits.restoreMs, signal)) return;
      if (!this.#mode) return;
      for (const line of this.#platform.onClose) await this.run(line, signal);
      if (this.#found) await this.#goTo(this.#found.name, signal);
    } catch (error) {
      if (!(error instanceof ChannelClosed || error instanceof AppError)) throw error;
    }
  }

  async #wake(limitMs: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + limitMs;
    let silent = true;
    await this.#channel.send(this.#platform.enter);
    for (;;) {
      const left = deadline - performance.now();
      try {
        const look = await this.#settle(Math.min(left, ENTER_AGAIN_MS), signal);
        silent = false;
        if (look.kind === "prompt") break;
        if (look.kind === "pager") await this.#channel.send(this.#platform.pager!.quit);
        else if (look.kind === "question" && look.question.answer !== undefined) {
          await this.#channel.send(look.question.answer);
        } else if (look.kind === "question") {
          throw unready(`it waits for an answer that is not given here: "${look.text}"`);
        } else await this.#clearLine(signal);
        this.#channel.take();
      } catch (error) {
        if (!(error instanceof ChannelTimeout)) throw error;
        const printed = this.#channel.size > 0;
        if (performance.now() >= deadline) throw this.#notReady(limitMs, silent && !printed);
        // Only into silence: a device that prints is booting or busy, and would take the return as an answer.
        if (!printed) await this.#channel.send(this.#platform.enter);
        silent &&= !printed;
      }
    }
    this.#channel.take();
  }

  #notReady(limitMs: number, silent: boolean): AppError {
    const seconds = Math.round(limitMs / 1_000);
    if (silent) {
      return unready(`its console printed nothing for ${seconds} s: it still boots, or the console hangs`);
    }
    const lines = cleanText(this.#channel.take()).split("\n").map((line) => line.trim()).filter(Boolean);
    const last = lines.slice(-3).join(" / ").slice(-300);
    return unready(
      `it showed no prompt for ${seconds} s: it still boots, or a command runs on it that was not started here` +
        (last ? ` (last lines: ${last})` : ""),
    );
  }

  /** Reads until the prompt; answers pagers and questions on the way. */
  async #until(
    deadline: number,
    signal: AbortSignal,
    keep: (text: string) => void,
  ): Promise<"prompt" | "limit" | "flood" | { asks: string }> {
    let printed = 0;
    for (;;) {
      try {
        const look = await this.#settle(deadline - performance.now(), signal, printed);
        if (look.kind === "prompt") return "prompt";
        if (look.kind === "flood") return "flood";
        if (look.kind === "typed") {
          this.notes.add(SOMEBODY);
          return "prompt";
        }
        if (look.kind === "question" && look.question.answer === undefined) return { asks: look.text };
        printed += this.#channel.size;
        keep(this.#channel.take());
        await this.#channel.send(
          look.kind === "pager" ? this.#platform.pager!.more : look.question.answer!,
        );
      } catch (error) {
        if (error instanceof ChannelTimeout) return "limit";
        throw error;
      }
    }
  }

  /** What the last line is, once the console is quiet. Notes a new prompt: names change in the middle of a batch. */
  async #settle(limitMs: number, signal: AbortSignal, printed = 0): Promise<Look> {
    const look = await this.#channel.settle((tail) => {
      if (printed + this.#channel.size > this.#limits.outputChars) return FLOOD;
      return lookAt(tail, this.#platform, this.#prompt);
    }, { limitMs, signal });
    if (look.kind === "prompt") [this.#prompt, this.#mode] = [look.text, look.mode];
    return look;
  }

  #type(command: string, signal: AbortSignal): Promise<Echo> {
    return typeLine(this.#channel, command, {
      prompt: () => this.#prompt,
      stands: (limitMs) => this.#stands(limitMs, signal),
      clear: () => this.#clearLine(signal),
      enter: () => this.#channel.send(this.#platform.enter),
      disturbed: () => this.notes.add(SOMEBODY),
      signal,
    });
  }

  /** What stands on the line once the console is quiet: the prompt alone, nothing, or something that we did not type. */
  async #stands(limitMs: number, signal: AbortSignal): Promise<"prompt" | "nothing" | "text"> {
    try {
      return await this.#channel.settle((tail) => {
        const look = lookAt(tail, this.#platform, this.#prompt);
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

  /** Empties a half-typed line; the device shows by its backspaces that there was one. */
  async #clearLine(signal: AbortSignal): Promise<void> {
    for (let round = 0; round < MOST_CLEARS; round++) {
      this.#channel.take();
      await this.#channel.send(this.#platform.clear);
      await this.#channel.quiet(CLEAR_QUIET_MS, { limitMs: 2_000, signal });
      if (!this.#channel.tail.includes("\b")) return;
      this.notes.add("Somebody had left a half-typed line on this console; it was cleared, not run.");
    }
    // It echoes, so a line is being edited: the interrupt empties it too, and return must not run the rest of it.
    await this.#channel.send(this.#platform.interrupt);
    await this.#channel.quiet(CLEAR_QUIET_MS, { limitMs: 2_000, signal });
  }

  async #interrupt(limitMs: number, signal: AbortSignal): Promise<boolean> {
    const deadline = performance.now() + limitMs;
    while (performance.now() < deadline) {
      await this.#channel.send(this.#platform.interrupt);
      try {
        const look = await this.#settle(Math.min(1_500, deadline - performance.now()), signal);
        if (look.kind === "prompt") {
          this.#busy = false;
          return true;
        }
        if (look.kind === "pager") await this.#channel.send(this.#platform.pager!.quit);
      } catch (error) {
        if (!(error instanceof ChannelTimeout)) throw error;
      }
    }
    return false;
  }

  /** Walks over the tree of modes, one step at a time, looking at the prompt after each. */
  async #goTo(name: string, signal: AbortSignal): Promise<void> {
    for (let step = 0; step < MOST_STEPS && this.#mode && this.#mode.name !== name; step++) {
      const line = nextStep(this.#platform, this.#mode.name, name);
      if (line === undefined) break;
      await this.run(line, signal);
    }
    if (this.#mode?.name !== name) {
      throw unready(`it is in "${this.#prompt}" and did not go to its ${name} mode`);
    }
  }
}

const SOMEBODY = "Somebody else types on this console at the same time.";
const NOT_TYPED: Record<Exclude<Echo, "shown">, string> = {
  disturbed: "Not sent: somebody else is typing on this console.",
  silent: "Not sent: the console does not show what is typed; the device may hang.",
};

/** `what` completes a sentence that begins with the device's name. */
function unready(what: string): AppError {
  return new AppError("unavailable", what, { retryAfter: 5 });
}
