// Output of a practice router that goes through `| include …` and friends, and then page by page with --More--.
import type { ShellIo } from "./terminal.ts";

const MORE = " --More-- ";

/** Splits `show run | include ospf` into the command and its filter; the filter is null when there is none. */
export function splitPipe(line: string): { command: string; filter: string | null } {
  const bar = line.indexOf("|");
  return bar < 0
    ? { command: line, filter: null }
    : { command: line.slice(0, bar), filter: line.slice(bar + 1).trim() };
}

/** Applies a filter; null when it is not one. */
export function applyFilter(text: string, filter: string): string | null {
  const [word = "", ...rest] = filter.split(/\s+/);
  const pattern = rest.join(" ");
  const kind = ["include", "exclude", "begin", "section"].find((name) =>
    word !== "" && name.startsWith(word.toLowerCase())
  );
  if (!kind || pattern === "") return null;
  let matches: RegExp;
  try {
    matches = new RegExp(pattern, "i");
  } catch {
    return null;
  }
  const lines = text.split("\n");
  let kept: string[];
  if (kind === "include") kept = lines.filter((line) => matches.test(line));
  else if (kind === "exclude") kept = lines.filter((line) => line !== "" && !matches.test(line));
  else if (kind === "begin") {
    const first = lines.findIndex((line) => matches.test(line));
    kept = first < 0 ? [] : lines.slice(first);
  } else kept = sections(lines, matches);
  return kept.length ? `${kept.join("\n").replace(/\n+$/, "")}\n` : "";
}

// A section is a line that matches with the indented lines below it.
function sections(lines: string[], matches: RegExp): string[] {
  let inside = false;
  return lines.filter((line) => {
    if (!line.startsWith(" ")) inside = matches.test(line);
    return inside;
  });
}

/** Prints text in pages of `length` lines (0: all at once). Space shows a page more, Enter a line, anything else stops. */
export async function page(text: string, length: number, io: ShellIo): Promise<void> {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  let room = length > 1 ? length - 1 : Infinity;
  for (const [index, line] of lines.entries()) {
    if (room === 0 && index < lines.length) {
      io.print(MORE);
      const key = await io.key();
      io.print("\b".repeat(MORE.length) + " ".repeat(MORE.length) + "\b".repeat(MORE.length));
      if (key === " ") room = length - 1;
      else if (key === "\r") room = 1;
      else return;
    }
    io.print(`${line}\n`);
    room--;
  }
}
