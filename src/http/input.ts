// Reading a request's body and query: bytes → JSON → a checked value, with a refusal that names what is wrong.
import type { Context } from "hono";
import type { z } from "zod";
import { AppError, fieldError } from "../domain/error.ts";
import { deeperThan, MOST_LEVELS } from "../domain/json.ts";
import { joinSignals, unlessAborted } from "../domain/signals.ts";
import { wellFormedFrom } from "../domain/unicode.ts";
import { validationError } from "./errors.ts";

/** Largest body of a chat route, in bytes. */
export const BODY_LIMIT = 10 * 1024 * 1024;

/** A client that has gone without a word would otherwise be waited for for ever, and its project with it. */
const BODY_MS = 120_000;

/**
 * Reads the body as JSON and checks it. Throws 413 over the limit, 400 when it is no JSON or does not end within `limitMs`
 * (120,000), 422 when it is another shape or nested too deeply.
 */
export async function readBody<S extends z.ZodType>(
  c: Context,
  schema: S,
  options: { optional?: boolean; limitMs?: number } = {},
): Promise<z.infer<S>> {
  const text = await readText(c.req.raw, options.limitMs ?? BODY_MS);
  let value: unknown;
  if (text.trim() === "" && options.optional) {
    value = {};
  } else {
    if (deeperThan(text)) {
      throw fieldError(["body"], `is nested more than ${MOST_LEVELS} levels deep`, "too_deep");
    }
    try {
      value = wellFormedFrom(text, JSON.parse(text));
    } catch {
      throw new AppError("bad_request", "The request's body is not valid JSON.");
    }
  }
  return check(schema, value, "body");
}

/** Checks the query parameters; text becomes what the schema says. */
export function readQuery<S extends z.ZodType>(c: Context, schema: S): z.infer<S> {
  return check(schema, c.req.query(), "query");
}

function check<S extends z.ZodType>(schema: S, value: unknown, where: "body" | "query"): z.infer<S> {
  const result = schema.safeParse(value);
  if (!result.success) throw validationError(result.error, where);
  return result.data;
}

async function readText(request: Request, limitMs: number): Promise<string> {
  const tooLarge = () =>
    new AppError("too_large", `The request's body is larger than ${BODY_LIMIT / 1024 / 1024} MiB.`);
  if (Number(request.headers.get("content-length") ?? 0) > BODY_LIMIT) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  using limited = joinSignals([], { ms: limitMs });
  const reader = request.body?.getReader();
  try {
    while (reader) {
      const { done, value } = await unlessAborted(limited.signal, reader.read());
      if (done) break;
      size += value.length;
      if (size > BODY_LIMIT) throw tooLarge();
      chunks.push(value);
    }
  } catch (error) {
    void reader?.cancel().catch(() => {});
    if (error instanceof AppError) throw error;
    if (limited.late) {
      throw new AppError("bad_request", "The request's body did not come to its end in time.");
    }
    throw new AppError("bad_request", "The request's body could not be read to its end.", { cause: error });
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new AppError("bad_request", "The request's body is not valid UTF-8.");
  }
}
