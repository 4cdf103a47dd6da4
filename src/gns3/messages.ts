// GNS3's own error texts, made fit for a user and a model: its sentence stays, server paths and tokens go.
import { AppError, type ErrorCode, errorTexts, isCertificateFault } from "../domain/error.ts";

const CODES: Record<number, ErrorCode> = {
  400: "bad_request",
  403: "forbidden",
  404: "not_found",
  405: "method_not_allowed",
  409: "conflict",
  413: "too_large",
  422: "validation_error",
  429: "rate_limited",
};

/** What a refused or failed request means. `origin` is the server's address without path, user or token. */
export function refusal(status: number, body: string, origin: string, credential: string): AppError {
  if (status === 401) return signInAgain();
  const answer = parsed(body);
  if (status >= 500) {
    const said = readable(answer.message ?? "", credential);
    return unavailable(`The GNS3 server at ${origin} failed (${status})${said ? `: ${said}` : "."}`);
  }
  const message = status === 422 ? fieldsOf(answer) : answer.message;
  const text = readable(message ?? "", credential) || `GNS3 refused the request (status ${status}).`;
  const code = answer.code === "project_not_found" ? "project_not_found" : CODES[status] ?? "bad_request";
  return new AppError(code, text, answer.linkId ? { details: { link_id: answer.linkId } } : {});
}

/** The caller's token is missing, wrong, expired or revoked. */
export function signInAgain(): AppError {
  return new AppError("unauthorized", "GNS3 no longer accepts this sign-in: sign in again.");
}

/** No answer came from the GNS3 server at `origin`; `error` tells a refused certificate from the rest. */
export function unreachable(origin: string, error: unknown): AppError {
  return unavailable(
    isCertificateFault(errorTexts(error))
      ? `The TLS certificate of the GNS3 server at ${origin} is not trusted. Start this server with DENO_CERT naming a file of the certificate authority, or with DENO_TLS_CA_STORE=system.`
      : `The GNS3 server at ${origin} does not answer. Check that it runs and can be reached.`,
  );
}

/** The GNS3 server cannot be used now; trying again in some seconds makes sense. */
export function unavailable(message: string): AppError {
  return new AppError("unavailable", message, { retryAfter: 5 });
}

/** One readable line: compute prefixes, traces and folders are cut, the credential never passes. */
export function readable(text: string, credential: string): string {
  let line = oneOfUbridge(text).split(/\n\s*(?:Traceback|File ")/)[0]!.replace(/\s+/g, " ").trim();
  if (credential) line = line.replaceAll(credential, "(token)");
  return line
    .replace(/[?&]token=[^\s"'&]+/gi, "")
    .replace(/^HTTP error \d+ received from compute '[^']*' for request [A-Z]+ \S+: /, "")
    .replace(/(?<![\w.:/])(?:\/[\w.@+-]+){2,}/g, lastPart)
    .replace(/\b[A-Za-z]:\\[^\s"']+/g, lastPart)
    .slice(0, 1_000);
}

/** A refusal of uBridge comes with the command that it got, and with all that it has ever printed behind the reason. */
function oneOfUbridge(text: string): string {
  const [, reason] = /Error while sending command '.*?': ([^\n]*)/.exec(text) ?? [];
  return reason ?? text;
}

const lastPart = (path: string) => path.split(/[/\\]/).at(-1) ?? "";

interface Answer {
  message?: string;
  code?: string;
  errors?: { loc: unknown[]; msg: string }[];
  linkId?: string;
}

function parsed(body: string): Answer {
  try {
    const value = JSON.parse(body);
    const message = typeof value?.message === "string"
      ? value.message
      : typeof value?.detail === "string"
      ? value.detail
      : undefined;
    const link = value?.details?.link_id;
    return {
      message,
      code: typeof value?.code === "string" ? value.code : undefined,
      errors: Array.isArray(value?.details?.errors) ? value.details.errors : undefined,
      linkId: typeof link === "string" ? link : undefined,
    };
  } catch {
    return {};
  }
}

/** GNS3 3.1 lists the fields; 3.0 only prints them as Python text, together with paths of its own files. */
function fieldsOf(answer: Answer): string {
  const fields = answer.errors?.map((e) => `${e.loc.slice(1).join(".")}: ${e.msg}`) ??
    [...(answer.message ?? "").matchAll(/'loc': \(([^)]*)\), 'msg': (?:'([^']*)'|"([^"]*)")/g)].map((m) =>
      `${
        m[1]!.split(",").slice(1).map((part) => part.trim().replace(/^'|'$/g, "")).filter(Boolean).join(".")
      }: ${m[2] ?? m[3]}`
    );
  return fields.length
    ? `GNS3 refused a value: ${fields.join("; ")}`
    : "GNS3 refused a value of the request.";
}
