// The step between checking a batch of calls and running it: those that would change the lab wait for the user.
import { interrupt } from "@langchain/langgraph";
import type { Approval, Decision } from "../domain/approval.ts";
import { deeperThan } from "../domain/json.ts";
import type { ModelToolCall } from "../models/tool_calls.ts";
import type { PreparedCall, ToolAnswer } from "../tools/run.ts";
import { prepareCall } from "../tools/run.ts";
import type { TurnContext } from "./turn_context.ts";

/** Decisions by tool call id, as the graph is resumed with them. */
export type Decisions = Record<string, Decision>;

/** What the graph's interrupt carries out of the node. */
export interface ApprovalInterrupt {
  approvals: Approval[];
}

/**
 * The user's decisions about a batch; empty when nothing needs one. The first time it interrupts the graph (by throwing,
 * so it must not stand inside a catch), once for the whole batch and before anything has run: LangGraph runs the node
 * again from its start when the decisions are there.
 */
export function decisionsFor(
  calls: readonly ModelToolCall[],
  prepared: readonly PreparedCall[],
  context: TurnContext,
): Decisions {
  if (!context.approvals) return {};
  const approvals = prepared.flatMap((one, i): Approval[] => {
    if (one.kind !== "ready" || one.risk === "read") return [];
    const { id, name } = calls[i]!;
    return [{
      id: context.newId(),
      tool_call_id: id,
      tool_name: name,
      arguments: one.args,
      risk: one.risk,
      summary: summaryOf(name, one),
    }];
  });
  return approvals.length ? interrupt<ApprovalInterrupt, Decisions>({ approvals }) : {};
}

/** Answers the calls of a batch that nobody decided before the conversation went on. */
export const NOT_APPROVED = JSON.stringify({
  error: "not run: the user did not approve this call; nothing of it has happened",
});

/** The call as it was decided: as it is, with other arguments, or an answer that says that it was refused. */
export function decided(
  prepared: PreparedCall,
  decision: Decision | undefined,
  context: TurnContext,
): PreparedCall {
  if (prepared.kind === "answer") return prepared;
  const { tool: { name }, args, risk } = prepared;
  const refused = (answer: ToolAnswer): PreparedCall => ({
    kind: "answer",
    answer,
    call: { name, arguments: JSON.stringify(args) },
    risk,
  });
  if (!decision) {
    // It was not allowed when the batch was asked for (skills, names in the lab), so that nobody was asked about it.
    const unasked = context.approvals && risk !== "read";
    return unasked ? refused({ output: NOT_APPROVED, status: "error" }) : prepared;
  }
  if (decision.decision === "approve") return prepared;
  if (decision.decision === "reject") return refused(rejection(decision.reason));
  const call = { name, arguments: JSON.stringify(decision.arguments) };
  return prepareCall(call, context.toolContext, { tools: context.tools });
}

/** Tells the model what really ran, which its own message does not show. */
export function withEdit(answer: ToolAnswer, decision: Decision | undefined): ToolAnswer {
  if (decision?.decision !== "edit") return answer;
  const output = {
    note: "The user changed the arguments before this ran.",
    ran_with: decision.arguments,
    result: json(answer.output),
  };
  return { ...answer, output: JSON.stringify(output) };
}

function rejection(reason: string | undefined): ToolAnswer {
  const said = reason ? ` They said: ${reason}` : "";
  const error = `not run: the user rejected this call.${said} Do not repeat it; ask what they want instead.`;
  return { output: JSON.stringify({ error }), status: "error" };
}

/** One line for a person: what would happen, and to what. */
function summaryOf(name: string, { args, risk }: Extract<PreparedCall, { kind: "ready" }>): string {
  const verb = risk === "destroy" ? "Removes something from the lab" : "Changes the lab";
  const text = JSON.stringify(args);
  return `${verb}: ${name} ${text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text}`;
}

function json(text: string): unknown {
  if (deeperThan(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
