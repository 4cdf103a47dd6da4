// LangGraph's checkpoint saver on SQLite: a checkpoint is a small row that refers to messages stored once.
import type { BaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  compareWritesSortKeys,
  getCheckpointId,
  maxChannelVersion,
  type PendingWrite,
  TASKS,
  WRITES_IDX_MAP,
  writesSortKey,
} from "@langchain/langgraph-checkpoint";
import {
  type CheckpointRow,
  findCheckpoints,
  readCheckpoint,
  readWrites,
  writeCheckpoint,
  writeWrite,
} from "./checkpoint_rows.ts";
import { type Json, pack, unpack } from "./codec.ts";
import type { Database } from "./connection.ts";
import { countMessages, readMessages } from "./conversation.ts";
import { IN_PLACE } from "./message_codec.ts";
import { MessageRows } from "./message_rows.ts";
import { NewestChannels } from "./newest_channels.ts";
import { deleteUnused, pruneThread } from "./prune.ts";
import { deleteThread, ensureThread, isThread, threadNumber } from "./threads.ts";

/** The parts of a checkpoint beside its channels' values. */
type Head = Pick<Checkpoint, "v" | "ts" | "channel_versions" | "versions_seen">;

/** What `put` is given. */
export interface Put {
  config: RunnableConfig;
  checkpoint: Checkpoint;
  metadata: CheckpointMetadata;
  newVersions: ChannelVersions;
}

/**
 * The saver of one database. Every call is one transaction without waiting inside, made when it is called. Messages
 * that it returns are shared with later callers and must not be changed.
 *
 * `put` deletes nothing, as LangGraph's rules demand. Call `prune` when a turn has ended (the graph's stream is at its
 * end, so its last checkpoint is saved): whatever a crash leaves behind, the next turn's `prune` removes.
 */
export class SqliteSaver extends BaseCheckpointSaver {
  readonly #db: Database;
  readonly #rows: MessageRows;
  readonly #kept: number;
  readonly #newest: NewestChannels;

  /**
   * `checkpointsKept`: how many of the newest checkpoints `prune` leaves in each namespace, at least 1.
   * `cachedCharacters` bounds the text of messages kept in memory. One saver for each database.
   */
  constructor(db: Database, options: { checkpointsKept?: number; cachedCharacters?: number } = {}) {
    super();
    this.#db = db;
    this.#kept = Math.max(1, options.checkpointsKept ?? 1);
    this.#rows = new MessageRows(db, options.cachedCharacters ?? 16_000_000);
    this.#newest = new NewestChannels(db);
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return promised(() => {
      const { threadId, ns } = address(config);
      if (threadId === undefined) return undefined;
      const row = readCheckpoint(this.#db, threadId, ns, getCheckpointId(config));
      return row && this.#tuple(row);
    });
  }

  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    // All ids first: a statement left half-read between two steps of the caller would hold the `-wal` file back.
    const found = findCheckpoints(this.#db, {
      threadId: config.configurable?.thread_id,
      ns: config.configurable?.checkpoint_ns,
      id: getCheckpointId(config) || undefined,
      before: options.before && getCheckpointId(options.before) || undefined,
    });
    let left = options.limit ?? Infinity;
    for (const { threadId, ns, id } of found) {
      if (left <= 0) return;
      const row = readCheckpoint(this.#db, threadId, ns, id);
      if (!row || !matches(row, options.filter)) continue;
      left--;
      yield await Promise.resolve(this.#tuple(row));
    }
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return promised(() => this.save({ config, checkpoint, metadata, newVersions }));
  }

  /** What `put` does, without a promise. */
  protected save({ config, checkpoint, metadata, newVersions }: Put): RunnableConfig {
    const { threadId, ns, checkpointId: parent } = address(config);
    if (threadId === undefined) throw new Error("A checkpoint needs configurable.thread_id.");
    const { v, ts, id, channel_versions, versions_seen } = checkpoint;
    const head: Head = { v, ts, channel_versions, versions_seen };
    this.#db.transaction(() => {
      const thread = ensureThread(this.#db, threadId);
      const channels = this.#channels(thread, threadId, ns, parent, checkpoint, newVersions);
      const replaced = writeCheckpoint(this.#db, {
        thread,
        ns,
        id,
        parent: parent ?? null,
        head: JSON.stringify(head),
        channels: JSON.stringify(channels),
        metadata: JSON.stringify(pack(metadata, IN_PLACE)),
      });
      if (replaced) deleteUnused(this.#db, this.#rows, thread, [replaced]);
      this.#newest.note(thread, ns, id, channels);
    });
    return configOf(threadId, ns, id);
  }

