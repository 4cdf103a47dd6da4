// Calls that wait for the user's decision before they may change the lab (contract sections 3 and 6).
import { z } from "zod";
import { isDeeper, MOST_LEVELS } from "./json.ts";

/** What a client is asked, one a call; `arguments` is what the tool would run with. */
export const approvalSchema = z.object({
  id: z.string(),
  tool_call_id: z.string(),
  tool_name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  risk: z.enum(["change", "destroy"]),
  summary: z.string(),
});
export type Approval = z.infer<typeof approvalSchema>;

/** The body of `POST …/approvals/{approval_id}`. */
export const decisionSchema = z.object({
  decision: z.enum(["approve", "reject", "edit"]),
  arguments: z.record(z.string(), z.unknown()).nullish(),
  reason: z.string().max(2000).nullish(),
}).refine((value) => value.decision !== "edit" || value.arguments, {
  path: ["arguments"],
  message: "is required to edit a call",
}).refine((value) => !isDeeper(value.arguments, MOST_LEVELS), {
  path: ["arguments"],
  message: `must not be nested more than ${MOST_LEVELS} levels deep`,
});

/** A decision about one call. `edit` runs it with other arguments. */
export type Decision =
  | { decision: "approve" }
  | { decision: "edit"; arguments: Record<string, unknown> }
  | { decision: "reject"; reason?: string };
