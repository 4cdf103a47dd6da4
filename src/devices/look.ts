// What the line that a console has not ended yet means: a prompt, a pager, a question, a login, or somebody typing.
import type { Sight } from "./channel.ts";
import type { Mode, Platform, Question } from "./platform.ts";
import { cleanText, lastLine } from "./text.ts";

export type Look =
  | { kind: "prompt"; text: string; mode: Mode }
  /** The known prompt with something behind it that we did not type. */
  | { kind: "typed" }
  | { kind: "pager" }
  | { kind: "question"; question: Question; text: string }
  | { kind: "flood" }
  /** Only while a console is woken up: */
  | { kind: "login"; wants: "username" | "password" }
  | { kind: "invited" }
  | { kind: "blocked"; why: string };

/**
 * Milliseconds of silence after which such a line counts. A line of output can look like a prompt, but then more
 * follows at once; the very prompt that was seen before needs hardly any.
 */
const QUIET = {
  known: 40,
  prompt: 200,
  log: 400,
  pager: 120,
  question: 400,
  login: 300,
  invited: 700,
  typed: 900,
};

/** More was printed than is kept. */
export const FLOOD: Sight<Look> = { value: { kind: "flood" }, quietMs: 0 };

/** Judges the end of what came. `prompt` is the one that was seen last, "" at first. */
export function lookAt(tail: string, platform: Platform, prompt: string): Sight<Look> | undefined {
  const line = lastLine(tail).trimEnd();
  if (line === "") return promptOverLog(tail, platform);
  const mode = modeAt(line, platform);
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

/** The same while a console is woken up, where a device may ask who is there or start for the first time. */
export function lookAtWaking(tail: string, platform: Platform): Sight<Look> | undefined {
  const line = lastLine(tail).trimEnd();
  const blocked = line && platform.blocked.find(({ pattern }) => pattern.test(line));
  if (blocked) return { value: { kind: "blocked", why: blocked.why }, quietMs: QUIET.question };
  const question = platform.startup.find(({ pattern }) => pattern.test(line));
  if (question) return { value: { kind: "question", question, text: line }, quietMs: QUIET.question };
  for (const wants of ["username", "password"] as const) {
    if (line && platform.login?.[wants].test(line)) {
      return { value: { kind: "login", wants }, quietMs: QUIET.login };
    }
  }
  const usual = lookAt(tail, platform, "");
  if (usual || !platform.invitation?.test(tail)) return usual;
  return { value: { kind: "invited" }, quietMs: QUIET.invited };
}

/** The prompt that stands above log lines: they came right after it, and not every device draws it again. */
export function promptOverLog(tail: string, platform: Platform): Sight<Look> | undefined {
  const found = loggedOver(tail, platform);
  if (!found) return undefined;
  return { value: { kind: "prompt", text: found.prompt, mode: found.mode }, quietMs: QUIET.log };
}

/** Splits text that ends with a prompt and, behind it, nothing but whole log lines. */
export function loggedOver(
  raw: string,
  platform: Platform,
): { before: string; prompt: string; mode: Mode; log: string } | undefined {
  if (!platform.noise || !/\n\s*$/.test(raw)) return undefined;
  const lines = raw.split("\n");
  let noisy = false;
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = cleanText(lines[i]!).trimEnd();
    if (line === "") continue;
    if (platform.noise.test(line)) {
      noisy = true;
      continue;
    }
    const found = noisy && modeAt(line, platform)
      ? { prompt: line, log: "" }
      : beforeLog(line, platform.noise);
    const mode = found && modeAt(found.prompt, platform);
    if (!mode) return undefined;
    const [before, behind] = [lines.slice(0, i), lines.slice(i + 1)].map((part) => part.join("\n"));
    return {
      before: before!,
      prompt: found.prompt,
      mode,
      log: found.log ? `${found.log}\n${behind}` : behind!,
    };
  }
}

/** Not every device begins a new line for its log: then it stands on the prompt's. */
function beforeLog(line: string, noise: RegExp): { prompt: string; log: string } | undefined {
  const [, prompt, log] = /^(.*?[#>\]]) ?(\S.*)$/.exec(line) ?? [];
  return prompt !== undefined && noise.test(log!) ? { prompt, log: log! } : undefined;
}

function modeAt(line: string, platform: Platform): Mode | undefined {
  return platform.modes.find((one) => one.prompt.test(line));
}
