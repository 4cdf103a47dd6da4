// Calls of a session that wait for the user's decision; on disk, so that a restart loses no question.
import type { Approval, Decision } from "../domain/approval.ts";
import type { CopilotMode } from "../domain/model_config.ts";
import type { Database, Row } from "./connection.ts";

/** What the turn that asked was started with, for the turn that goes on. */
export interface ApprovalOptions {
  mode: CopilotMode;
  temperature?: number;
  max_tokens?: number;
}

/** A question with what has become of it; `decision` is null while it is open. */
export interface StoredApproval {
  approval: Approval;
  options: ApprovalOptions;
  expiresAt: Date;
  decision: Decision | null;
}

/** The open questions of a project's sessions: at most one batch a session. Check the session's owner before. */
export class ApprovalsRepository {
  constructor(private readonly db: Database) {}

  /** Notes a batch; what the session had before is forgotten. */
  ask(threadId: string, approvals: readonly Approval[], options: ApprovalOptions, expiresAt: Date): void {
    this.db.transaction(() => {
      this.clear(threadId);
      const insert = this.db.prepare(
        "INSERT INTO chat_approvals (id, thread_id, place, request, options, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
      );
      for (const [place, approval] of approvals.entries()) {
        const [request, more] = [JSON.stringify(approval), JSON.stringify(options)];
        insert.run(approval.id, threadId, place, request, more, expiresAt.toISOString());
      }
    });
  }

  /** The session's batch, decided or not; empty when nothing is asked. */
  batch(threadId: string): StoredApproval[] {
    const rows = this.db.prepare("SELECT * FROM chat_approvals WHERE thread_id = ? ORDER BY place").all(
      threadId,
    );
    return rows.map(toApproval);
  }

  decide(id: string, decision: Decision): void {
    this.db.transaction(() => {
      this.db.prepare("UPDATE chat_approvals SET decision = ? WHERE id = ?").run(
        JSON.stringify(decision),
        id,
      );
    });
  }

  /** Forgets the session's batch: it was decided, dropped, or its time is over. */
  clear(threadId: string): void {
    this.db.transaction(() => {
      this.db.prepare("DELETE FROM chat_approvals WHERE thread_id = ?").run(threadId);
    });
  }
}

function toApproval(row: Row): StoredApproval {
  return {
    approval: JSON.parse(String(row.request)) as Approval,
    options: JSON.parse(String(row.options)) as ApprovalOptions,
    expiresAt: new Date(String(row.expires_at)),
    decision: row.decision === null ? null : JSON.parse(String(row.decision)) as Decision,
  };
}