  override putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    return promised(() => {
      const { threadId, ns, checkpointId } = address(config);
      if (threadId === undefined) throw new Error("Writes need configurable.thread_id.");
      if (checkpointId === undefined) throw new Error("Writes need configurable.checkpoint_id.");
      this.#db.transaction(() => {
        const thread = ensureThread(this.#db, threadId);
        const unused = writes.map(([channel, value], i) =>
          writeWrite(this.#db, thread, ns, checkpointId, {
            task: taskId,
            idx: Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel]! : i,
            path: taskPath,
            channel,
            value: JSON.stringify(this.#rows.write(thread, value)),
          })
        );
        deleteUnused(this.#db, this.#rows, thread, unused.filter((value) => value !== undefined));
      });
    });
  }

  override deleteThread(threadId: string): Promise<void> {
    return promised(() => {
      const thread = threadNumber(this.#db, threadId);
      this.#db.transaction(() => deleteThread(this.#db, threadId));
      this.#newest.forget((other) => other === thread);
    });
  }

  /** Removes all but the newest checkpoints of a thread (see the constructor). The conversation stays whole. */
  prune(threadId: string): void {
    this.#db.transaction(() => {
      const thread = threadNumber(this.#db, threadId);
      if (thread === undefined) return;
      this.#newest.forget((other) => other === thread);
      pruneThread(this.#db, this.#rows, thread, this.#kept);
    });
  }

  /** Drops the cached messages of a thread that was deleted through `ChatSessionsRepository`. */
  forget(threadId: string): void {
    const gone = (thread: number) =>
      thread === threadNumber(this.#db, threadId) || !isThread(this.#db, thread);
    this.#rows.evict(gone);
    this.#newest.forget(gone);
  }

  /** The messages of a thread's newest checkpoint, oldest first; none for an unknown thread. */
  messages(threadId: string): BaseMessage[] {
    return readMessages(this.#db, this.#rows, threadId);
  }

  /** How many `messages` gives; none is read for it. */
  countMessages(threadId: string): number {
    return countMessages(this.#db, threadId);
  }

  /** The channels to store: changed ones anew, others as the parent has them. */
  #channels(
    thread: number,
    threadId: string,
    ns: string,
    parent: string | undefined,
    checkpoint: Checkpoint,
    newVersions: ChannelVersions,
  ): Record<string, Json> {
    const known = parent ? this.#newest.of(thread, threadId, ns, parent) : undefined;
    const inherited = known ?? {};
    const channels: [string, Json][] = [];
    for (const [name, value] of Object.entries(checkpoint.channel_values)) {
      // A parent that is gone cannot be copied from.
      if (Object.hasOwn(newVersions, name) || (parent && !known)) {
        channels.push([name, this.#rows.write(thread, value)]);
      } else if (Object.hasOwn(inherited, name)) channels.push([name, inherited[name]!]);
    }
    return Object.fromEntries(channels);
  }

  #tuple(row: CheckpointRow): CheckpointTuple {
    const { threadId, ns, id, parent } = row;
    const { v, ts, channel_versions, versions_seen } = JSON.parse(row.head) as Head;
    const channels = this.#values(row.thread, JSON.parse(row.channels));
    const checkpoint: Checkpoint = { v, id, ts, channel_values: channels, channel_versions, versions_seen };
    if (v < 4 && parent !== null) this.#addPendingSends(checkpoint, row, parent);
    const tuple: CheckpointTuple = {
      config: configOf(threadId, ns, id),
      checkpoint,
      metadata: unpack(JSON.parse(row.metadata), IN_PLACE) as CheckpointMetadata,
      pendingWrites: this.#pendingWrites(row, id),
    };
    if (parent !== null) tuple.parentConfig = configOf(threadId, ns, parent);
    return tuple;
  }

  #pendingWrites({ thread, ns }: CheckpointRow, checkpointId: string): CheckpointPendingWrite[] {
    return readWrites(this.#db, thread, ns, checkpointId)
      .map((write) => ({ ...write, key: writesSortKey(write.path, write.task, write.idx) }))
      .sort((a, b) => compareWritesSortKeys(a.key, b.key))
      .map(({ task, channel, value }) => [task, channel, this.#rows.read(thread, JSON.parse(value))]);
  }

  #values(thread: number, channels: { [key: string]: Json }): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(channels).map(([name, value]) => [name, this.#rows.read(thread, value)]),
    );
  }

  /** Checkpoints of formats before 4 had the parent's sends as a channel; LangGraph expects the newer form. */
  #addPendingSends(checkpoint: Checkpoint, row: CheckpointRow, parent: string): void {
    const sends = this.#pendingWrites(row, parent).filter(([, channel]) => channel === TASKS);
    checkpoint.channel_values[TASKS] = sends.map(([, , value]) => value);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] = versions.length > 0
      ? maxChannelVersion(...versions)
      : this.getNextVersion(undefined);
  }
}

/** Runs `work` now; the promise is settled when this returns. */
function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()));
}

function address({ configurable }: RunnableConfig): { threadId?: string; ns: string; checkpointId?: string } {
  return {
    threadId: configurable?.thread_id,
    ns: configurable?.checkpoint_ns ?? "",
    checkpointId: configurable?.checkpoint_id,
  };
}

function configOf(threadId: string, ns: string, id: string): RunnableConfig {
  return { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } };
}

function matches(row: CheckpointRow, filter: Record<string, unknown> = {}): boolean {
  const metadata = JSON.parse(row.metadata) as Record<string, unknown>;
  return Object.entries(filter).every(([key, value]) =>
    JSON.stringify(metadata[key]) === JSON.stringify(value)
  );
}
