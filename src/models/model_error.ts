// What can go wrong with a model call, as a closed list of kinds; `failures.ts` has the sentence for each.

export type FailureKind =
  | "key" // the key is missing or refused
  | "forbidden"
  | "quota" // nothing left to spend: waiting does not help
  | "rate_limit"
  | "context" // the request is longer than the model's window
  | "model_not_found"
  | "no_tools"
  | "refused" // any other 4xx
  | "not_an_api" // a web page, a bare 404, a redirect elsewhere
  | "unreachable"
  | "overloaded" // 5xx
  | "cut" // the connection broke in the middle of the answer
  | "malformed" // the stream is not what the protocol says
  | "timeout"
  | "filtered" // the provider's content filter
  | "no_room" // the output limit was used up before the answer began
  | "endless" // more than any model has to say
  | "empty"; // an answer without text and without calls

/** A failed model call. `detail` is the provider's own text, not yet masked: only `modelFailure` may show it. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: FailureKind;
  readonly status?: number;
  readonly detail: string;
  /** Milliseconds after which the provider wants to be asked again. */
  readonly retryAfter?: number;

  constructor(
    kind: FailureKind,
    detail = "",
    options: { status?: number; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(`model call failed: ${kind}`, { cause: options.cause });
    this.kind = kind;
    this.detail = detail;
    this.status = options.status;
    this.retryAfter = options.retryAfter;
  }
}

const QUOTA =
  /insufficient[_ ]?(quota|balance|funds|credit)|exceeded your current quota|quota (has been )?exhausted|out of credits|credit balance|billing|payment required/i;
const LOW_CREDIT = /credit balance is too low/i;
const CONTEXT =
  /context[_ ]length|context window|maximum context|max(imum)? (prompt|input|model) (length|tokens)|too many (input )?tokens|prompt is too long|input (is )?too long|exceeds? the (model'?s )?(available )?context|exceed_context_size|longer than the model'?s context/i;
const NO_MODEL =
  /model[_ ]not[_ ](found|exist)|no such model|unknown model|invalid model|not a valid model|model .{0,120}(not found|does ?n[o']t exist|is not available)|(not found|does not exist).{0,40}\bmodel\b|not_found_error model: /i;
const NO_TOOLS =
  /(does ?n[o']t|not|no endpoints found that) support(ed)? .{0,40}(tool|function)|(tools?|function.?call\w*|tool.?choice|"auto" tool).{0,80}(not|isn'?t|un)\s?(enabled|supported|available)|tool choice requires|--enable-auto-tool-choice/i;
const RATE = /rate.?limit|too many requests|overloaded|capacity/i;

/** The kind of a refusal from its HTTP status (0: an error inside a stream) and the provider's text and code. */
export function kindOf(status: number, text: string): FailureKind {
  if (status === 402 || (status === 400 && LOW_CREDIT.test(text))) return "quota";
  if ((status === 429 || status === 403 || status === 0) && QUOTA.test(text)) {
    return "quota";
  }
  if (status === 401) return "key";
  if (status === 429) return "rate_limit";
  if (status === 413 || CONTEXT.test(text)) return "context";
  if (NO_TOOLS.test(text)) return "no_tools";
  if (status !== 403 && NO_MODEL.test(text)) return "model_not_found";
  if (/(incorrect|invalid|missing).{0,10}api.?key|api.?key not valid/i.test(text)) return "key";
  if (status === 403) return "forbidden";
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) return "not_an_api";
  if (status === 408 || status === 504) return "timeout";
  if (status >= 500) return "overloaded";
  if (status === 0) return RATE.test(text) ? "rate_limit" : "refused";
  return "refused";
}

/** Milliseconds from a `Retry-After` header (seconds or an HTTP date). */
export function retryAfterOf(headers: Headers | undefined, now = Date.now()): number | undefined {
  const precise = headers?.get("retry-after-ms");
  if (precise && Number.isFinite(Number(precise))) return Math.max(0, Number(precise));
  const value = headers?.get("retry-after")?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
