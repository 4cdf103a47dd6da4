// Reads tshark's arguments as a model writes them into what may be asked of tshark; everything else is refused by name.
import { AppError } from "../domain/error.ts";
import { PREFERENCES, type Query, querySchema, STATISTICS, TIME_FORMATS } from "./query.ts";

/** What may stand in the arguments, for the model. */
export const ALLOWED =
  "-Y filter, -T fields|text|tabs|json, -e field, -E header=y, -c count, -V, -O protocols, -x, -t format, " +
  `-d layer==value,protocol, -z report (${STATISTICS.map(({ example }) => example).join("; ")})`;

interface Token {
  /** Without its quotes. */
  text: string;
  raw: string;
}

const FLAGS = new Set(["V", "x", "q", "n", "l", "P"]);
const VALUES = new Set(["Y", "T", "e", "E", "c", "O", "t", "d", "o", "z"]);

const REFUSED: Readonly<Record<string, string>> = {
  r: "link_id says which capture is read",
  i: "start_gns3_capture makes captures",
  w: "nothing is written",
  f: "-f is for capturing; use -Y with a display filter",
  R: "use -Y with a display filter",
  N: "names are not looked up",
  "2": "packets are read once; use -Y",
};

/** The query that `text` stands for. Throws `validation_error` that names the argument and says what is allowed. */
export function readArguments(text: string): Query {
  const tokens = split(text.replace(/^\s*tshark(?=\s|$)/, ""));
  const query: Record<string, unknown> = {};
  const lists: Record<string, string[]> = {
    fields: [],
    fieldOptions: [],
    statistics: [],
    decodeAs: [],
    preferences: [],
  };
  const once = (name: string, value: unknown) => {
    if (query[name] !== undefined) throw refuse(`-${LETTER[name]} stands there twice.`);
    query[name] = value;
  };
  for (let at = 0; at < tokens.length;) {
    const { letter, value, next } = option(tokens, at);
    at = next;
    if (letter === "V") query.details = true;
    else if (letter === "x") query.bytes = true;
    else if (letter === "Y") once("filter", value);
    else if (letter === "c") once("count", /^\d{1,7}$/.test(value) ? Number(value) : value);
    else if (letter === "T") once("form", value);
    else if (letter === "t") once("time", value);
    else if (letter === "O") once("detailsOf", names(value));
    else if (letter === "e") lists.fields!.push(...names(value));
    else if (letter === "E") lists.fieldOptions!.push(value);
    else if (letter === "z") lists.statistics!.push(value);
    else if (letter === "d") lists.decodeAs!.push(value);
    else if (letter === "o") lists.preferences!.push(value);
  }
  for (const [name, values] of Object.entries(lists)) if (values.length) query[name] = values;
  if (query.form === "fields") {
    if (!query.fields) throw refuse("-T fields needs fields: -T fields -e ip.src -e ip.dst.");
    delete query.form;
  } else if (query.fields && query.form) throw refuse("-e goes with -T fields only.");
  return checked(query);
}

const LETTER: Readonly<Record<string, string>> = {
  filter: "Y",
  count: "c",
  form: "T",
  time: "t",
  detailsOf: "O",
  fields: "e",
  fieldOptions: "E",
  statistics: "z",
  decodeAs: "d",
  preferences: "o",
};

const MUST: Readonly<Record<string, string>> = {
  filter: "one line of at most 4,000 characters",
  count: "a whole number from 1 to 1000000",
  form: "fields, text, tabs or json",
  time: TIME_FORMATS.join(", "),
  fields: "names such as ip.src, at most 50",
  fieldOptions: "header=y, occurrence=f, separator=, or the like",
  statistics: `one of these reports, with a filter after another comma where it takes one: ${
    STATISTICS.map(({ example }) => example).join("; ")
  }`,
  decodeAs: "such as tcp.port==8080,http",
  preferences: `one of ${PREFERENCES.join(", ")}, as ${PREFERENCES[5]}:FALSE`,
};

function checked(query: Record<string, unknown>): Query {
  const { success, data, error } = querySchema.safeParse(query);
  if (success) return data;
  const name = String(error.issues[0]!.path[0]);
  throw refuse(`-${LETTER[name]} must be ${MUST[name] ?? "of another form"}.`);
}

/** The option at `at`, its value, and where the next one begins. What stands without an option is a filter. */
function option(tokens: Token[], at: number): { letter: string; value: string; next: number } {
  const { raw } = tokens[at]!;
  if (!isOption(raw)) return { letter: "Y", ...valueOf(tokens, at) };
  if (raw.startsWith("--")) throw refuse(`${raw.slice(0, 60)} is not allowed.`);
  const letter = raw[1]!;
  const glued = tokens[at]!.text.slice(2);
  if (FLAGS.has(letter)) {
    if (glued === "") return { letter, value: "", next: at + 1 };
    // `-qz io,phs` is short for `-q -z io,phs`.
    tokens[at] = { text: `-${glued}`, raw: `-${glued}` };
    return { letter, value: "", next: at };
  }
  if (!VALUES.has(letter)) {
    throw refuse(`-${letter} is not allowed${REFUSED[letter] ? `: ${REFUSED[letter]}` : ""}.`);
  }
  if (glued !== "") return { letter, value: glued, next: at + 1 };
  if (at + 1 >= tokens.length) throw refuse(`-${letter} needs a value.`);
  return { letter, ...valueOf(tokens, at + 1) };
}

/** A quoted value is one token; without quotes it goes on to the next option, because filters hold spaces. */
function valueOf(tokens: Token[], at: number): { value: string; next: number } {
  const first = tokens[at]!;
  if (/^["']/.test(first.raw)) return { value: first.text, next: at + 1 };
  let next = at + 1;
  while (next < tokens.length && !isOption(tokens[next]!.raw)) next++;
  const parts = tokens.slice(at, next);
  if (parts.some(({ raw }) => raw === "|" || raw === ";" || /^\d?>>?\S|^2>/.test(raw))) {
    throw refuse("No shell reads this: no pipes and no redirection. first and last shorten the output.");
  }
  return { value: parts.length === 1 ? first.text : parts.map(({ raw }) => raw).join(" "), next };
}

const isOption = (raw: string) => /^--?[A-Za-z]|^-2$/.test(raw);
const names = (value: string) => value.split(/[\s,]+/).filter((name) => name !== "");

/** Splits at blanks outside of quotes; a backslash keeps the next quote or backslash. */
function split(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+|["']/g;
  for (const [raw] of text.matchAll(pattern)) {
    if (raw === '"' || raw === "'") throw refuse("A quotation mark is not closed.");
    const plain = raw.replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g,
      (_, double, single, char) => double?.replace(/\\(["\\])/g, "$1") ?? single ?? char,
    );
    tokens.push({ text: plain, raw });
  }
  return tokens;
}

function refuse(why: string): AppError {
  return new AppError("validation_error", `tshark_args: ${why} Allowed: ${ALLOWED}.`);
}
