// The saver as the agent's graph uses it: what the next checkpoint holds anyway is not written twice.
import type { CheckpointListOptions, CheckpointTuple, PendingWrite } from "@langchain/langgraph-checkpoint";
import type { BaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { type Put, SqliteSaver } from "./checkpoints.ts";
import type { Database } from "./connection.ts";
import { PythonConversations } from "./python/take_over.ts";

/**
 * LangGraph hands over a node's result before it puts the checkpoint that contains it, so that a crash in between need
 * not run the node again. Our graph has one node a step and repairs a cut turn instead of going on with it, so only what
 * no checkpoint holds is kept: interrupts and the answers to them, and errors.
 *
 * A turn's input is a checkpoint of its own, which holds nothing that the one after it does not, and that one comes at once,
 * before anything is done. So it waits: that one is written in its place, as a child of its parent. Whoever looks for
 * checkpoints in between finds it written.
 *
 * A thread that the Python copilot has written is taken over before it is read.
 */
export class StepSaver extends SqliteSaver {
  readonly #python: PythonConversations | undefined;
  /** Inputs that are not written, by thread. */
  readonly #inputs = new Map<string, Put>();

  constructor(db: Database, options?: ConstructorParameters<typeof SqliteSaver>[1]) {
    super(db, options);
    this.#python = PythonConversations.of(db);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const threadId: string | undefined = config.configurable?.thread_id;
    if (threadId !== undefined) {
      this.#python?.takeOver(threadId);
      this.#writeInput(threadId);
    }
    return await super.getTuple(config);
  }

  override async *list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    for (const threadId of [...this.#inputs.keys()]) this.#writeInput(threadId);
    yield* super.list(config, options);
  }

  /** As it is without an input that waits: one that changes messages does not wait. */
  override messages(threadId: string): BaseMessage[] {
    this.#python?.takeOver(threadId);
    return super.messages(threadId);
  }

  override countMessages(threadId: string): number {
    this.#python?.takeOver(threadId);
    return super.countMessages(threadId);
  }

  protected override save(put: Put): RunnableConfig {
    const { config, checkpoint, newVersions } = put;
    const { thread_id: threadId, checkpoint_ns: ns = "", checkpoint_id: parent } = config.configurable ?? {};
    const input = this.#inputs.get(threadId);
    if (input && !ns && parent === input.checkpoint.id) {
      // When this fails, the turn has not begun: nothing of it is kept.
      this.#inputs.delete(threadId);
      return super.save({
        ...put,
        config: input.config,
        newVersions: { ...input.newVersions, ...newVersions },
      });
    }
    this.#writeInput(threadId);
    if (threadId === undefined || ns || !mayWait(put)) return super.save(put);
    this.#inputs.set(threadId, put);
    return { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: checkpoint.id } };
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const kept = writes.filter(([channel]) => channel.startsWith("__"));
    if (kept.length === 0) return;
    this.#writeInput(config.configurable?.thread_id);
    await super.putWrites(config, kept, taskId);
  }

  override async deleteThread(threadId: string): Promise<void> {
    this.#inputs.delete(threadId);
    await super.deleteThread(threadId);
  }

  /** An input that still waits at the end of its turn was never used: it is dropped. */
  override prune(threadId: string): void {
    this.#inputs.delete(threadId);
    super.prune(threadId);
  }

  override forget(threadId: string): void {
    this.#inputs.delete(threadId);
    super.forget(threadId);
  }

  #writeInput(threadId: string): void {
    const input = this.#inputs.get(threadId);
    if (!input) return;
    super.save(input);
    this.#inputs.delete(threadId);
  }
}

function mayWait({ metadata, newVersions }: Put): boolean {
  return metadata.source === "input" && !Object.hasOwn(newVersions, "messages");
}
