// One engine for every kind of device: wakes the console, finds the prompt, runs commands, and leaves it as it was.
import { AppError } from "../domain/error.ts";
import { type Channel, ChannelClosed } from "./channel.ts";
import { cleanOutput, type CommandResult, failureLine, withoutPrompt } from "./output.ts";
import { limitOf, type Mode, modeOf, nextStep, type Platform } from "./platform.ts";
import { type Ended, Running } from "./running.ts";
import { Screen } from "./screen.ts";
import { Settings } from "./settings.ts";
import { type Echo, feedLine } from "./typing.ts";
import { NeedsCredentials, unready } from "./unready.ts";
import { type Credentials, wake } from "./wake.ts";

/** Milliseconds, and the most characters that one command may print. */
export interface DriverLimits {
  wakeMs: number;
  commandMs: number;
  restoreMs: number;
  outputChars: number;
}

export interface RunOptions {
  signal: AbortSignal;
  /** The line is typed as it is; a command of the home mode gets the prefix of the mode it runs in. */
  asTyped?: boolean;
  /** It was asked for as a change, so that the device's "are you sure" is agreed to. */
  agreed?: boolean;
}

const MOST_STEPS = 8;
const RESTART_MS = 4_000;
const LOGOUT_MS = 1_500;

export class Driver {
  readonly #screen: Screen;
  readonly #platform: Platform;
  readonly #limits: DriverLimits;
  readonly #credentials: () => Promise<Credentials | undefined>;
  readonly #settings: Settings;
  readonly #running: Running;
  #found?: Mode;
  #foundPrompt = "";
  #loggedIn = false;
  #busy = false;
  #restarting = false;

  constructor(
    channel: Channel,
    platform: Platform,
    limits: DriverLimits,
    credentials: () => Promise<Credentials | undefined> = () => Promise.resolve(undefined),
  ) {
    this.#screen = new Screen(channel, platform, limits.outputChars);
    this.#platform = platform;
    this.#limits = limits;
    this.#credentials = credentials;
    this.#settings = new Settings(platform.session);
    this.#running = new Running(this.#screen, credentials);
  }

  /** What a user should know about the console. */
  get notes(): Set<string> {
    return this.#screen.notes;
  }

  /** The mode in which the console is. */
  get mode(): string {
    return this.#screen.mode?.name ?? "";
  }

  /** What makes a command of the home mode run in this one; undefined where none does. */
  get prefix(): string | undefined {
    return this.#screen.mode?.prefix;
  }

  get prompt(): string {
    return this.#screen.prompt;
  }

  /** Whether a command has made the device restart. */
  get gone(): boolean {
    return this.#restarting;
  }

  /** Whether a command is running that must be interrupted before the console is given back. */
  get busy(): boolean {
    return this.#busy;
  }

