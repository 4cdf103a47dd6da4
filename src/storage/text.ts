// Texts that SQLite's driver would give back changed: it ends one at U+0000, and replaces half of a surrogate pair.

/** A character that no text has, by Unicode's own rule; in front of a text that is stored as JSON. */
const AS_JSON = "\uFDD0";

/** The text to store for `text`: itself, wherever the driver gives it back as it was. */
export function storable(text: string): string {
  const plain = !text.includes("\0") && text.isWellFormed() && !text.startsWith(AS_JSON);
  return plain ? text : AS_JSON + JSON.stringify(text);
}

/** The text that `storable` was given. */
export function original(stored: string): string {
  if (!stored.startsWith(AS_JSON)) return stored;
  try {
    const text: unknown = JSON.parse(stored.slice(AS_JSON.length));
    return typeof text === "string" ? text : stored;
  } catch {
    // Some other program's text.
    return stored;
  }
}
