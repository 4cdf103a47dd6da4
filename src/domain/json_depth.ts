// How deeply JSON text is nested, found without parsing it: whatever works on values level by level (zod, JSON.stringify,
// masking) overflows its stack on a text that JSON.parse still takes.

/** Deepest nesting of JSON from outside. No request and no tool call needs more than a few levels. */
export const DEEPEST_JSON = 64;

/** Whether `text` opens more than `limit` objects and arrays inside each other. Brackets in strings do not count. */
export function deeperThan(text: string, limit = DEEPEST_JSON): boolean {
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
