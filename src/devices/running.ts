// A command that runs on a console: reads until the prompt, answers pagers and questions, stops what does not end.
import { ChannelTimeout } from "./channel.ts";
import type { Look } from "./look.ts";
import type { Question } from "./platform.ts";
import { type Screen, SOMEBODY } from "./screen.ts";
import type { Credentials } from "./wake.ts";

/**
 * How it ended: at the prompt, at the prompt with something behind it that somebody else typed, at a limit, or at a
 * question that nobody answers here.
 */
export type Ended = "prompt" | "typed" | "limit" | "flood" | { asks: string };

export interface Asked {
  command: string;
  /** It was meant as a change, so that the device's "are you sure" is agreed to. */
  agreed: boolean;
  signal: AbortSignal;
}

const STOP_MS = 1_500;
const STOP_QUESTION_MS = 700;

export class Running {
  readonly #screen: Screen;
  readonly #credentials: () => Promise<Credentials | undefined>;
  /** How many lines the first page had that the device showed; 0 while it showed none. */
  pageLines = 0;

  constructor(screen: Screen, credentials: () => Promise<Credentials | undefined>) {
    this.#screen = screen;
    this.#credentials = credentials;
  }

  /** Reads until the prompt; `keep` gets all text but the last. Throws `ChannelClosed`, or the signal's reason. */
  async untilPrompt(deadline: number, asked: Asked, keep: (text: string) => void): Promise<Ended> {
    const { channel, platform, notes } = this.#screen;
    const answered = new Set<string>();
    let printed = 0;
    for (;;) {
      let look: Look;
      try {
        const limitMs = deadline - performance.now();
        look = await this.#screen.settle({ limitMs, signal: asked.signal, printed });
      } catch (error) {
        if (error instanceof ChannelTimeout) return "limit";
        throw error;
      }
      if (look.kind === "typed") notes.add(SOMEBODY);
      if (look.kind === "prompt" || look.kind === "typed" || look.kind === "flood") return look.kind;
      let keys = platform.pager?.more ?? "";
      if (look.kind === "question") {
        const answer = await this.#answerTo(look.text, asked);
        // A question that comes again was not answered in the device's sense.
        if (answer === undefined || answered.has(look.text)) return { asks: look.text };
        answered.add(look.text);
        keys = answer;
      }
      const text = channel.take();
      if (look.kind === "pager") this.pageLines ||= text.split("\n").length - 1;
      printed += text.length;
      keep(text);
      await channel.send(keys);
    }
  }

  /** Stops what runs, or gives up the question `asks`; whether the prompt came back within `limitMs`. */
  async stop(limitMs: number, signal: AbortSignal, asks?: string): Promise<boolean> {
    const deadline = performance.now() + limitMs;
    const { channel, platform } = this.#screen;
    const { interrupt, cancel, lineEnding, pager } = platform;
    const keys = asks === undefined ? [...interrupt] : [cancel, ...interrupt];
    // An empty password is refused, which ends it too; into any other question a return would be an answer.
    if (asks !== undefined && this.#wantsPassword(asks)) keys.push(lineEnding);
    const stepMs = asks === undefined ? STOP_MS : STOP_QUESTION_MS;
    for (let i = 0; performance.now() < deadline; i++) {
      await channel.send(keys[i % keys.length]!);
      try {
        const left = deadline - performance.now();
        // However much has come: what it prints until it stops is no reason not to wait for that.
        const look = await this.#screen.settle({
          limitMs: Math.min(stepMs, left),
          signal,
          printed: -Infinity,
        });
        if (look.kind === "prompt") return true;
        if (look.kind === "pager") await channel.send(pager!.quit);
      } catch (error) {
        if (!(error instanceof ChannelTimeout)) throw error;
      }
    }
    return false;
  }

  #wantsPassword(asks: string): boolean {
    const { login, questions } = this.#screen.platform;
    return login?.password.test(asks) ||
      questions.some(({ pattern, password }) => password && pattern.test(asks));
  }

  async #answerTo(text: string, { command, agreed }: Asked): Promise<string | undefined> {
    const { questions, lineEnding } = this.#screen.platform;
    const fits = ({ pattern, to }: Question) => pattern.test(text) && (!to || to.test(command));
    for (const { answer, confirm, password } of questions.filter(fits)) {
      if (answer !== undefined) return answer;
      if (agreed && confirm !== undefined) return confirm;
      const known = password && (await this.#credentials())?.password;
      if (known) return known + lineEnding;
    }
  }
}
