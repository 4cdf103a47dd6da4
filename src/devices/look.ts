// What the line that a console has not ended yet means: a prompt, a pager, a question, or somebody typing.
import type { Sight } from "./channel.ts";
import type { Mode, Platform, Question } from "./platform.ts";
import { lastLine } from "./text.ts";

export type Look =
  | { kind: "prompt"; text: string; mode: Mode }
  /** The known prompt with something behind it that we did not type. */
  | { kind: "typed" }
  | { kind: "pager" }
  | { kind: "question"; question: Question; text: string }
  | { kind: "flood" };

/**
 * Milliseconds of silence after which such a line counts. A line of output can look like a prompt, but then more
 * follows at once; the very prompt that was seen before needs hardly any.
 */
const QUIET = { known: 40, prompt: 200, pager: 120, question: 400, typed: 900 };

/** More was printed than is kept. */
export const FLOOD: Sight<Look> = { value: { kind: "flood" }, quietMs: 0 };

/** Judges the end of what came. `prompt` is the one that was seen last, "" at first. */
export function lookAt(tail: string, platform: Platform, prompt: string): Sight<Look> | undefined {
  const line = lastLine(tail).trimEnd();
  if (line === "") return undefined;
  const mode = platform.modes.find((one) => one.prompt.test(line));
  if (mode) {
    return {
      value: { kind: "prompt", text: line, mode },
      quietMs: line === prompt ? QUIET.known : QUIET.prompt,
    };
  }
  if (platform.pager?.pattern.test(line)) return { value: { kind: "pager" }, quietMs: QUIET.pager };
  const question = platform.questions.find(({ pattern }) => pattern.test(line));
  if (question) return { value: { kind: "question", question, text: line }, quietMs: QUIET.question };
  return prompt && line.startsWith(prompt) ? { value: { kind: "typed" }, quietMs: QUIET.typed } : undefined;
}
