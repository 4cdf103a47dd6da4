// Where a session's open questions are kept and answered; the graph is resumed with what comes out of here.
import type { Approval, Decision } from "../domain/approval.ts";
import { AppError, fieldError } from "../domain/error.ts";
import type { ApprovalOptions, ApprovalsRepository, StoredApproval } from "../storage/approvals.ts";
import { prepareCall } from "../tools/run.ts";
import type { Decisions } from "./approvals.ts";
import type { TurnContext, TurnRequest } from "./turn_context.ts";

/** How long a call waits for a decision; then nothing of it runs. */
const APPROVAL_MS = 24 * 3600_000;

export class ApprovalDesk {
  constructor(private readonly approvals: ApprovalsRepository, private readonly now: () => Date) {}

  /** Ends the turn with questions: notes them and tells the client. */
  ask({ turn, toolContext }: TurnContext, request: TurnRequest, list: Approval[]): void {
    const options: ApprovalOptions = {
      mode: toolContext.mode,
      temperature: request.temperature ?? undefined,
      max_tokens: request.max_tokens ?? undefined,
    };
    this.approvals.ask(turn.sessionId, list, options, new Date(this.now().getTime() + APPROVAL_MS));
    turn.waiting = true;
    for (const approval of list) turn.publish({ type: "approval_request", approval });
  }

  /** What waits in a session; not what nobody can decide any more. */
  waiting(sessionId: string): Approval[] {
    const open = this.approvals.batch(sessionId).filter(({ expiresAt }) => expiresAt > this.now());
    return open.map(({ approval }) => approval);
  }

  /** The open question with this id. Throws 404 for none (its time may be over), 409 when it was decided. */
  find(sessionId: string, approvalId: string): StoredApproval {
    const asked = this.approvals.batch(sessionId).find(({ approval }) => approval.id === approvalId);
    if (!asked || asked.expiresAt <= this.now()) {
      throw new AppError("not_found", "Nothing waits for a decision under this id; it may have expired.");
    }
    if (asked.decision) throw new AppError("conflict", "This call was decided already.");
    return asked;
  }

  /** Takes a decision. Answers those of the whole batch, by tool call, when it was the last one. Throws 422 for a bad edit. */
  decide(asked: StoredApproval, decision: Decision, context: TurnContext): Decisions | undefined {
    checkEdit(asked.approval, decision, context);
    this.approvals.decide(asked.approval.id, decision);
    const decisions: Decisions = {};
    for (const { approval, decision } of this.approvals.batch(context.turn.sessionId)) {
      if (!decision) return undefined;
      decisions[approval.tool_call_id] = decision;
    }
    return decisions;
  }

  /** Forgets the session's questions. Returns whether there were any. */
  clear(sessionId: string): boolean {
    const any = this.approvals.batch(sessionId).length > 0;
    if (any) this.approvals.clear(sessionId);
    return any;
  }
}

/** An edit that the tool would not take is refused here, where the user can still correct it. */
function checkEdit(approval: Approval, decision: Decision, context: TurnContext): void {
  if (decision.decision !== "edit") return;
  const call = { name: approval.tool_name, arguments: JSON.stringify(decision.arguments) };
  const prepared = prepareCall(call, context.toolContext, { tools: context.tools });
  if (prepared.kind === "ready") return;
  const { error } = JSON.parse(prepared.answer.output) as { error: string };
  throw fieldError(["body", "arguments"], error);
}
