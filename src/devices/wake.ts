// From a console of which nothing is known to a prompt: boot text, set-up dialogue, login, pagers, questions, half lines.
import { ChannelTimeout } from "./channel.ts";
import type { Look } from "./look.ts";
import type { Question } from "./platform.ts";
import type { Screen } from "./screen.ts";
import { cleanText, lastLine } from "./text.ts";
import { NeedsCredentials, noPrompt, unready } from "./unready.ts";

/** What a node's console is logged in with. Never shown, never logged. */
export interface Credentials {
  username: string;
  password: string;
}

export interface WakeOptions {
  limitMs: number;
  signal: AbortSignal;
  /** Asked only when the device asks. */
  credentials(): Promise<Credentials | undefined>;
}

/** How long each of the keys that wake a console is given. */
const KEYS_MS = 600;
const ENTER_AGAIN_MS = 3_000;
const LISTEN_MS = 150;
/** Longer than the steps of a boot loader's countdown, which a key would stop. */
const BOOT_QUIET_MS = 1_500;
const MOST_LOGINS = 2;

/**
 * Brings the console to a prompt. Confirms nothing, runs nothing that somebody left on the line, and guesses no
 * password. Returns whether it logged in. Throws `AppError` that says what the console shows, `ChannelClosed`, or the
 * signal's reason.
 */
export async function wake(screen: Screen, options: WakeOptions): Promise<{ loggedIn: boolean }> {
  const { channel } = screen;
  const { limitMs, signal } = options;
  const deadline = performance.now() + limitMs;
  await listen(screen, deadline, signal);
  if (performance.now() >= deadline) throw noPrompt(limitMs, channel.take());
  await screen.clearLine(signal);
  const keys = new WakingKeys(screen);
  const dialogue = new Dialogue(screen, options);
  let last = "";
  await keys.first();
  for (;;) {
    const left = deadline - performance.now();
    const before = channel.size;
    const stepMs = keys.more ? KEYS_MS : ENTER_AGAIN_MS;
    try {
      const look = await screen.settle({
        limitMs: Math.min(left, stepMs),
        signal,
        waking: true,
      });
      if (look.kind === "prompt") break;
      // Before the answer: what follows it may come at once.
      last = channel.take();
      await dialogue.answer(look, last);
    } catch (error) {
      if (!(error instanceof ChannelTimeout)) throw error;
      if (performance.now() >= deadline) throw noPrompt(limitMs, last + channel.take());
      // Something was printed, log lines for instance, but nothing more for a while: that is silence too.
      const wholeStep = stepMs === ENTER_AGAIN_MS && left >= stepMs;
      if (wholeStep && channel.size === before) last = channel.take();
      await keys.next(last);
    }
  }
  channel.take();
  return { loggedIn: dialogue.loggedIn };
}

/** A device that prints by itself boots: keys could stop that, so it is left alone until it is quiet. */
async function listen({ channel, platform }: Screen, deadline: number, signal: AbortSignal): Promise<void> {
  await channel.quiet(LISTEN_MS, { limitMs: LISTEN_MS, signal });
  if (channel.size === 0 || platform.invitation?.test(channel.tail)) return;
  await channel.quiet(BOOT_QUIET_MS, { limitMs: deadline - performance.now(), signal });
}

/** The platform's keys, one after the other, and only into silence: what prints would take a return as an answer. */
class WakingKeys {
  readonly #screen: Screen;
  #at = 0;
  #shown = "";

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  get more(): boolean {
    return this.#at < this.#screen.platform.wake.length - 1;
  }

  async first(): Promise<void> {
    this.#at = 0;
    await this.#screen.channel.send(this.#screen.platform.wake[0]!.keys);
  }

  /** The next keys that fit; the last ones again and again. `before` is what was shown and taken. */
  async next(before: string): Promise<void> {
    const { channel, platform: { wake } } = this.#screen;
    const line = lastLine(channel.tail).trimEnd();
    const last = wake.length - 1;
    for (let i = Math.min(this.#at + 1, last); i <= last; i++) {
      const { keys, after, unless } = wake[i]!;
      this.#at = i;
      if (after ? !after.test(line) : channel.size > 0 || unless?.test(this.#shown + before)) continue;
      this.#shown += channel.take();
      return await channel.send(keys);
    }
  }
}

/** Answers what a console says before it shows a prompt. */
class Dialogue {
  loggedIn = false;
  readonly #screen: Screen;
  readonly #options: WakeOptions;
  readonly #cancelled = new Set<string>();
  #named = false;
  #given = 0;
  #credentials?: Credentials;

  constructor(screen: Screen, options: WakeOptions) {
    this.#screen = screen;
    this.#options = options;
  }

  async answer(look: Look, shown: string): Promise<void> {
    const { channel, platform } = this.#screen;
    switch (look.kind) {
      case "pager":
        return await channel.send(platform.pager!.quit);
      case "invited":
        return await channel.send(platform.enter);
      case "login":
        return await this.#logIn(look.wants, shown);
      case "question":
        return await this.#decline(look.question, look.text);
      case "blocked":
        throw unready(look.why);
      case "flood":
        throw unready("its console prints without end");
      default:
        return await this.#screen.clearLine(this.#options.signal);
    }
  }

  async #decline({ answer }: Question, text: string): Promise<void> {
    const { channel, platform } = this.#screen;
    if (answer !== undefined) return await channel.send(answer);
    if (this.#cancelled.has(text)) {
      throw unready(`it waits for an answer that is not given here: "${text}"`);
    }
    this.#cancelled.add(text);
    await channel.send(platform.cancel);
  }

  async #logIn(wants: "username" | "password", shown: string): Promise<void> {
    const { channel, platform } = this.#screen;
    this.#credentials ??= await this.#options.credentials();
    const given = this.#credentials?.[wants];
    if (!this.#credentials || wants === "username" && !given) {
      throw new NeedsCredentials(`its console asks for a ${wants === "username" ? "login" : wants}`);
    }
    // A password that was asked for at first belonged to a name that somebody else had typed.
    const refused = this.#named && platform.login!.refused.test(cleanText(shown));
    if (refused || wants === "password" && this.#given >= MOST_LOGINS) {
      throw new NeedsCredentials("it does not accept those that GNS3 holds for this node");
    }
    await channel.send(given + platform.lineEnding);
    if (wants === "username") this.#named = true;
    else [this.loggedIn, this.#given] = [true, this.#given + 1];
  }
}
