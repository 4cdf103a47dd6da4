// The line discipline of a practice console: one session that all clients share, with echo, editing, type-ahead and
// interruption. What the device understands is the shell's business.
import { joinSignals } from "../domain/signals.ts";
import { sleep } from "./timing.ts";

/** What a running command may do. Text uses "\n"; the terminal sends CR LF. */
export interface ShellIo {
  /** Aborted when the user interrupts the command or the device goes off. */
  signal: AbortSignal;
  print(text: string): void;
  pause(ms: number): Promise<void>;
  /** Prints a question and reads the answer's line. */
  ask(question: string): Promise<string>;
  /** Reads one key without echo. */
  key(): Promise<string>;
}

/** A device's command line. */
export interface Shell {
  prompt(): string;
  /** Runs one line. Throwing the io's abort reason is how an interrupted command ends. */
  run(line: string, io: ShellIo): Promise<void>;
  /** Shown before the first prompt. */
  boot?(io: ShellIo): Promise<void>;
  /** Control-C or Control-Z at the prompt: the half-typed line is dropped; answers what to print before the next prompt. */
  control?(key: string): string;
  /** What `?` shows in the middle of a line; without it `?` is an ordinary character. */
  help?(line: string): string;
  /** The key that interrupts a command, and how it is echoed. */
  interruptKey: string;
  interruptEcho: string;
  /** True when LF after CR counts as a second Enter, as on a serial console. */
  doubleEnter: boolean;
}

const MAX_TYPE_AHEAD = 10_000;
const ENTER = "\r";

class Interrupted extends Error {}

/** One console session; lives while its device is on. `close()` ends it. */
export class Terminal {
  /** Ends when the session has ended; never rejects. */
  readonly finished: Promise<void>;
  #keys: string[] = [];
  #waiting: (() => void) | null = null;
  #line = "";
  #atPrompt = false;
  #running: AbortController | null = null;
  #closed = new AbortController();
  #frozen = false;
  #lastWasCr = false;
  #news: string[] = [];
  readonly #shell: Shell;
  readonly #output: (text: string) => void;

  /** `output` receives what every client is to see. */
  constructor(shell: Shell, output: (text: string) => void) {
    this.#shell = shell;
    this.#output = (text) => output(text.replaceAll("\n", "\r\n"));
    this.finished = this.#session().catch(() => {});
  }

  close(): void {
    this.#closed.abort(new Interrupted("The device was switched off."));
    this.#wake();
  }

  /** A suspended device takes no input; what is typed waits. */
  freeze(frozen: boolean): void {
    this.#frozen = frozen;
    this.#wake();
  }

  /** What any of the clients typed. */
  input(text: string): void {
    for (const key of text) {
      if (key === "\0") continue;
      const afterCr = this.#lastWasCr;
      this.#lastWasCr = key === ENTER;
      if (key === "\n" && afterCr && !this.#shell.doubleEnter) continue;
      if (this.#running && key === this.#shell.interruptKey) {
        this.#output(this.#shell.interruptEcho);
        this.#running.abort(new Interrupted("Interrupted."));
        continue;
      }
      if (this.#keys.length < MAX_TYPE_AHEAD) this.#keys.push(key === "\n" ? ENTER : key);
    }
    this.#wake();
  }

  /** A message of the device itself. At the prompt the prompt and the half-typed line are shown again after it. */
  notify(text: string): void {
    this.#news.push(text);
    if (!this.#atPrompt) return;
    this.#tellNews("\n");
    this.#output(this.#shell.prompt() + this.#line);
  }

  #tellNews(before: string): void {
    if (this.#news.length) this.#output(`${before}${this.#news.join("\n")}\n`);
    this.#news = [];
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = null;
  }

  async #session(): Promise<void> {
    if (this.#shell.boot) await this.#command((io) => this.#shell.boot!(io));
    for (;;) {
      this.#tellNews("");
      this.#output(this.#shell.prompt());
      this.#atPrompt = true;
      const line = await this.#readLine(this.#closed.signal, true);
      this.#atPrompt = false;
      await this.#command((io) => this.#shell.run(line, io));
    }
  }

  async #command(work: (io: ShellIo) => Promise<void>): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    const joined = joinSignals([running.signal, this.#closed.signal]);
    const { signal } = joined;
    const io: ShellIo = {
      signal,
      print: (text) => {
        if (!this.#closed.signal.aborted) this.#output(text);
      },
      pause: (ms) => sleep(ms, signal),
      ask: (question) => {
        this.#output(question);
        return this.#readLine(signal, false);
      },
      key: () => this.#nextKey(signal),
    };
    try {
      await work(io);
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
    } finally {
      joined[Symbol.dispose]();
      this.#running = null;
    }
    this.#closed.signal.throwIfAborted();
  }

  async #nextKey(signal: AbortSignal): Promise<string> {
    while (this.#keys.length === 0 || this.#frozen) {
      signal.throwIfAborted();
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting = resolve;
      // Whoever aborts the signal wakes this up too.
      await promise;
    }
    return this.#keys.shift()!;
  }

  /** Reads and echoes a line. Control-C and Control-Z at the prompt go to the shell and start the line anew. */
  async #readLine(signal: AbortSignal, atPrompt: boolean): Promise<string> {
    this.#line = "";
    for (;;) {
      const key = await this.#nextKey(signal);
      if (key === ENTER) {
        this.#output("\n");
        const line = this.#line;
        this.#line = "";
        return line;
      }
      if (atPrompt && (key === "\x03" || key === "\x1a") && this.#shell.control) {
        this.#line = "";
        this.#atPrompt = false;
        this.#output(this.#shell.control(key));
        this.#tellNews("");
        this.#output(this.#shell.prompt());
        this.#atPrompt = true;
      } else if (atPrompt && key === "?" && this.#shell.help) {
        this.#output(`?\n${this.#shell.help(this.#line)}${this.#shell.prompt()}${this.#line}`);
      } else if (key === "\x12" && this.#shell.help) {
        this.#output(`\n${atPrompt ? this.#shell.prompt() : ""}${this.#line}`);
      } else if (key === "\x1b") {
        await this.#skipEscapeSequence(signal);
      } else {
        this.#edit(key);
      }
    }
  }

  #edit(key: string): void {
    const erase = (count: number) => {
      this.#line = this.#line.slice(0, this.#line.length - count);
      this.#output("\b \b".repeat(count));
    };
    if (key === "\x7f" || key === "\b") erase(Math.min(1, this.#line.length));
    else if (key === "\x15" || key === "\x18") erase(this.#line.length);
    else if (key === "\x17") erase(/\S*\s*$/.exec(this.#line)?.[0].length ?? 0);
    else if (key >= " ") {
      this.#line += key;
      this.#output(key);
    }
  }

  // Arrow keys and the like; the practice consoles have no history.
  async #skipEscapeSequence(signal: AbortSignal): Promise<void> {
    if (await this.#nextKey(signal) !== "[") return;
    while (!/[A-Za-z~]/.test(await this.#nextKey(signal)));
  }
}
