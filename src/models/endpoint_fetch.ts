// The `fetch` that the OpenAI client is given, and the requests to Anthropic: redirects are followed only within the
// endpoint's server, and every refusal, whatever its body looks like, becomes a `ModelError` before a client can lose the
// provider's words.
import type { Endpoint } from "../domain/endpoint.ts";
import { errorTexts } from "../domain/error.ts";
import { isDeeper } from "../domain/json.ts";
import { kindOf, ModelError, retryAfterOf } from "./model_error.ts";

const MAX_REDIRECTS = 3;
const MAX_ERROR_BODY = 64 * 1024;

/** Posts `body` as JSON to an endpoint; `headers` are beside the body's own. Throws what `endpointFetch` throws. */
export async function postJson(
  { url, query }: Endpoint,
  headers: Record<string, string>,
  body: unknown,
  signal: AbortSignal,
): Promise<Response> {
  const target = new URL(url);
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
  return await endpointFetch(target, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal,
  });
}

/** Like `fetch`. Throws `ModelError` when the endpoint cannot be reached or answers with anything but 2xx. */
export async function endpointFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  let url = new URL(input instanceof Request ? input.url : input);
  for (let hops = 0;; hops++) {
    const response = await fetch(url, { ...init, redirect: "manual" }).catch((error) => {
      if (init?.signal?.aborted) throw error;
      throw new ModelError("unreachable", errorTexts(error), { cause: error });
    });
    if (response.ok) return response;
    const target = redirectTarget(response, url);
    if (!target || hops === MAX_REDIRECTS) throw await refusal(response, url);
    await response.body?.cancel();
    url = target;
  }
}

/** Where a redirect leads, when the request may follow it: to the same server, or from http to https there. */
function redirectTarget(response: Response, from: URL): URL | undefined {
  const location = response.status >= 300 && response.status < 400 && response.headers.get("location");
  const target = location ? URL.parse(location, from) : null;
  const upgraded = from.protocol === "http:" && target?.protocol === "https:" && !from.port && !target.port;
  const same = target?.origin === from.origin || (upgraded && target.hostname === from.hostname);
  return target && same ? target : undefined;
}

async function refusal(response: Response, url: URL): Promise<ModelError> {
  const { status, headers } = response;
  const location = headers.get("location");
  const text = location ? "" : await readStart(response);
  const { message, code } = location
    ? { message: `It redirects to ${URL.parse(location, url)?.host ?? "another address"}.`, code: "" }
    : explain(text);
  let kind = kindOf(status, `${code} ${message}`);
  // A bare 404 says that the path is wrong; only a JSON one can say that the model is.
  if (message === "" && kind === "model_not_found") kind = "not_an_api";
  return new ModelError(kind, message, { status, retryAfter: retryAfterOf(headers) });
}

async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > MAX_ERROR_BODY) break;
  }
  return text;
}

/** The message and code in an error body: OpenAI's shape, or what other servers send; "" for a web page. */
export function explain(body: string): { message: string; code: string } {
  const text = body.trim();
  if (text.startsWith("<")) return { message: "", code: "" };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { message: text.slice(0, MOST_WORDS), code: "" };
  }
  return explainJson(json);
}

/** Characters of a provider's words that are looked at, and levels of its objects. */
const MOST_WORDS = 2000;
const MOST_LEVELS = 8;

/** As `explain`, for JSON that is parsed already: the value of `error`, or an object that holds it. */
export function explainJson(json: unknown, levels = MOST_LEVELS): { message: string; code: string } {
  if (typeof json === "string") return { message: json.slice(0, MOST_WORDS), code: "" };
  const object = (Array.isArray(json) ? json[0] : json) as Record<string, unknown> | null | undefined;
  if (typeof object !== "object" || object === null) return { message: "", code: "" };
  if (object.error && levels > 0) return explainJson(object.error, levels - 1);
  const message = object.message ?? object.detail ?? object.msg ?? object.error_msg ?? "";
  const code = [object.code, object.error_code, object.type, object.status].filter((part) =>
    typeof part === "string" || typeof part === "number"
  );
  // OpenRouter puts the upstream provider's own words here.
  const raw = (object.metadata as { raw?: unknown } | undefined)?.raw;
  return {
    message: `${typeof message === "string" ? message : jsonOf(message)}${
      typeof raw === "string" ? ` ${raw}` : ""
    }`.slice(0, MOST_WORDS),
    code: code.join(" ").slice(0, MOST_WORDS),
  };
}

/** A value as JSON; nothing when it is nested so deeply that it cannot be written. */
function jsonOf(value: unknown): string {
  return isDeeper(value) ? "" : JSON.stringify(value);
}
