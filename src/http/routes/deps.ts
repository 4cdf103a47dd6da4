// What the chat routes need, and how a request finds its project's agent.
import type { Context } from "hono";
import { z } from "zod";
import type { AgentService } from "../../agent/agent_service.ts";
import { fieldError } from "../../domain/error.ts";
import { SESSION_ID, SESSION_ID_RULE } from "../../domain/session.ts";
import type { Caller } from "../../domain/scope.ts";
import type { Logger } from "../../log.ts";
import type { Recheck } from "../sse.ts";

/** A caller who may use the project, and the project's agent. */
export interface Visit {
  caller: Caller;
  service: AgentService;
  /** For answers that take their time: whether the caller still may. */
  recheck: Recheck;
}

/** A caller as GNS3 knew them last, and the project's agent. */
export interface Known extends Pick<Visit, "caller" | "service"> {
  /** Throws 401 when GNS3 refuses the caller now; a GNS3 that does not answer is hardly waited for: a stop is to take effect within 200 ms. */
  confirm(): Promise<void>;
}

export interface ChatDeps {
  heartbeatMs: number;
  log: Logger;
  /** Throws 401, 403, 404 or 503 when the caller may not enter. `projectId` defaults to the path's parameter. */
  visit(c: Context, projectId?: string): Promise<Visit>;
  /**
   * As `visit`, for what a user may always do to a turn of their own, also while GNS3 hangs: who it is, it has said before.
   * Undefined when GNS3 has not let the caller in before, or nothing of the project is open. Throws 401.
   */
  peek(c: Context): Promise<Known | undefined>;
  /** Throws 503 once the server drains: asked last before a turn starts, with nothing awaited in between. */
  mayStart(): void;
  /** Throws 401 before anything else of the request is looked at. */
  requireCredential(c: Context): void;
  projectIdSchema: z.ZodString;
}

export const projectIdSchema = z.string().min(1);

/** The session id in the path. Throws 422 for what cannot be one. */
export function sessionIdOf(c: Context): string {
  const id = c.req.param("session_id") ?? "";
  if (!SESSION_ID.test(id)) {
    throw fieldError(
      ["path", "session_id"],
      SESSION_ID_RULE,
      "string_pattern_mismatch",
    );
  }
  return id;
}
