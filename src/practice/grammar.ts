// Reads a router's command line as IOS does: words may be abbreviated while they stay unambiguous, and the complaint
// points at the word that was wrong. Commands are written as patterns: `show ip route <addr>`.

/** A command: literals in lower case, `<addr> <mask> <num> <if> <word> <line>` as placeholders. */
export interface Command<Context> {
  pattern: string;
  run(context: Context, args: string[]): void | Promise<void>;
}

export type Matched<Context> =
  | { command: Command<Context>; args: string[] }
  /** `at` is the column of the offending word, for the caret. */
  | { error: "invalid"; at: number }
  | { error: "ambiguous" }
  | { error: "incomplete" };

interface Candidate<Context> {
  command: Command<Context>;
  words: string[];
  args: string[];
}

const INTERFACE_LETTERS = /^[a-z]+$/i;

const PLACEHOLDERS: Record<string, (word: string) => boolean> = {
  "<addr>": (word) =>
    /^\d{1,3}(\.\d{1,3}){3}$/.test(word) && word.split(".").every((part) => Number(part) <= 255),
  "<num>": (word) => /^\d+$/.test(word),
  "<if>": (word) => /^[a-z]+\d+(\/\d+)*$/i.test(word),
  "<ifletters>": (word) => INTERFACE_LETTERS.test(word),
  "<ifnumber>": (word) => /^\d+(\/\d+)*$/.test(word),
  "<word>": () => true,
};
PLACEHOLDERS["<mask>"] = PLACEHOLDERS["<addr>"]!;

/** Splits every pattern with an interface in two, because `f0/0` may also be written `fastethernet 0/0`. */
function variants(pattern: string): string[] {
  return pattern.includes("<if>") ? [pattern, pattern.replace("<if>", "<ifletters> <ifnumber>")] : [pattern];
}

function words(line: string): { text: string; at: number }[] {
  return [...line.matchAll(/\S+/g)].map((match) => ({ text: match[0], at: match.index }));
}

/** Finds the one command that a line means. The line must not be empty. */
export function match<Context>(commands: readonly Command<Context>[], line: string): Matched<Context> {
  let candidates: Candidate<Context>[] = commands.flatMap((command) =>
    variants(command.pattern).map((pattern) => ({ command, words: pattern.split(" "), args: [] as string[] }))
  );
  const tokens = words(line);
  for (const [index, { text, at }] of tokens.entries()) {
    const rest = candidates.filter((c) => c.words[index] === "<line>");
    const narrowed = narrow(candidates, index, text.toLowerCase());
    if (narrowed === "ambiguous") return { error: "ambiguous" };
    if (narrowed.length === 0 && rest.length) {
      return { command: rest[0]!.command, args: [...rest[0]!.args, line.slice(at).trimEnd()] };
    }
    if (narrowed.length === 0) return { error: "invalid", at };
    candidates = narrowed.map((c) => ({ ...c, args: argsWith(c, index, text) }));
  }
  const complete = candidates.find((c) => c.words.length === tokens.length);
  return complete ? { command: complete.command, args: complete.args } : { error: "incomplete" };
}

function narrow<C>(candidates: Candidate<C>[], index: number, text: string): Candidate<C>[] | "ambiguous" {
  const literal = (c: Candidate<C>) => {
    const word = c.words[index];
    return word !== undefined && !word.startsWith("<") && word.startsWith(text);
  };
  const literals = candidates.filter(literal);
  const exact = literals.filter((c) => c.words[index] === text);
  if (exact.length) return exact;
  if (new Set(literals.map((c) => c.words[index])).size > 1) return "ambiguous";
  if (literals.length) return literals;
  const placed = candidates.filter((c) => PLACEHOLDERS[c.words[index] ?? ""]?.(text));
  // "loopback 0" must not be taken for a finished <word> while a more exact placeholder fits.
  const strict = placed.filter((c) => c.words[index] !== "<word>");
  return strict.length ? strict : placed;
}

function argsWith<C>(candidate: Candidate<C>, index: number, text: string): string[] {
  const word = candidate.words[index] ?? "";
  if (word === "<ifnumber>") return [...candidate.args.slice(0, -1), `${candidate.args.at(-1)}${text}`];
  return word.startsWith("<") ? [...candidate.args, text] : candidate.args;
}

/** What may come next after the words so far; for `?`. */
export function nextWords<Context>(commands: readonly Command<Context>[], line: string): string[] {
  const tokens = words(line);
  const open = line.endsWith(" ") || tokens.length === 0;
  const fixed = open ? tokens : tokens.slice(0, -1);
  let candidates: Candidate<Context>[] = commands.map((command) => ({
    command,
    words: command.pattern.split(" "),
    args: [],
  }));
  for (const [index, { text }] of fixed.entries()) {
    const narrowed = narrow(candidates, index, text.toLowerCase());
    if (narrowed === "ambiguous") return [];
    candidates = narrowed;
  }
  const start = open ? "" : tokens.at(-1)!.text.toLowerCase();
  const next = candidates.map((c) => c.words[fixed.length] ?? "<cr>").filter((word) =>
    word.startsWith(start)
  );
  return [...new Set(next)].sort();
}
