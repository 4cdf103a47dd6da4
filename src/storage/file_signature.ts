// Tells whether a database file is still the one that was last seen. Asked before and after every transaction, so with
// Deno's own calls: through `node:fs` they take three times as long.

/** The signature of a file that is not there, or not readable. */
export const GONE = "gone";

/**
 * Which file is at `path`, its size, its last change and SQLite's own change counter (bytes 24-27,
 * sqlite.org/fileformat.html); `GONE` when it cannot be read. Not for a file that SQLite has open here: see `WatchedFile`.
 */
export function fileSignature(path: string): string {
  try {
    using file = Deno.openSync(path);
    return signatureOf(path, file);
  } catch {
    return GONE;
  }
}

/**
 * The signature of a database that stays open. The file is opened once and kept: whoever closes a file gives up all locks that
 * his process has on it (fcntl(2)), SQLite's own among them, and then the next program that reads the database and ends takes it
 * for one that nobody uses, and removes the `-wal` file under the one who does.
 */
export class WatchedFile {
  readonly #path: string;
  readonly #file: Deno.FsFile | undefined;

  constructor(path: string) {
    this.#path = path;
    try {
      this.#file = Deno.openSync(path);
    } catch {
      // Whoever cannot read it sees it as gone.
    }
  }

  /** As `fileSignature`; what stands at the path now counts, not what stood there when it was opened. */
  signature(): string {
    try {
      return this.#file ? signatureOf(this.#path, this.#file) : GONE;
    } catch {
      return GONE;
    }
  }

  /** To be called after SQLite has closed the file. */
  close(): void {
    this.#file?.close();
  }
}

/** The bytes of another file than the one at the path do not matter: they have another number. */
function signatureOf(path: string, file: Deno.FsFile): string {
  const { ino, size, mtime } = Deno.statSync(path);
  const counter = new Uint8Array(4);
  file.seekSync(24, Deno.SeekMode.Start);
  const read = file.readSync(counter) ?? 0;
  return `${ino}:${size}:${mtime?.getTime()}:${counter.subarray(0, read).toHex()}`;
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
