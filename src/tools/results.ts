// The common shape of tools that act on several things: one outcome each, in the order given, and a summary.
import { AppError, type ErrorCode } from "../domain/error.ts";

/** What became of one thing; other fields say which thing, and what is worth knowing of it. */
export interface Outcome {
  status: "success" | "error" | "partial";
  error?: string;
  code?: ErrorCode;
  [field: string]: unknown;
}

export interface Report {
  results: Outcome[];
  summary: string;
}

/**
 * Does `work` for each item, at most `parallel` at once. A failure becomes that item's outcome and leaves the others
 * alone; once GNS3 no longer accepts the sign-in, the rest is not tried. Throws only the signal's reason.
 */
export async function forEach<T>(
  items: T[],
  options: { parallel: number; signal: AbortSignal; label: (item: T) => Record<string, unknown> },
  work: (item: T) => Promise<Record<string, unknown>>,
): Promise<Report> {
  const results: Outcome[] = [];
  let signedOut: AppError | undefined;
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) {
      options.signal.throwIfAborted();
      const item = items[at]!;
      try {
        if (signedOut) throw signedOut;
        results[at] = { ...options.label(item), status: "success", ...await work(item) };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        if (error.code === "unauthorized") signedOut = error;
        results[at] = { ...options.label(item), status: "error", error: error.message, code: error.code };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.parallel, items.length) }, worker));
  return report(results);
}

/** `3 of 4 succeeded, 1 failed.` */
export function report(results: Outcome[]): Report {
  const count = (status: Outcome["status"]) => results.filter((one) => one.status === status).length;
  const [failed, partial] = [count("error"), count("partial")];
  const said = [`${count("success")} of ${results.length} succeeded`];
  if (partial) said.push(`${partial} partly`);
  if (failed) said.push(`${failed} failed`);
  return { results, summary: `${said.join(", ")}.` };
}
