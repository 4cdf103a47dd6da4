// A turn is its user's only as long as GNS3 lets them use the project: asked again and again while the turn runs.
import { AppError } from "../domain/error.ts";
import type { Caller } from "../domain/scope.ts";
import type { Turn } from "./turn.ts";

export interface AccessCheck {
  /** Throws what GNS3 refuses the caller with. */
  check(caller: Caller, signal: AbortSignal): Promise<unknown>;
  /** Milliseconds between two checks. */
  everyMs: number;
}

/**
 * Ends `turn` with an error once GNS3 refuses its user the project. A sign-in that has run out, or a GNS3 that does not
 * answer, is no refusal: then the turn's own next call to GNS3 fails and says so. Ends with the turn.
 */
export function watchAccess(turn: Turn, caller: Caller, { check, everyMs }: AccessCheck): void {
  const ask = async () => {
    try {
      await check(caller, turn.signal);
    } catch (error) {
      if (error instanceof AppError && isRefusal(error)) {
        turn.abort("access_lost", { code: error.code, message: error.message });
      }
    }
    next();
  };
  let timer: ReturnType<typeof setTimeout>;
  const next = () => {
    if (!turn.ended && !turn.signal.aborted) timer = setTimeout(ask, everyMs);
  };
  next();
  void turn.finished.then(() => clearTimeout(timer));
}

/** A closed project is no refusal either: the project's agent is told of that by GNS3 itself. */
function isRefusal(error: AppError): boolean {
  return error.code === "project_not_found" ||
    (error.code === "forbidden" && error.details?.project_status === undefined);
}
