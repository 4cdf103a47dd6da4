// Runs the graph for one turn. Whatever happens in it becomes the turn's own end: this never throws.
import { Command, INTERRUPT, isInterrupted } from "@langchain/langgraph";
import type { Approval } from "../domain/approval.ts";
import { AppError, errorText } from "../domain/error.ts";
import { inTurn } from "../domain/in_turn.ts";
import type { ApprovalInterrupt } from "./approvals.ts";
import type { CopilotGraph } from "./graph.ts";
import type { Update } from "./state.ts";
import type { TurnContext } from "./turn_context.ts";

export interface RunTurn {
  projectId: string;
  /** What the graph starts from, or how it goes on. */
  input(): Update | Command;
  /** Notes that calls wait for the user; the turn then ends. */
  ask(approvals: Approval[]): void;
}

/** The events of a turn go into its log directly: LangGraph's own event stream costs four times as much a token. */
export async function runTurn(graph: CopilotGraph, context: TurnContext, run: RunTurn): Promise<void> {
  const { turn, limits, log } = context;
  try {
    const result: unknown = await graph.invoke(run.input() as Update, {
      configurable: { thread_id: turn.sessionId, project_id: run.projectId },
      metadata: { user_id: turn.userId },
      recursionLimit: 2 * limits.steps + 10,
      durability: "async",
    });
    await inTurn("further");
    if (isInterrupted<ApprovalInterrupt>(result)) {
      run.ask(result[INTERRUPT].flatMap(({ value }) => value?.approvals ?? []));
    }
  } catch (error) {
    const known = error instanceof AppError;
    // A refusal (a full disk, files that were taken away) is the turn's end, or comes after it, and is told there.
    log[known ? "debug" : "error"]("A turn failed.", {
      error: errorText(error),
      stack: known ? undefined : (error as Error)?.stack,
    });
    turn.lose({
      code: known ? error.code : "internal",
      message: known
        ? error.message
        : "The assistant met an unexpected fault; what was said so far is saved.",
    });
  }
}
