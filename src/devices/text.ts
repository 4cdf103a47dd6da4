// What a terminal would show for the bytes a console sent: colours gone, backspaces and carriage returns carried out.

const ESC = "\x1b";
// CSI with its argument and action; OSC; the other strings; two- and three-character sequences. The escape itself is cut.
// deno-lint-ignore no-control-regex -- such sequences hold control characters
const SEQUENCE = /^(?:\[([0-?]*)[ -/]*([@-~])|\][^]*?(?:\u0007|\u001b\\)|[PX^_][^]*?\u001b\\|[ -/]*[0-~])/;
const LONGEST_SEQUENCE = 256;

/** Plain text with `\n` line ends and without blanks at line ends. */
export function cleanText(raw: string): string {
  // Nearly all output is plain; the slow way is for lines with cursor movement.
  return raw.replace(/\r+\n/g, "\n").split("\n").map((line) => cleanLine(line).trimEnd()).join("\n");
}

/** The line that is not ended yet: where prompts, pagers and questions stand. Blanks at its end stay. */
export function lastLine(raw: string): string {
  return cleanLine(raw.slice(raw.lastIndexOf("\n") + 1));
}

function cleanLine(line: string): string {
  // deno-lint-ignore no-control-regex -- looks for control characters
  if (!/[\x00-\x08\x0b-\x1f\x7f]/.test(line)) return line;
  const cells: string[] = [];
  let at = 0;
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!;
    if (char === "\r") at = 0;
    else if (char === "\b") at = Math.max(0, at - 1);
    else if (char === ESC) {
      const match = SEQUENCE.exec(line.slice(i + 1, i + LONGEST_SEQUENCE));
      if (!match) continue;
      i += match[0].length;
      at = move(cells, at, match[1] ?? "", match[2]);
    } else if (char >= " " && char !== "\x7f" || char === "\t") cells[at++] = char;
  }
  return Array.from(cells, (cell) => cell ?? " ").join("");
}

/** Cursor left and right, to a column, and erasing in the line; nothing else moves within one line. */
function move(cells: string[], at: number, argument: string, action?: string): number {
  const count = Math.min(Math.max(Number.parseInt(argument) || 1, 1), 1_000);
  switch (action) {
    case "D":
      return Math.max(0, at - count);
    case "C":
      return at + count;
    case "G":
      return count - 1;
    case "K":
      if (argument === "" || argument === "0") cells.length = Math.min(cells.length, at);
      else if (argument === "2") cells.length = 0;
      else cells.fill(" ", 0, Math.min(at + 1, cells.length));
  }
  return at;
}
