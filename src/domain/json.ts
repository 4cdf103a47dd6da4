// Bounds on JSON that somebody else made up: what is nested without end makes every function that walks through it fail.

/** Levels of nesting that nobody needs, and that everything here can still walk through. */
export const MOST_LEVELS = 64;

/** Whether a JSON value has arrays and objects nested more than `levels` deep. Looks no deeper than that itself. */
export function isDeeper(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

/**
 * As `isDeeper`, found in the text without parsing it: whatever works on values level by level (zod, masking) overflows
 * its stack on a text that JSON.parse still takes. Whether `text` opens more than `limit` objects and arrays inside each other. Brackets in
 * strings do not count.
 */
export function deeperThan(text: string, limit = MOST_LEVELS): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // A string, up to a quote that no odd number of backslashes stands before.
        for (at++; at < text.length && text.charCodeAt(at) !== 0x22; at++) {
          if (text.charCodeAt(at) === 0x5c) at++;
        }
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > limit) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
    }
  }
  return false;
}
