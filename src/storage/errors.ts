// Turns what SQLite and the file system complain about into sentences for a person.
import { AppError, errorText } from "../domain/error.ts";

/** The chat database as people may see it in a message: relative to the project's folder. */
export const DATABASE_NAME = "gns3-copilot/copilot_checkpoints.db";

/** The low byte of an SQLite result code says what kind of failure it is (sqlite.org/rescode.html). */
const KINDS: Record<number, (error: unknown) => AppError> = {
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
const TEXTS: [RegExp, (error: unknown) => AppError][] = [
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
export function storageError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const code = (error as { errcode?: unknown } | null)?.errcode;
  const known = typeof code === "number" ? KINDS[code & 0xff] : undefined;
  if (known) return known(error);
  const text = errorText(error);
  return TEXTS.find(([pattern]) => pattern.test(text))?.[1](error) ?? error;
}

/** A database that cannot be read as one. */
export function damaged(cause?: unknown): AppError {
  return new AppError(
    "internal",
    `The chat database ${DATABASE_NAME} of this project is damaged. It was left untouched; ` +
      "stop the server and run `gns3-copilot check --repair` on this project to recover what is readable.",
    { cause },
  );
}

function diskFull(cause: unknown): AppError {
  return new AppError(
    "unavailable",
    "The disk that holds this project is full, so the chat could not be saved. Free some space and try again.",
    { cause },
  );
}

function notWritable(cause: unknown): AppError {
  return new AppError(
    "unavailable",
    `The chat of this project cannot be saved: ${DATABASE_NAME} is not writable for this server. ` +
      "Give its user write access to the project's folder.",
    { cause },
  );
}

function notOpened(cause: unknown): AppError {
  return new AppError(
    "unavailable",
    `The chat database ${DATABASE_NAME} of this project cannot be opened. ` +
      "Check that this server's user may read and write the project's folder.",
    { cause },
  );
}

function unreadable(cause: unknown): AppError {
  return new AppError(
    "unavailable",
    `Reading or writing ${DATABASE_NAME} of this project failed. Check the disk that holds the project.`,
    { cause },
  );
}

function locked(cause: unknown): AppError {
  return new AppError(
    "unavailable",
    `Another program is using ${DATABASE_NAME} of this project. Try again in a moment.`,
    { cause, retryAfter: 5 },
  );
}

/** The database was deleted with its project, or replaced by a snapshot's: what was to be saved belongs to neither. */
export function takenAway(change: "restored" | "deleted"): AppError {
  return new AppError(
    "conflict",
    change === "deleted"
      ? "The project was deleted, and this conversation with it."
      : "The project was set back to a snapshot in the meantime: this was not saved.",
  );
}

function closed(cause: unknown): AppError {
  return new AppError("unavailable", "The chat of this project was closed. Open the project and try again.", {
    cause,
  });
}
