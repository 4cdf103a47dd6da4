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
 * Gathers banners: a line that begins one takes all that follows, blank lines too, up to the one that ends it. A banner
 * may also come as one entry with line breaks in it. Blank entries and comments elsewhere are left out; every other
 * entry stays as it is.
 */
export function unitsOf(platform: Platform, lines: string[]): Unit[] {
  const units: Unit[] = [];
  for (let at = 0; at < lines.length; at++) {
    const text = lines[at]!;
    const opening = openingOf(platform, text);
    const line = at + 1;
    if (!opening) {
      if (text.trim() !== "" && !platform.comment?.test(text.trim())) units.push({ text, line });
      continue;
    }
    const { start, delimiter, rest } = opening;
    // Where it ends: with the entry that is the delimiter alone, else with the first that holds it.
    let end = at;
    if (!rest.includes(delimiter)) {
      const following = lines.slice(at + 1);
      const next = following.findIndex((one) => openingOf(platform, one));
      const open = next < 0 ? following : following.slice(0, next);
      const alone = open.findIndex((one) => one.trim() === delimiter);
      const holding = open.findIndex((one) => one.includes(delimiter));
      end = at + 1 + (alone >= 0 ? alone : holding >= 0 ? holding : open.length - 1);
    }
    const body = [rest, ...lines.slice(at + 1, end + 1)].join("\n").replaceAll("\r", "");
    units.push({ text: banner(start, delimiter, body), line });
    at = end;
  }
  return units;
}

function openingOf({ multiline }: Platform, text: string) {
  const trimmed = text.trimStart();
  const found = multiline?.exec(trimmed);
  if (!found) return undefined;
  const delimiter = found[1]!;
  return {
    start: trimmed.slice(0, found[0].length - delimiter.length),
    delimiter,
    rest: trimmed.slice(found[0].length),
  };
}

/**
 * Cut behind the closing delimiter. Another delimiter is taken when the text holds this one, and for `^C`, which stands
 * for one character where a device shows it and would be two when typed.
 */
function banner(start: string, delimiter: string, body: string): string {
  const close = body.trimEnd().endsWith(delimiter) ? body.lastIndexOf(delimiter) : body.indexOf(delimiter);
  const text = close < 0 ? `${body}\n` : body.slice(0, close);
  const clash = delimiter === "^C" || text.includes(delimiter);
  const typed = clash ? SPARE.find((char) => !text.includes(char)) ?? delimiter : delimiter;
  return `${start}${typed}${text}${typed}`;
}
