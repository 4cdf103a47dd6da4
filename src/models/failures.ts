// A failed model call as a sentence that says what to do, in the words of this program plus a masked quotation of the
// provider's.
import { AppError, type ErrorCode, isCertificateFault } from "../domain/error.ts";
import type { ModelConfig } from "../domain/model_config.ts";
import { createRedactor } from "../redact.ts";
import { type Endpoint, endpointOf } from "../domain/endpoint.ts";
import { type FailureKind, ModelError } from "./model_error.ts";

/** A failure as the user is told it; fits `TurnError`. */
export interface ModelFailure {
  code: "model_error" | ErrorCode;
  message: string;
}

const QUOTED = 300;

interface Facts {
  host: string;
  url: string;
  model: string;
  error: ModelError;
  config: Pick<ModelConfig, "context_limit" | "max_tokens">;
}

const SENTENCES: Record<FailureKind, (facts: Facts) => string> = {
  key: ({ host }) =>
    `Authentication failed for ${host}: it refused the API key. Check the key in the model configuration.`,
  forbidden: ({ host, model }) =>
    `${host} does not allow this request: the API key may have no right to use the model "${model}".`,
  quota: ({ host }) =>
    `The account at ${host} has no quota or credit left. Top it up there, or choose another model configuration.`,
  rate_limit: ({ host, error }) =>
    `${host} limits how often it may be asked. ${
      error.retryAfter === undefined
        ? "Wait a moment and try again."
        : `Try again in ${Math.max(1, Math.ceil(error.retryAfter / 1000))} seconds.`
    }`,
  context: ({ model, config }) =>
    `The conversation is longer than the model "${model}" accepts. Set context_limit (now ${config.context_limit}K) ` +
    `to the model's real context window, or start a new session.`,
  model_not_found: ({ host, model }) =>
    `${host} has no model "${model}". Check the model's name in the model configuration.`,
  no_tools: ({ model }) =>
    `The model "${model}" cannot call tools, and this assistant needs them. Choose a model that supports tools.`,
  refused: ({ host, error }) => `${host} refused the request${error.status ? ` (${error.status})` : ""}.`,
  not_an_api: ({ url, error }) =>
    `${url} did not answer like a model endpoint${error.status ? ` (${error.status})` : ""}. ` +
    checkUrl(url),
  unreachable: ({ url, error }) =>
    `Could not connect to ${url}: ${reason(error.detail)}. ` +
    `Check the base_url of the model configuration and that the server there is running.`,
  overloaded: ({ host, error }) =>
    `${host} has a fault or is overloaded${error.status ? ` (${error.status})` : ""}. Try again later.`,
  cut: ({ host }) => `The connection to ${host} broke before the answer was complete. Try again.`,
  malformed: ({ host }) =>
    `${host} sent an answer that is not valid JSON. Try again, or choose another model.`,
  timeout: ({ host, error }) =>
    `${host} sent nothing${/^\d+$/.test(error.detail) ? ` for ${error.detail} seconds` : " in time"}. ` +
    `Check that the model is running, and try again.`,
  filtered: ({ host }) =>
    `The content filter of ${host} blocked the answer. Put the question in other words.`,
  no_room: ({ model, config }) =>
    `The model "${model}" used up its output limit before it answered. Raise max_tokens` +
    `${config.max_tokens ? ` (now ${config.max_tokens})` : ""} in the model configuration.`,
  endless: ({ model, error }) =>
    `The model "${model}" did not stop: its answer was cut off after ${error.detail}. ` +
    `Try again, set max_tokens in the model configuration, or choose another model.`,
  empty: ({ model, url, error }) =>
    error.detail === "nothing"
      ? `${url} answered with nothing. ${checkUrl(url)}`
      : `The model "${model}" gave an empty answer, twice. Try again, or choose another model.`,
};

function checkUrl(url: string): string {
  const missing = url.endsWith("/chat/completions") ? ": does it need /v1?" : ".";
  return `Check the base_url of the model configuration${missing}`;
}

/** Kinds whose `detail` is the provider's own text and worth quoting. */
const QUOTABLE = new Set<FailureKind>([
  "key",
  "forbidden",
  "quota",
  "rate_limit",
  "context",
  "model_not_found",
  "no_tools",
  "refused",
  "not_an_api",
  "overloaded",
]);

/**
 * What to tell the user about a failed model call. Takes anything that was thrown; an `AppError` keeps its code and
 * message, and what is neither that nor a `ModelError` is a fault of this program (`internal`). Never shows a key.
 */
export function modelFailure(error: unknown, config: ModelConfig): ModelFailure {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  const failure = causeOf(error);
  if (!failure) {
    return { code: "internal", message: "The model call failed because of a fault in this server." };
  }
  const { host, url } = safeEndpoint(config);
  let message = SENTENCES[failure.kind]({ host, url, model: config.model, error: failure, config });
  const quote = QUOTABLE.has(failure.kind) ? quotation(failure.detail, config.api_key) : "";
  if (quote) message += ` It says: "${quote}"`;
  return { code: failure.kind === "rate_limit" ? "rate_limited" : "model_error", message };
}

function causeOf(error: unknown): ModelError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ModelError) return cause;
  }
}

function safeEndpoint(config: ModelConfig): Pick<Endpoint, "host" | "url"> {
  try {
    return endpointOf(config);
  } catch {
    return { host: "the model's endpoint", url: "the model's endpoint" };
  }
}

function quotation(text: string, key: string | undefined): string {
  const line = maskKeys(text, key).replaceAll(/\s+/g, " ").trim();
  return line.length > QUOTED ? `${line.slice(0, QUOTED).toWellFormed()}…` : line.toWellFormed();
}

/** Replaces keys and tokens in a provider's text by `***`: the configured key itself, and whatever looks like one. */
export function maskKeys(text: string, key?: string): string {
  const redactor = createRedactor({ stacks: false });
  if (key) redactor.add(key);
  return redactor.text(key && key.length >= 4 ? text.replaceAll(key, "***") : text)
    // Providers quote keys with their middle starred out already; what is left is still too much.
    .replaceAll(/\b(?:(?:sk|pk|rk|gsk|xai|hf|nvapi|pplx|tgp|fw)[-_]|AIza)[\w*.-]{6,}/g, "***")
    .replaceAll(/\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{32,}\b/g, "***");
}

/** Why a connection failed, without the runtime's wording. */
function reason(detail: string): string {
  if (/refused/i.test(detail)) return "the connection was refused";
  if (/blocked/i.test(detail)) return "web clients may not use this port";
  if (/dns|lookup|resolve|name or service/i.test(detail)) return "the host name is unknown";
  if (isCertificateFault(detail)) {
    return "its TLS certificate is not trusted (start the server with DENO_CERT naming a file of the certificate authority)";
  }
  if (/tls|ssl|handshake/i.test(detail)) return "it does not speak TLS (is it http:// rather than https://?)";
  if (/timed? ?out/i.test(detail)) return "it did not answer in time";
  if (/reset|closed|aborted|broken pipe|eof/i.test(detail)) return "the connection was closed";
  return "there is no connection";
}
