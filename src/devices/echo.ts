// Whether a line that was typed is what stands on the console, however a line editor shows it.
import { cleanText } from "./text.ts";

/** `shown`: the whole line and nothing else; `coming`: its beginning; `other`: something that was not typed here. */
export type EchoState = "shown" | "coming" | "other";

/** A line editor that shows only the end of a long line shows at least so much of it. */
const SHORTEST_END = 20;

/** Compares what came since the line was typed with the line; `prompt` stands before it when it was drawn again. */
export function echoState(came: string, line: string, prompt: string): EchoState {
  const wanted = squeeze(line);
  const known = squeeze(prompt);
  const seen = shows(came);
  const whole = (shown: string) => shown === wanted || shown.endsWith(known + wanted);
  if (seen.some((shown) => whole(shown) || isEndOf(wanted, shown, known))) return "shown";
  return seen.some((shown) => wanted.startsWith(shown)) ? "coming" : "other";
}

/** Whether what came ends with the line: for input that is not at a prompt. */
export function endsWithLine(came: string, line: string): boolean {
  return shows(came).some((shown) => shown.endsWith(squeeze(line)));
}

/** Blanks do not count: terminals break long lines and print blanks when they do. */
const squeeze = (text: string) => text.replace(/\s+/g, "");

/**
 * What is on the line: as a terminal shows it, and as if it had no end. A line editor that thinks of a narrow terminal
 * goes to the next row by writing that row's first character, a carriage return, and the character again.
 */
const shows = (came: string) =>
  [came, came.replace(/([^\r\n])\r(?![\r\n])\1?/g, "$1")].map((text) => squeeze(cleanText(text)));

/** The end of a long line behind a mark: `$` or `<`. */
function isEndOf(wanted: string, shown: string, prompt: string): boolean {
  const line = shown.startsWith(prompt) ? shown.slice(prompt.length) : shown;
  return /^[$<]/.test(line) && line.length > SHORTEST_END && wanted.endsWith(line.slice(1));
}
