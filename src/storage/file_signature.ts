// Tells whether a database file is still the one that was last seen.
import { closeSync, openSync, readSync, statSync } from "node:fs";

/** The signature of a file that is not there, or not readable. */
export const GONE = "gone";

/**
 * Which file is at `path`, its size, its last change and SQLite's own change counter (bytes 24-27,
 * sqlite.org/fileformat.html). Undefined for `:memory:`, `GONE` when it cannot be read.
 */
export function fileSignature(path: string): string | undefined {
  if (path === ":memory:") return undefined;
  try {
    return `${sizeAndTime(path)}:${bytesAt(path, 24, 4)}`;
  } catch {
    return GONE;
  }
}

/** Which file is at `path`, its size and its last change; `GONE` when there is none. */
export function sizeAndTime(path: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(path);
    return [ino, size, mtimeMs].join(":");
  } catch {
    return GONE;
  }
}

/** `length` bytes of a file as hexadecimal digits; fewer at its end. */
function bytesAt(path: string, position: number, length: number): string {
  const bytes = new Uint8Array(length);
  const file = openSync(path, "r");
  try {
    const read = readSync(file, bytes, 0, length, position);
    return [...bytes.subarray(0, read)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  } finally {
    closeSync(file);
  }
}
