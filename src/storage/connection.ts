// One open SQLite database: prepared statements, transactions, closing. Everything here is synchronous.
import { DatabaseSync } from "node:sqlite";
import { CHAT_DATABASE, type DatabaseWords, takenAway } from "./errors.ts";
import { GONE, sizeAndTime, WatchedFile } from "./file_signature.ts";
import { type Guard, guardWith, type Statement, type Value, wrap } from "./statement.ts";

export type { Row, Statement, Value } from "./statement.ts";

/** After so many transactions the `-wal` file is moved into the database: a few MB at most. */
const COMMITS_PER_CHECKPOINT = 64;

export interface DatabaseOptions {
  readOnly?: boolean;
  /**
   * Other processes may write to it while it is open here, and nobody replaces the file. Left out: the other way round,
   * as with a project's database.
   */
  shared?: boolean;
  /** How errors call it. */
  words?: DatabaseWords;
}

/** A connection, for its whole life. One for each database: two would not see each other's caches. */
export class Database {
  #db: DatabaseSync;
  readonly #statements = new Map<string, Statement>();
  readonly #rollbackHooks: (() => void)[] = [];
  readonly #closeHooks: (() => void)[] = [];
  #path: string;
  readonly #readOnly: boolean;
  readonly #shared: boolean;
  readonly #guard: Guard;
  #inTransaction = false;
  #open = true;
  #commits = 0;
  /** The file as this connection left it; it writes into the file itself only in `checkpoint`. */
  #signature: string | undefined;
  #watched: WatchedFile | undefined;
  /** The `-wal` file as this connection left it. */
  #wal: string | undefined;

  /** Opens `path` (`:memory:` for none) and sets nothing: `database.ts` knows the order of the pragmas. */
  constructor(
    path: string,
    { readOnly = false, shared = false, words = CHAT_DATABASE }: DatabaseOptions = {},
  ) {
    this.#path = path;
    this.#readOnly = readOnly;
    this.#shared = shared;
    this.#guard = guardWith(words);
    this.#db = this.#guard(() => new DatabaseSync(path, { readOnly }));
    this.#watch();
  }

  /** The file, or `:memory:`. Never for people: an error does not name it. */
  get path(): string {
    return this.#path;
  }

  /** Whether the `-wal` file is the one that this connection has written, and nobody else since. */
  ownsWal(): boolean {
    return this.#wal === sizeAndTime(`${this.#path}-wal`);
  }

  /** False once `close` was called. */
  get open(): boolean {
    return this.#open;
  }

  /** Runs SQL without parameters or results. */
  exec(sql: string): void {
    this.#writing(() => this.#guard(() => this.#db.exec(sql)));
  }

  /** The statement for `sql`, prepared once. */
  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = wrap(() => this.#db.prepare(sql), this.#guard, (run) => this.#writing(run));
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** The single value of a pragma, for example `pragma("user_version")`. */
  pragma(text: string): Value | undefined {
    // Pragmas are not kept: a prepared one may answer from before a change of the schema.
    return this.#writing(() =>
      this.#guard(() => Object.values(this.#db.prepare(`PRAGMA ${text}`).get() ?? {})[0])
    );
  }

