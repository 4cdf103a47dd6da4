// One line of the audit log: what the assistant did, for whom, and what came of it.
import { z } from "zod";

/** `refused`: it was not run, because the mode, the arguments or the rules did not allow it. */
export const AUDIT_OUTCOMES = ["success", "error", "refused", "aborted"] as const;

export const auditEntrySchema = z.object({
  id: z.string(),
  time: z.string().describe("ISO 8601, UTC, with Z; when the call began"),
  user_id: z.string(),
  username: z.string(),
  project_id: z.string(),
  session_id: z.string(),
  turn_id: z.string(),
  mode: z.string(),
  tool: z.string(),
  risk: z.enum(["read", "change", "destroy"]).nullable().describe("null for a call that was refused unread"),
  arguments: z.unknown().describe("as the model sent them, without secrets; text when they were not JSON"),
  outcome: z.enum(AUDIT_OUTCOMES),
  error: z.string().optional(),
  duration_ms: z.int(),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;

/** What `tools/run.ts` knows of a call; whoever holds the log adds who it was for. */
export type AuditedCall = Pick<
  AuditEntry,
  "tool" | "risk" | "arguments" | "outcome" | "error" | "duration_ms"
>;
