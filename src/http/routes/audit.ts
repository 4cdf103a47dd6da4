// The audit log of a project: superadmins of GNS3 see all of it, everybody else what was done for them.
import type { Context } from "hono";
import { z } from "zod";
import { auditEntrySchema } from "../../domain/audit.ts";
import type { AuditLog } from "../../storage/audit_log.ts";
import { readQuery } from "../input.ts";
import type { Route } from "./route.ts";

export interface AuditDeps {
  audit: Pick<AuditLog, "read">;
  /** Who asks. Throws 401, 403, 404 or 503 when they may not see the project. */
  reader(c: Context, projectId: string): Promise<{ userId: string; seesAll: boolean }>;
}

const query = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(100).describe("most entries"),
  before: z.string().max(100).optional().describe("id of an entry: only older ones"),
});

const answer = z.array(auditEntrySchema);

export function auditRoute(prefix: string, suffix: string, { audit, reader }: AuditDeps): Route {
  return {
    method: "get",
    path: `${prefix}/audit`,
    id: `readAudit${suffix}`,
    tag: "audit",
    summary: "What the assistant did in this project, newest first; superadmins see all users' calls",
    query,
    answers: { 200: { description: "Entries of the audit log", schema: answer } },
    handle: async (c) => {
      const projectId = c.req.param("project_id") ?? "";
      const { userId, seesAll } = await reader(c, projectId);
      const { limit, before } = readQuery(c, query);
      return c.json(await audit.read({ projectId, userId: seesAll ? undefined : userId, limit, before }));
    },
  };
}
