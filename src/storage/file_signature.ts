// Tells whether a database file is still the one that was last seen. Asked before and after every transaction, so with
// Deno's own calls: through `node:fs` they take three times as long.

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
    const { ino, size, mtime } = Deno.statSync(path);
    return `${ino}:${size}:${mtime?.getTime()}`;
  } catch {
    return GONE;
  }
}

/** `length` bytes of a file as hexadecimal digits; fewer at its end. */
function bytesAt(path: string, position: number, length: number): string {
  const bytes = new Uint8Array(length);
  using file = Deno.openSync(path);
  file.seekSync(position, Deno.SeekMode.Start);
  return bytes.subarray(0, file.readSync(bytes) ?? 0).toHex();
}
