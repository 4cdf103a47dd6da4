// Cuts secrets out of texts and values that are about to be written where people read them.

const CUT = "***";
/** Shorter texts are too likely to be part of ordinary words. */
const SHORTEST_SECRET = 8;
const MOST_SECRETS = 1_000;
const LONGEST_TEXT = 8_192;
const DEEPEST = 6;

/** A field with such a name is never shown, whatever it holds. */
const SECRET_NAME =
  /^(authorization|(set-)?cookie|credentials?|jwt|.*(password|passwd|secret|token|api[_-]?key))$/i;

/** What secrets look like; `$1` is kept. */
const SECRET_SHAPES: readonly RegExp[] = [
  /\b(Bearer\s+)[\w.~+/=-]+/gi,
  /()\beyJ[\w-]{6,2000}\.[\w-]{2,}(?:\.[\w-]*)*/g,
  /([?&;](?:access_|refresh_|id_)?(?:token|api[_-]?key|key|password|secret)=)[^&\s"'<>]+/gi,
  /()\bsk-[\w-]{6,}/g,
  /(\\?"(?:api_?key|password|secret|(?:\w{1,40}_)?token)\\?"\s*:\s*\\?")[^"\\]*/gi,
  /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]*:[^\s/@]+(?=@)/gi,
];

export interface Redactor {
  /** The text without secrets, cut to a bearable length. */
  text(text: string): string;
  /** Values as JSON can hold them, without secrets; errors become texts. */
  fields(fields: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** Registers a text that must never be shown; the oldest of very many is forgotten. */
  add(secret: string): void;
}

/** Makes a redactor. With `stacks`, errors keep their stack. */
export function createRedactor({ stacks }: { stacks: boolean }): Redactor {
  const secrets = new Set<string>();

  function text(given: string): string {
    let clean = given;
    for (const secret of secrets) clean = clean.replaceAll(secret, CUT);
    for (const shape of SECRET_SHAPES) clean = clean.replace(shape, `$1${CUT}`);
    // Only now: half a secret would look like nothing.
    if (clean.length <= LONGEST_TEXT) return clean;
    return `${clean.slice(0, LONGEST_TEXT)}… (${clean.length - LONGEST_TEXT} more characters)`;
  }

  function value(given: unknown, depth: number): unknown {
    if (typeof given === "string") return text(given);
    if (typeof given === "bigint" || typeof given === "symbol" || typeof given === "function") {
      return text(String(given));
    }
    if (given === null || typeof given !== "object") return given;
    if (given instanceof Error) return text(describe(given, stacks));
    if (given instanceof Date) return Number.isNaN(given.getTime()) ? "Invalid Date" : given.toISOString();
    if (depth >= DEEPEST) return "…";
    if (Array.isArray(given)) return given.map((item) => value(item, depth + 1));
    if (given instanceof Map || given instanceof Set) return value([...given], depth + 1);
    return record(given as Record<string, unknown>, depth + 1);
  }

  function record(given: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
    const entries = Object.entries(given).filter(([, item]) => item !== undefined);
    return Object.fromEntries(entries.map(([name, item]) => {
      const hidden = SECRET_NAME.test(name) && item !== null && !["number", "boolean"].includes(typeof item);
      return [name, hidden ? CUT : value(item, depth)];
    }));
  }

  function add(secret: string): void {
    if (secret.length < SHORTEST_SECRET) return;
    for (const form of new Set([secret, encodeURIComponent(secret.toWellFormed())])) {
      secrets.delete(form);
      secrets.add(form);
    }
    for (const oldest of secrets) {
      if (secrets.size <= MOST_SECRETS) break;
      secrets.delete(oldest);
    }
  }

  return { text, fields: (fields) => record(fields, 0), add };
}

/** An error with what caused it, as one text. */
function describe(error: Error, stacks: boolean, depth = 0): string {
  const own = (stacks && error.stack) || `${error.name}: ${error.message}`;
  if (error.cause === undefined || depth === DEEPEST) return own;
  const cause = error.cause instanceof Error ? describe(error.cause, stacks, depth + 1) : String(error.cause);
  return `${own}; caused by ${cause}`;
}
