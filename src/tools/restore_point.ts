// The snapshot that is made before a turn's first change, when the setting `--snapshot-before-changes` is on.
import { AppError } from "../domain/error.ts";
import { makeSnapshot } from "./snapshots.ts";
import type { RestorePoint, ToolContext } from "./tool.ts";

/**
 * Makes restore points for one turn: at most one snapshot, named after the session and the time. It never stands in the
 * way of the change: GNS3 refuses a snapshot while any node runs, and stopping a lab to save it would lose more than it
 * saves. A failure is told once; the next change tries again, since nodes may have been stopped meanwhile.
 */
export function restorePoints(sessionId: string, now: () => Date): NonNullable<ToolContext["restorePoint"]> {
  let attempt: Promise<RestorePoint> | undefined;
  let told: string | undefined;
  const make = async (context: Parameters<typeof makeSnapshot>[1]): Promise<RestorePoint> => {
    try {
      const { name } = await makeSnapshot(nameOf(sessionId, now()), context);
      return { name, note: "A snapshot of the lab before this change; restore_gns3_snapshot returns to it." };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { error: `No snapshot could be made before this change. ${error.message}` };
    }
  };
  return async (context) => {
    attempt ??= make(context);
    const mine = attempt;
    let point: RestorePoint;
    try {
      point = await mine;
    } catch (error) {
      if (attempt === mine) attempt = undefined;
      throw error;
    }
    if ("error" in point && attempt === mine) attempt = undefined;
    const text = "error" in point ? point.error : point.name;
    if (text === told) return undefined;
    told = text;
    return point;
  };
}

/** The title of a session is its owner's alone, the names of snapshots are everybody's: so it is named by its id. */
function nameOf(sessionId: string, now: Date): string {
  const time = now.toISOString().slice(0, 19).replace("T", " ").replaceAll(":", ".");
  const id = sessionId.replace(/[^A-Za-z0-9]/g, "").slice(0, 8);
  return `chat${id ? ` ${id}` : ""} ${time}`;
}
