// A project's database for a command, which may find a server using it.
import { chownSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../domain/error.ts";
import { finishKeeping } from "./kept.ts";
import { LOCK_FILE, lockFolder } from "./lock.ts";
import { guard, type Place } from "./places.ts";
import { finishRestore } from "./restored.ts";

/** A database that may be read until it is disposed of, and changed unless it is in use. */
export interface Visit extends Disposable {
  file: string;
  /** A server uses it. Otherwise none can before the visit is over. */
  inUse: boolean;
}

/** Throws `AppError` when this user may not lock it, or a crash left something that cannot be finished. */
export function visitDatabase({ folder, file }: Place): Visit {
  const release = lockUnlessUsed(folder);
  if (!release) {
    // In the middle of a restore that one of the server's own turns has asked for, it is under this name.
    const kept = `${file}.kept`;
    return { file: existsSync(kept) ? kept : file, inUse: true, [Symbol.dispose]: () => {} };
  }
  try {
    guard(() => finishKeeping(file));
    guard(() => finishRestore(file));
    return { file, inUse: false, [Symbol.dispose]: release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Gives a file to the user and group of another, if this user may: an administrator's command must not lock the server out. */
export function giveToOwnerOf(model: string, path: string): void {
  const { uid, gid } = statSync(model);
  const now = statSync(path);
  if (now.uid === uid && now.gid === gid) return;
  try {
    chownSync(path, uid, gid);
  } catch {
    // Only an administrator may; for others the file is their own anyway.
  }
}

function lockUnlessUsed(folder: string): (() => void) | undefined {
  try {
    const release = lockFolder(folder);
    giveToOwnerOf(folder, join(folder, LOCK_FILE));
    return release;
  } catch (error) {
    if (error instanceof AppError && error.retryAfter !== undefined) return undefined;
    throw error;
  }
}
