// The channels of the checkpoint that was written last, which the next one mostly copies.
import { readCheckpoint } from "./checkpoint_rows.ts";
import type { Json } from "./codec.ts";
import type { Database } from "./connection.ts";

/** Channels by name, as they are stored. */
export type Channels = Readonly<Record<string, Json>>;

/** Remembers one checkpoint for each thread, until a rollback or `forget`. Whoever deletes checkpoints calls that before. */
export class NewestChannels {
  readonly #db: Database;
  readonly #newest = new Map<number, { ns: string; id: string; channels: Channels }>();

  constructor(db: Database) {
    this.#db = db;
    db.onRollback(() => this.#newest.clear());
  }

  /** The channels of a checkpoint, from memory or from its row; undefined when it is not there. */
  of(thread: number, threadId: string, ns: string, id: string): Channels | undefined {
    const newest = this.#newest.get(thread);
    if (newest?.id === id && newest.ns === ns) return newest.channels;
    const row = readCheckpoint(this.#db, threadId, ns, id);
    return row && JSON.parse(row.channels);
  }

  /** Notes what was just written. */
  note(thread: number, ns: string, id: string, channels: Channels): void {
    this.#newest.set(thread, { ns, id, channels });
  }

  /** Drops what is known of the threads for which `unwanted` is true. */
  forget(unwanted: (thread: number) => boolean): void {
    for (const thread of this.#newest.keys()) if (unwanted(thread)) this.#newest.delete(thread);
  }
}
