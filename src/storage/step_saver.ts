// The saver as the agent's graph uses it: what the next checkpoint holds anyway is not written twice.
import type { PendingWrite } from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";
import { SqliteSaver } from "./checkpoints.ts";

/**
 * LangGraph hands over a node's result before it puts the checkpoint that contains it, so that a crash in between need
 * not run the node again. Our graph has one node a step and repairs a cut turn instead of going on with it, so only what
 * no checkpoint holds is kept: interrupts and the answers to them, and errors.
 */
export class StepSaver extends SqliteSaver {
  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const kept = writes.filter(([channel]) => channel.startsWith("__"));
    return kept.length > 0 ? super.putWrites(config, kept, taskId) : Promise.resolve();
  }
}
