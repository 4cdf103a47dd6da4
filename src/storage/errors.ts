// Turns what SQLite and the file system complain about into sentences for a person.
import { AppError, errorText } from "../domain/error.ts";

/** The chat database as people may see it in a message: relative to the project's folder. */
export const DATABASE_NAME = "gns3-copilot/copilot_checkpoints.db";

/** How a database, and what surrounds it, is called in a sentence. No paths: clients read these sentences. */
export interface DatabaseWords {
  /** Begins with a capital. */
  database: string;
  file: string;
  /** What is lost while it cannot be written: "the chat". */
  content: string;
  folder: string;
  /** What to do about a damaged one. */
  repair: string;
  /** What to do about one that was closed. */
  reopen: string;
}

export const CHAT_DATABASE: DatabaseWords = {
  database: `The chat database ${DATABASE_NAME} of this project`,
  file: `${DATABASE_NAME} of this project`,
  content: "the chat of this project",
  folder: "the project's folder",
  repair: "run `gns3-copilot check --repair` on this project to recover what is readable",
  reopen: "Open the project and try again.",
};

type Kind = (error: unknown, words: DatabaseWords) => AppError;

/** The low byte of an SQLite result code says what kind of failure it is (sqlite.org/rescode.html). */
const KINDS: Record<number, Kind> = {
  3: notWritable,
  5: locked,
  6: locked,
  8: notWritable,
  10: unreadable,
  11: damaged,
  13: diskFull,
  14: notOpened,
  26: damaged,
};

// `exec` and the constructor report no code in Deno, only SQLite's English text.
const TEXTS: [RegExp, Kind][] = [
  [/file is not a database|disk image is malformed|malformed database schema/i, damaged],
  [/database or disk is full|no space left|quota exceeded/i, diskFull],
  [
    /readonly database|read-only|permission denied|access permission|requires (read|write) access/i,
    notWritable,
  ],
  [/unable to open database file/i, notOpened],
  [/database (table )?is locked/i, locked],
  [/disk I\/O error/i, unreadable],
  [/database is not open|statement has been finalized/i, closed],
];

/** The error to throw instead of `error`: an `AppError` with advice where one is known, else `error` itself. */
export function storageError(error: unknown, words: DatabaseWords = CHAT_DATABASE): unknown {
  if (error instanceof AppError) return error;
  const code = (error as { errcode?: unknown } | null)?.errcode;
  const known = typeof code === "number" ? KINDS[code & 0xff] : undefined;
  if (known) return known(error, words);
  const text = errorText(error);
  return TEXTS.find(([pattern]) => pattern.test(text))?.[1](error, words) ?? error;
}

/** A database that cannot be read as one. */
export function damaged(cause?: unknown, { database, repair }: DatabaseWords = CHAT_DATABASE): AppError {
  return new AppError("internal", `${database} is damaged. It was left untouched; ${repair}.`, { cause });
}

function diskFull(cause: unknown, { content, folder }: DatabaseWords): AppError {
  return new AppError(
    "unavailable",
    `The disk that holds ${folder} is full, so ${content} could not be saved. Free some space and try again.`,
    { cause },
  );
}

function notWritable(cause: unknown, { content, file, folder }: DatabaseWords): AppError {
  return new AppError(
    "unavailable",
    `${capital(content)} cannot be saved: ${file} is not writable for this server. ` +
      `Give its user write access to ${folder}.`,
    { cause },
  );
}

function notOpened(cause: unknown, { database, folder }: DatabaseWords): AppError {
  return new AppError(
    "unavailable",
    `${database} cannot be opened. Check that this server's user may read and write ${folder}.`,
    { cause },
  );
}

function unreadable(cause: unknown, { file, folder }: DatabaseWords): AppError {
  return new AppError(
    "unavailable",
    `Reading or writing ${file} failed. Check the disk that holds ${folder}.`,
    { cause },
  );
}

function locked(cause: unknown, { file }: DatabaseWords): AppError {
  return new AppError(
    "unavailable",
    `Another program is using ${file}. Try again in a moment.`,
    { cause, retryAfter: 5 },
  );
}

/** The database was deleted or moved, with its project or without, or replaced by a snapshot's: what was to be saved belongs to neither. */
export function takenAway(change: "restored" | "deleted"): AppError {
  return new AppError(
    "conflict",
    change === "deleted"
      ? "The project or its chat files were deleted or moved away, and this conversation with them."
      : "The project was set back to a snapshot in the meantime: this was not saved.",
  );
}

function closed(cause: unknown, { content, reopen }: DatabaseWords): AppError {
  return new AppError("unavailable", `${capital(content)} was closed. ${reopen}`, { cause });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
