// `config/forbidden_commands.txt`: what an administrator does not want typed on any device.

/** The patterns of the file: one a line, `#` starts a comment line. In lower case, blanks as one. */
export function readForbidden(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => words(line).join(" "));
  return [...new Set(lines.filter((line) => line !== "" && !line.startsWith("#")))];
}

/** Short words that devices take as they are: they are no abbreviations of something longer. */
const WHOLE = new Set(["s", "sh", "i", "ip", "n", "no", "do", "is", "as", "id"]);

/**
 * The pattern that `command` begins with, or undefined. Network devices take every unique beginning of a word, so
 * `deb ip ospf` begins with `debug` too; shells do not, there `abbreviates` is false. `do` before a command changes
 * nothing about it. Options (`-f`) count wherever they stand, because their order is free.
 */
export function forbiddenBy(
  patterns: readonly string[],
  command: string,
  abbreviates = true,
): string | undefined {
  const typed = words(command);
  while (typed[0] === "do") typed.shift();
  return patterns.find((pattern) => {
    const wanted = pattern.split(" ");
    const plain = wanted.filter((word) => !word.startsWith("-"));
    const options = wanted.filter((word) => word.startsWith("-"));
    const begins = plain.every((word, at) => {
      const given = typed[at] ?? "";
      // The last word may go on: `trace` forbids `traceroute`, as in a comparison of the beginning of a text.
      if (given === word || (at === plain.length - 1 && given.startsWith(word))) return true;
      return abbreviates && given !== "" && !WHOLE.has(given) && word.startsWith(given);
    });
    return begins &&
      options.every((option) => typed.slice(plain.length).some((word) => word.startsWith(option)));
  });
}

function words(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter((word) => word !== "");
}
