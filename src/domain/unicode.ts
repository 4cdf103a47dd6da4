// Text that others send, made into Unicode that can be stored and sent on: a UTF-16 half without its other half has no
// form in UTF-8, and readers in other languages fail on it.

/** Puts the characters together again that were cut in two between pieces of one text. */
export interface PairedText {
  /** The text that is whole so far: a first half at the end waits for the next piece. What was torn is U+FFFD. */
  push(text: string): string;
  /** What was held back, as U+FFFD: its other half never came. */
  end(): string;
}

export function pairedText(): PairedText {
  let half = "";
  return {
    push(text) {
      if (text === "") return "";
      const all = half + text;
      const last = all.charCodeAt(all.length - 1);
      const waits = last >= 0xd800 && last <= 0xdbff;
      half = waits ? all.slice(-1) : "";
      return (waits ? all.slice(0, -1) : all).toWellFormed();
    },
    end() {
      const rest = half.toWellFormed();
      half = "";
      return rest;
    },
  };
}

/** JSON text that writes a half of a pair as an escape, the only way in which valid UTF-8 can hold one. */
const ESCAPED_HALF = /\\u[dD][89a-fA-F]/;

/** The value that `JSON.parse` made of `text`, with U+FFFD for halves of pairs. Its nesting must be bounded. */
export function wellFormedFrom(text: string, value: unknown): unknown {
  return ESCAPED_HALF.test(text) ? wellFormed(value) : value;
}

/** As `JSON.stringify` of a value that has a JSON form, with U+FFFD for halves of pairs. */
export function formatJson(value: unknown): string {
  return wellFormedJson(JSON.stringify(value));
}

/** JSON text with U+FFFD for the halves of pairs that it writes as escapes. */
export function wellFormedJson(text: string): string {
  return ESCAPED_HALF.test(text) ? JSON.stringify(wellFormed(JSON.parse(text))) : text;
}

/** A JSON value with U+FFFD for halves of pairs in every text and key. */
export function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key.toWellFormed(), wellFormed(part)]),
  );
}

/** Whether nothing of a text can be seen: white space, control and format characters, fillers. */
export function isBlank(text: string): boolean {
  return /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u.test(text);
}
