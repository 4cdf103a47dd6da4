// What is typed for a list of configuration lines: one line after the other, except that a banner is one piece of input.
import type { Platform } from "./platform.ts";

/** One input: a line, or several for a banner; `line` is the number of its first line in the list, from 1. */
export interface Unit {
  text: string;
  line: number;
}

/** Delimiters that a banner's text need not be searched for twice. */
const SPARE = ["#", "@", "~", "%", "&", "=", "+", "|"];

/**
 * Gathers banners: a line that begins one takes all that follows, blank lines too, up to the one that holds its
 * delimiter. A banner may also come as one entry with line breaks in it. Every other entry stays as it is.
 */
export function unitsOf(platform: Platform, lines: string[]): Unit[] {
  const units: Unit[] = [];
  for (let at = 0; at < lines.length; at++) {
    const first = lines[at]!;
    const began = platform.multiline?.exec(first.split("\n")[0]!.trim());
    if (!began) {
      units.push({ text: first, line: at + 1 });
      continue;
    }
    const line = at + 1;
    const delimiter = began[1]!;
    let text = first.replace(/^\s+/, "");
    const bodyAt = text.indexOf(delimiter, began[0].length - delimiter.length) + delimiter.length;
    while (!text.slice(bodyAt).includes(delimiter) && at + 1 < lines.length) text += `\n${lines[++at]!}`;
    units.push({ text: banner(text, delimiter, bodyAt), line });
  }
  return units;
}

/**
 * Cut behind the closing delimiter. `^C` stands for one character where a device shows it, and would be two when typed:
 * another one is taken that the text does not hold.
 */
function banner(text: string, delimiter: string, bodyAt: number): string {
  const end = text.indexOf(delimiter, bodyAt);
  const body = text.slice(bodyAt, end < 0 ? undefined : end);
  const typed = delimiter === "^C" ? SPARE.find((char) => !body.includes(char)) ?? "#" : delimiter;
  const start = text.slice(0, bodyAt - delimiter.length);
  return `${start}${typed}${body.replaceAll("\r", "")}${end < 0 ? `\n${typed}` : typed}`;
}
