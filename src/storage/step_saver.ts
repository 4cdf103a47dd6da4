// The saver as the agent's graph uses it: what the next checkpoint holds anyway is not written twice.
import type { CheckpointTuple, PendingWrite } from "@langchain/langgraph-checkpoint";
import type { BaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { SqliteSaver } from "./checkpoints.ts";
import type { Database } from "./connection.ts";
import { PythonConversations } from "./python/take_over.ts";

/**
 * LangGraph hands over a node's result before it puts the checkpoint that contains it, so that a crash in between need
 * not run the node again. Our graph has one node a step and repairs a cut turn instead of going on with it, so only what
 * no checkpoint holds is kept: interrupts and the answers to them, and errors.
 *
 * A thread that the Python copilot has written is taken over before it is read.
 */
export class StepSaver extends SqliteSaver {
  readonly #python: PythonConversations | undefined;

  constructor(db: Database, options?: ConstructorParameters<typeof SqliteSaver>[1]) {
    super(db, options);
    this.#python = PythonConversations.of(db);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const threadId: string | undefined = config.configurable?.thread_id;
    if (threadId !== undefined) this.#python?.takeOver(threadId);
    return await super.getTuple(config);
  }

  override messages(threadId: string): BaseMessage[] {
    this.#python?.takeOver(threadId);
    return super.messages(threadId);
  }

  override countMessages(threadId: string): number {
    this.#python?.takeOver(threadId);
    return super.countMessages(threadId);
  }

  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const kept = writes.filter(([channel]) => channel.startsWith("__"));
    return kept.length > 0 ? super.putWrites(config, kept, taskId) : Promise.resolve();
  }
}