  /**
   * Runs `work` as one unit: all of its changes are kept, or none when it throws. `work` must not await anything.
   * Inside another transaction it simply joins it, so its error must reach the outer one. What `work` throws is
   * thrown again. Throws `conflict` when the file is not this connection's any more: GNS3 has put a snapshot's over it,
   * or has deleted the project.
   */
  transaction<T>(work: () => T): T {
    if (this.#inTransaction) return work();
    const change = this.changedOutside();
    if (change) throw takenAway(change);
    this.#run("BEGIN IMMEDIATE");
    this.#inTransaction = true;
    let result: T;
    try {
      result = work();
      this.#run("COMMIT");
    } catch (error) {
      this.#rollback();
      throw error;
    } finally {
      this.#inTransaction = false;
      this.#noteWal();
    }
    this.#committed();
    return result;
  }

  /**
   * As `transaction`; a power cut afterwards loses nothing of it, nor of what was committed before it. It waits for the
   * disk, which others do not.
   */
  durably<T>(work: () => T): T {
    this.#run("PRAGMA synchronous = FULL");
    try {
      return this.transaction(work);
    } finally {
      this.#run("PRAGMA synchronous = NORMAL");
    }
  }

  /** Calls `hook` after every rollback: whoever caches rows drops what the database never kept. */
  onRollback(hook: () => void): void {
    this.#rollbackHooks.push(hook);
  }

  /** Calls `hook` once, when it is closed: what was added last is called first. */
  onClose(hook: () => void): void {
    this.#closeHooks.unshift(hook);
  }

  /** Gives pages that deletions freed back to the file system, as far as that is possible now. */
  shrink(): void {
    try {
      // `exec` frees a single page a call; stepping the statement to its end frees all of them.
      this.#db.prepare("PRAGMA incremental_vacuum").all();
      this.#noteWal();
      this.checkpoint();
    } catch {
      // The deletion itself is safe; the next one frees these pages too.
    }
  }

  /** Moves everything from the `-wal` file into the database and empties that file. Good to do when nothing runs. */
  checkpoint(): void {
    this.#checkpoint("TRUNCATE");
  }

  /**
   * Whether somebody else has written into the file (GNS3 restores a snapshot over it) or removed it; undefined when
   * nobody has. Such a file is not written any more (`closeRestored` lets go of it). No other program may write to the
   * database while it is open here.
   */
  changedOutside(): "restored" | "deleted" | undefined {
    if (this.#shared || this.#signature === undefined) return undefined;
    const now = this.#watched?.signature();
    if (now === this.#signature && this.ownsWal()) return undefined;
    return now === GONE ? "deleted" : "restored";
  }

  /**
   * Closes the database, lets `move` move its file to `path`, and opens it there. Nothing of it is lost, and nobody who
   * holds this object notices. `setUp` sets the pragmas of a connection. Synchronous, so that nothing comes between.
   * When `move` throws, the database is open where it was.
   */
  moveTo(path: string, move: () => void, setUp: (db: Database) => void): void {
    if (this.#inTransaction) throw new Error("A database is not moved in a transaction.");
    this.checkpoint();
    this.#statements.clear();
    this.#guard(() => this.#db.close());
    this.#watched?.close();
    try {
      this.#guard(move);
      this.#path = path;
    } finally {
      this.#db = this.#guard(() => new DatabaseSync(this.#path, { readOnly: this.#readOnly }));
      this.#watch();
      this.#setUpAgain(setUp);
    }
  }

  /** Closes it; after that no `-wal` file is left (a read-only one changes nothing). A second call does nothing. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#statements.clear();
    try {
      if (!this.#readOnly) this.checkpoint();
    } catch {
      // Nothing is lost: what could not be moved (a full disk) stays in `-wal` and is read at the next opening.
    } finally {
      try {
        this.#guard(() => this.#db.close());
      } finally {
        this.#watched?.close();
        this.#runCloseHooks();
      }
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** All of them, also when one fails: the last lets go of the lock. */
  #runCloseHooks(): void {
    const hook = this.#closeHooks.shift();
    if (!hook) return;
    try {
      this.#guard(hook);
    } finally {
      this.#runCloseHooks();
    }
  }

  #watch(): void {
    this.#watched = this.#path === ":memory:" ? undefined : new WatchedFile(this.#path);
  }

  #setUpAgain(setUp: (db: Database) => void): void {
    this.#wal = undefined;
    setUp(this);
    this.#signature = undefined;
    this.checkpoint();
  }

  #committed(): void {
    try {
      if (++this.#commits % COMMITS_PER_CHECKPOINT === 0) this.#checkpoint("PASSIVE");
    } catch {
      // What was committed is safe in `-wal`; the next call tries again.
    }
  }

  /** Runs SQL that changes no file, or whose changes `transaction` notes at its end: the files are not looked at. */
  #run(sql: string): void {
    this.#guard(() => this.#db.exec(sql));
  }

  /** Runs what may write. A `-wal` file that was somebody else's before stays so: a snapshot's is not to be thrown away. */
  #writing<T>(work: () => T): T {
    const own = this.#inTransaction || this.#wal === undefined || this.ownsWal();
    const result = work();
    if (own) this.#noteWal();
    return result;
  }

  /** To be called after whatever may have written: a change that is seen later was somebody else's. */
  #noteWal(): void {
    if (!this.#inTransaction && this.#path !== ":memory:") this.#wal = sizeAndTime(`${this.#path}-wal`);
  }

  #checkpoint(mode: "PASSIVE" | "TRUNCATE"): void {
    if (this.changedOutside()) return;
    this.#guard(() => this.#db.prepare(`PRAGMA wal_checkpoint(${mode})`).all());
    this.#signature = this.#watched?.signature();
    this.#noteWal();
  }

  #rollback(): void {
    try {
      this.#db.exec("ROLLBACK");
    } catch {
      // After a full disk SQLite has rolled back by itself and refuses to do it twice.
    }
    for (const hook of this.#rollbackHooks) hook();
  }
}
