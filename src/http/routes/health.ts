// Probes: is the process alive, and can it serve.
import { z } from "zod";
import type { Route } from "./route.ts";

export interface HealthDeps {
  version: string;
  startedAt: number;
  draining(): boolean;
  activeTurns(): number;
  /** Why the GNS3 server cannot be asked, undefined when it answers; cached for a moment by whoever gives it. */
  gns3Fault(): Promise<string | undefined>;
}

const health = z.object({ status: z.literal("healthy"), version: z.string(), uptime_seconds: z.number() });
const readiness = z.object({
  status: z.enum(["ready", "not_ready"]),
  reason: z.string().optional(),
  active_turns: z.int(),
});

/** `/health` is 200 while the process lives; `/ready` is 503 while GNS3 is away or the server drains. */
export function healthRoutes(deps: HealthDeps): Route[] {
  return [
    {
      method: "get",
      path: "/health",
      id: "health",
      tag: "process",
      summary: "Whether the process is alive",
      open: true,
      answers: { 200: { description: "It is", schema: health } },
      handle: (c) =>
        c.json({
          status: "healthy",
          version: deps.version,
          uptime_seconds: Math.round((performance.now() - deps.startedAt) / 100) / 10,
        }),
    },
    {
      method: "get",
      path: "/ready",
      id: "ready",
      tag: "process",
      summary: "Whether it can serve: GNS3 answers, and it is not shutting down",
      open: true,
      answers: {
        200: { description: "It can", schema: readiness },
        503: { description: "It cannot; `reason` says why", schema: readiness },
      },
      handle: async (c) => {
        const active_turns = deps.activeTurns();
        const reason = deps.draining() ? "The server is shutting down." : await deps.gns3Fault();
        if (!reason) return c.json({ status: "ready", active_turns });
        return c.json({ status: "not_ready", reason, active_turns }, 503, { "Retry-After": "5" });
      },
    },
  ];
}