  /**
   * Brings the console to a prompt where commands of the home mode run. Never confirms anything and never runs what
   * somebody left on the line. Throws `AppError` that says what the console shows, `ChannelClosed`, or the signal's
   * reason.
   */
  async open(signal: AbortSignal): Promise<void> {
    const options = { limitMs: this.#limits.wakeMs, signal, credentials: this.#credentials };
    this.#loggedIn = (await wake(this.#screen, options)).loggedIn;
    this.#found = this.#screen.mode;
    this.#foundPrompt = this.#screen.prompt;
    if (this.prefix === undefined) await this.#goHome(signal);
  }

  /**
   * Runs one command that was judged before; lines behind a line break are its further input. Throws `ChannelClosed`
   * before it was sent, `unavailable` when the console is not at its prompt, or the signal's reason.
   */
  async run(command: string, options: RunOptions): Promise<CommandResult> {
    const own = (line: string) => this.#runOne(line, { signal: options.signal });
    const longest = Math.max(...command.split("\n").map(({ length }) => length));
    await this.#settings.typing(this.mode, this.prompt.length + longest, own);
    const result = await this.#runOne(command, options);
    const { pageLines } = this.#running;
    if (pageLines > 0 && !this.#busy && !this.#restarting) {
      await this.#settings.paged(this.mode, pageLines, own);
    }
    return result;
  }

  async #runOne(command: string, { signal, asTyped, agreed = false }: RunOptions): Promise<CommandResult> {
    if (this.#restarting) throw unready("it restarts");
    if (this.#busy) throw unready("its console did not return to the prompt after the command before");
    const started = performance.now();
    const restarts = this.#platform.restarts.some((pattern) => pattern.test(command));
    const { ms, endless } = limitOf(this.#platform, command, this.#limits.commandMs);
    const limitMs = restarts ? RESTART_MS : ms;
    const done = (raw: string, more: Partial<CommandResult> = {}): CommandResult => {
      const output = cleanOutput(raw, this.#platform);
      const failed = more.failed ?? failureLine(output, this.#platform);
      const elapsedMs = Math.round(performance.now() - started);
      return { input: command, output, ...more, ...(failed ? { failed } : {}), elapsedMs };
    };
    const [first = "", ...rest] = command.split("\n");
    const prefix = asTyped || this.mode === this.#platform.home ? "" : this.prefix ?? "";
    this.#busy = true;
    const typed = await this.#screen.type(prefix + first, signal);
    if (typed !== "shown") {
      this.#busy = false;
      return done("", { failed: NOT_TYPED[typed], notSent: true });
    }
    const { channel } = this.#screen;
    const asked = { command, agreed, signal };
    await channel.send(this.#platform.lineEnding);
    let raw = "";
    try {
      for (const line of rest) await feedLine(channel, line, this.#platform.lineEnding, signal);
      const end = await this.#running.untilPrompt(started + limitMs, asked, (text) => raw += text);
      if (end === "typed") {
        // Their line stays where the next command finds it, or it would be typed behind it.
        this.#busy = false;
        return done(raw + channel.takeLines());
      }
      raw += channel.take();
      if (end === "prompt") {
        this.#busy = false;
        return done(withoutPrompt(raw, this.#platform));
      }
      if (end === "limit" && restarts) return this.#gone(done(raw));
      const asks = typeof end === "object" ? end.asks : undefined;
      const seconds = Math.round((performance.now() - started) / 1_000);
      const restored = await this.#stop(signal, asks);
      raw += channel.take();
      const why = this.#whyStopped(end, seconds) +
        (restored ? "" : " The console did not return to its prompt.");
      const text = restored ? withoutPrompt(raw, this.#platform).replace(/^\^C[ \t]*\r?\n?/m, "") : raw;
      if (end === "limit" && endless && restored) {
        return done(text, {
          note: `It runs until it is stopped: that was done after ${seconds} s.`,
          stopped: true,
        });
      }
      return done(text, { failed: why, stopped: true, ...(asks ? { asked: asks } : {}) });
    } catch (error) {
      if (!(error instanceof ChannelClosed)) throw error;
      raw += channel.take();
      if (restarts) return this.#gone(done(raw));
      return done(raw, { failed: "The console closed while the command ran: has the node stopped?" });
    }
  }

  /** Walks over the tree of modes, one step at a time, looking at the prompt after each. Throws as `open`. */
  async goTo(name: string, signal: AbortSignal): Promise<void> {
    for (let step = 0; step < MOST_STEPS && this.mode && this.mode !== name; step++) {
      const line = nextStep(this.#platform, this.mode, name);
      if (line === undefined) break;
      const before = this.mode;
      const { asked } = await this.run(line, { signal, asTyped: true });
      if (this.mode === before && asked && this.#platform.login?.password.test(asked)) {
        throw new NeedsCredentials(
          await this.#credentials()
            ? `"${line}" does not accept the password that GNS3 holds for this node`
            : `"${line}" asks for a password`,
        );
      }
    }
    if (this.mode !== name) throw unready(`it is in "${this.prompt}" and did not go to its ${name} mode`);
  }

  /** Leaves the console as it was found: stops what runs, puts settings back, returns to the mode, logs out. */
  async leave(signal: AbortSignal): Promise<void> {
    try {
      if (this.#restarting || this.#busy && !await this.#stop(signal)) return;
      if (!this.mode || !this.#found) return;
      await this.#discard(signal);
      await this.#settings.reset(this.mode, (line) => this.run(line, { signal }));
      await this.#return(this.#found.name, signal);
      if (this.#loggedIn) await this.#logOut(signal);
    } catch (error) {
      if (!(error instanceof ChannelClosed || error instanceof AppError)) throw error;
    }
  }

  /** Reading works below the home mode too, as far as the device lets it: a password that is missing is no end. */
  async #goHome(signal: AbortSignal): Promise<void> {
    const home = modeOf(this.#platform, this.#platform.home);
    try {
      await this.goTo(this.#platform.home, signal);
    } catch (error) {
      if (!(error instanceof NeedsCredentials) || this.mode !== home?.from) throw error;
      this.notes.add(`Commands ran at "${this.prompt}" with fewer rights: ${error.message}.`);
    }
  }

  /** What an aborted call has configured and not committed must not wait for whoever comes next. */
  async #discard(signal: AbortSignal): Promise<void> {
    const { commit } = this.#platform;
    if (!commit?.pending.test(this.prompt) || commit.pending.test(this.#foundPrompt)) return;
    await this.run(commit.discard, { signal, asTyped: true, agreed: true });
    this.notes.add("Lines that were not committed were discarded.");
  }

  async #return(name: string, signal: AbortSignal): Promise<void> {
    try {
      await this.goTo(name, signal);
    } finally {
      // Which interface or process was being configured is not known to us.
      if (this.prompt !== this.#foundPrompt && modeOf(this.#platform, name)?.prefix !== undefined) {
        this.notes.add(`The console was at "${this.#foundPrompt}" and is now at "${this.prompt}".`);
      }
    }
  }

  async #logOut(signal: AbortSignal): Promise<void> {
    const lowest = this.#platform.modes[0]!;
    if (this.mode !== lowest.name && this.#platform.home !== this.mode) await this.goTo(lowest.name, signal);
    const { channel } = this.#screen;
    if (await this.#screen.type(this.#platform.login!.leave, signal) !== "shown") return;
    await channel.send(this.#platform.lineEnding);
    await channel.quiet(400, { limitMs: LOGOUT_MS, signal });
  }

  async #stop(signal: AbortSignal, asks?: string): Promise<boolean> {
    const stopped = await this.#running.stop(this.#limits.restoreMs, signal, asks);
    if (stopped) this.#busy = false;
    return stopped;
  }

  #whyStopped(end: Exclude<Ended, "prompt" | "typed">, seconds: number): string {
    if (end === "limit") {
      return `It did not end by itself and was stopped after ${seconds} s.`;
    }
    if (end === "flood") {
      return `It printed more than ${this.#limits.outputChars} characters and was stopped.`;
    }
    return `The device waits for an answer: "${end.asks}". The command was stopped.`;
  }

  #gone(result: CommandResult): CommandResult {
    [this.#restarting, this.#busy] = [true, false];
    return { ...result, note: "The device restarts; its console answers again when it has booted." };
  }
}

const NOT_TYPED: Record<Exclude<Echo, "shown">, string> = {
  disturbed: "Not sent: somebody else is typing on this console.",
  silent: "Not sent: the console does not show what is typed; the device may hang.",
};
