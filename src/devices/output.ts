// One command's outcome: the device's text without echo, prompt and paging, and the line by which it says no.
import { loggedOver } from "./look.ts";
import type { Platform } from "./platform.ts";
import { cleanText } from "./text.ts";

/** One command and what the device printed, without its echo and prompt. */
export interface CommandResult {
  input: string;
  output: string;
  /** Why it did not succeed: the device's own error line, or what happened to it here. */
  failed?: string;
  /** It was sent and then interrupted, because it did not end by itself. */
  stopped?: true;
  /** The question that nobody answered. */
  asked?: string;
  /** It never reached the device. */
  notSent?: true;
  /** What is worth knowing about how it was done. */
  note?: string;
  elapsedMs: number;
}

/** What a command printed, as a person would copy it: empty lines around it and the pager's markers are gone. */
export function cleanOutput(raw: string, platform: Platform): string {
  const pager = platform.pager?.pattern;
  const lines = cleanText(raw).split("\n").filter((line) => !pager?.test(line));
  return lines.join("\n").replace(/^\n+|\n+$/g, "");
}

/** The first line of `output` that is an error message of the device. */
export function failureLine(output: string, platform: Platform): string | undefined {
  return output.split("\n").map((line) => line.trim())
    .find((line) => platform.failures.some((pattern) => pattern.test(line)));
}

/** `raw` without the prompt: the line that is not ended, and any that log lines have pushed up. */
export function withoutPrompt(raw: string, platform: Platform): string {
  let text = /\n\s*$/.test(raw) ? raw : raw.slice(0, raw.lastIndexOf("\n") + 1);
  for (let pushed = loggedOver(text, platform); pushed; pushed = loggedOver(text, platform)) {
    text = `${pushed.before}\n${pushed.log}`;
  }
  return text;
}
