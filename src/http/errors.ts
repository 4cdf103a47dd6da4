// The one error type as HTTP: a code decides the status, GNS3's JSON shape carries the sentence.
import { AppError, type ErrorCode, errorText, type FieldError } from "../domain/error.ts";
import type { Logger } from "../log.ts";
import type { z } from "zod";

const STATUS: Record<ErrorCode, number> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  project_not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  validation_error: 422,
  rate_limited: 429,
  unavailable: 503,
  internal: 500,
};

const DEFAULT_RETRY_AFTER = 5;

/** The HTTP status of an error code. */
export function statusOf(code: ErrorCode): number {
  return STATUS[code];
}

/** Anything thrown as an `AppError`: what was not expected is logged, and the client is told only that it happened. */
export function asAppError(error: unknown, log: Logger): AppError {
  if (error instanceof AppError) {
    if (error.code === "internal") log.error(error.message, { cause: error.cause && errorText(error.cause) });
    return error;
  }
  log.error("A request failed unexpectedly.", {
    error: errorText(error),
    stack: error instanceof Error ? error.stack : undefined,
  });
  return new AppError("internal", "The server met an unexpected fault. Its log says more.");
}

/** GNS3 3.1's error body: `{message, code, details?}`. */
export function gns3Error(error: AppError, headers: Record<string, string> = {}): Response {
  const all = new Headers({ "Content-Type": "application/json; charset=utf-8", ...headers });
  if (error.code === "unauthorized") all.set("WWW-Authenticate", "Bearer");
  const retryAfter = error.retryAfter ??
    (error.code === "unavailable" || error.code === "rate_limited" ? DEFAULT_RETRY_AFTER : undefined);
  if (retryAfter !== undefined) all.set("Retry-After", String(Math.max(1, Math.ceil(retryAfter))));
  const body = {
    message: error.message,
    code: error.code,
    ...(error.details ? { details: error.details } : {}),
  };
  return new Response(JSON.stringify(body), { status: statusOf(error.code), headers: all });
}

/** A zod error as a refusal that names every field; `where` is `body`, `query` or `path`. */
export function validationError(error: z.ZodError, where: "body" | "query" | "path"): AppError {
  const errors: FieldError[] = error.issues.map((issue) => ({
    loc: [where, ...issue.path.map((part) => typeof part === "symbol" ? String(part) : part)],
    msg: issue.message,
    type: issue.code ?? "value_error",
  }));
  const message = errors.map((e) => `${e.loc.length > 1 ? e.loc.slice(1).join(".") : where}: ${e.msg}`).join(
    "; ",
  );
  return new AppError("validation_error", message, { details: { errors } });
}
