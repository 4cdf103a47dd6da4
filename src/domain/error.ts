// The one error type of the program: a code that decides the HTTP status, and a sentence for a person.

/** What kind of refusal or fault an `AppError` is; `http/errors.ts` maps each code to a status. */
export type ErrorCode =
  | "bad_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "project_not_found"
  | "method_not_allowed"
  | "conflict"
  | "too_large"
  | "validation_error"
  | "rate_limited"
  | "unavailable"
  | "internal";

/** One field that failed validation, in the shape GNS3 reports it. `loc` starts with `body`, `query` or `path`. */
export interface FieldError {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** An expected failure. `message` is shown to the user as it is: no stack, no secret, no file path in it. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly details?: Record<string, unknown>;
  /** Seconds after which trying again makes sense; becomes `Retry-After`. */
  readonly retryAfter?: number;
  readonly code: ErrorCode;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: Record<string, unknown>; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.retryAfter = options.retryAfter;
  }
}

/** Refuses one field of a request: the message names it, `details.errors` tells clients the same in GNS3's shape. */
export function fieldError(loc: (string | number)[], msg: string, type = "value_error"): AppError {
  const field = loc.slice(1).join(".") || String(loc[0]);
  return new AppError("validation_error", `${field}: ${msg}`, { details: { errors: [{ loc, msg, type }] } });
}

/** The text of anything that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The messages of an error and its causes, without addresses: the runtime says why only in one of them. */
export function errorTexts(error: unknown): string {
  const texts: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) texts.push(cause.message);
  return texts.join(": ").replaceAll(/https?:\/\/\S+/g, "");
}

/** Whether the text of a failed connection says that the other side's certificate was refused. */
export function isCertificateFault(text: string): boolean {
  return /certificate|issuer/i.test(text);
}
