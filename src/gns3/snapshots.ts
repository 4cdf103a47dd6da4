// GNS3's routes for snapshots of a project.
import { z } from "zod";
import type { Snapshot } from "../domain/project.ts";
import { type Call, listOf, nothing, SLOW_MS } from "./call.ts";

/** Disks of many nodes are copied: minutes for a large project. */
const RESTORE_MS = 5 * SLOW_MS;

const shape = z.object({ snapshot_id: z.string(), name: z.string(), created_at: z.number() });

function toSnapshot(value: unknown): Snapshot {
  const { created_at, ...snapshot } = shape.parse(value);
  return { ...snapshot, created_at: new Date(created_at * 1000).toISOString() };
}

export function snapshotCalls(call: Call) {
  const at = (projectId: string) => `/v3/projects/${encodeURIComponent(projectId)}/snapshots`;
  return {
    /** Oldest first. */
    async list(projectId: string, signal?: AbortSignal): Promise<Snapshot[]> {
      const all = await call("GET", at(projectId), listOf(toSnapshot), { signal });
      return all.sort((a, b) => a.created_at.localeCompare(b.created_at));
    },
    /** Throws `conflict` while a node runs and for a name that is taken. */
    create(projectId: string, name: string, signal?: AbortSignal): Promise<Snapshot> {
      return call("POST", at(projectId), toSnapshot, { body: { name }, signal, timeoutMs: RESTORE_MS });
    },
    /** All nodes are stopped and everything is as the snapshot has it. GNS3 finishes it even if nobody waits. */
    restore(projectId: string, snapshotId: string): Promise<void> {
      const path = `${at(projectId)}/${encodeURIComponent(snapshotId)}/restore`;
      return call("POST", path, nothing, { body: {}, timeoutMs: RESTORE_MS });
    },
  };
}
