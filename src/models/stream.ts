// One answer of a model as a stream of pieces: sends the request, retries what is worth retrying before the first
// piece, notices silence and broken connections, and cancels on the wire when the turn is stopped.
import type { BaseMessage } from "@langchain/core/messages";
import { errorText } from "../domain/error.ts";
import { unlessAborted } from "../domain/signals.ts";
import type { Asked, ChatModel } from "./chat_model.ts";
import { answerMeter } from "./answer_limits.ts";
import type { ChunkReader, ModelDelta } from "./delta.ts";
import { explain } from "./endpoint_fetch.ts";
import { kindOf, ModelError } from "./model_error.ts";
import { learn, type Request } from "./quirks.ts";
import { sseDecoder, type SseEvent } from "./sse_decoder.ts";

export type { ModelDelta, ModelUsage, ToolCallDelta } from "./delta.ts";
export type { ToolSpec } from "./wire_messages.ts";

/** How a model is asked. Durations in milliseconds. */
export interface StreamOptions extends Asked {
  signal: AbortSignal;
  onFirstByte?(): void;
  /** Told before each repetition, for the log; `failure.detail` must not be logged as it is. */
  onRetry?(failure: ModelError, wait: number): void;
  /**
   * Longest silence of the endpoint (600,000: slow local models read a long prompt for minutes). With mere signs of life it
   * may go on for ten times as long.
   */
  silenceLimit?: number;
  /** First pause before a repetition; the second is twice as long (500). */
  backoff?: number;
}

const MAX_RETRIES = 2;
/** One buffer for the whole answer: without it Deno makes 64 kB for every token. No server sends larger pieces of text. */
const READ_SIZE = 16 * 1024;
const MAX_RETRY_AFTER = 20_000;
const RETRYABLE = new Set(["rate_limit", "overloaded", "unreachable", "cut"]);

/** Takes what came in one read, in order. What it throws ends the answer and is thrown again. */
export type TakeBatch = (batch: ModelDelta[]) => void;

/** Ends a request whose answer is no longer read. One for all: an error made for nobody costs as much as reading a token. */
const OVER = new Error("The answer is over.");

/**
 * Streams one answer into `take`; resolves when it is whole. (A function and no generator: a token passes through three
 * of these.) Throws `signal.reason` when stopped, what the model's `mayCall` throws, else `ModelError`. An empty answer is
 * asked for once more, then `ModelError` `empty` is thrown.
 */
export async function streamModel(
  model: ChatModel,
  messages: readonly BaseMessage[],
  options: StreamOptions,
  take: TakeBatch,
): Promise<void> {
  const { signal } = options;
  signal.throwIfAborted();
  // Ends the request for whatever reason: a stop, a silence, or that nobody reads on.
  const wire = new AbortController();
  const stop = () => wire.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await attempts(model, messages, options, wire, take);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", stop);
    wire.abort(OVER);
  }
}

async function attempts(
  model: ChatModel,
  messages: readonly BaseMessage[],
  options: StreamOptions,
  wire: AbortController,
  take: TakeBatch,
): Promise<void> {
  if (model.mayCall) await unlessAborted(wire.signal, model.mayCall());
  const learned = new Set<string>();
  let retries = 0;
  let wasEmpty = false;
  for (;;) {
    const request = model.requestOf(messages, options);
    let begun = false;
    try {
      const meter = answerMeter();
      await readAnswer(model, request, options, wire, (batch) => {
        begun = true;
        take(meter.take(batch));
        if (meter.over) throw meter.over;
      });
      return;
    } catch (error) {
      const failure = modelError(error, wire.signal);
      if (begun && failure.kind !== "empty" || wire.signal.aborted) throw failure;
      if (failure.kind === "empty") {
        if (wasEmpty) throw failure;
        wasEmpty = true;
      } else if (!learn(model.quirks, failure, request as unknown as Request, learned)) {
        const wait = failure.retryAfter ??
          (options.backoff ?? 500) * 2 ** retries * (0.75 + Math.random() / 2);
        if (!RETRYABLE.has(failure.kind) || retries++ === MAX_RETRIES || wait > MAX_RETRY_AFTER) {
          throw failure;
        }
        options.onRetry?.(failure, wait);
        await pause(wait, wire.signal);
      }
    }
  }
}

async function readAnswer(
  model: ChatModel,
  request: Record<string, unknown>,
  options: StreamOptions,
  wire: AbortController,
  take: TakeBatch,
): Promise<void> {
  using silence = silenceGuard(wire, options.silenceLimit ?? 600_000);
  const response = await opened(model, request, wire.signal);
  const body = response.body?.getReader({ mode: "byob" });
  using _ = cancelling(body, wire.signal);
  const sse = sseDecoder();
  const chunks = model.reader();
  let reads = 0;
  let events = 0;
  let room = new Uint8Array(READ_SIZE);
  while (body && !sse.done && !chunks.ended) {
    let read: ReadableStreamReadResult<Uint8Array<ArrayBuffer>>;
    try {
      read = await body.read(room);
    } catch (error) {
      if (wire.signal.aborted) throw error;
      // A server that resets the connection after the last piece has still answered.
      if (chunks.finishReason) break;
      throw new ModelError("cut", errorText(error), { cause: error });
    }
    wire.signal.throwIfAborted();
    if (read.done) break;
    if (reads++ === 0) options.onFirstByte?.();
    silence.heard();
    const batch: ModelDelta[] = [];
    const failure = readEvents(sse.push(read.value), chunks, batch);
    room = new Uint8Array(read.value.buffer);
    if (batch.length > 0) {
      silence.answered();
      events += batch.length;
      take(batch);
    }
    if (failure) throw failure;
    if (sse.malformed !== undefined) throw new ModelError("malformed", sse.malformed);
  }
  const last: ModelDelta[] = [];
  const failure = readEvents(sse.end(), chunks, last);
  if (failure) {
    take(last);
    throw failure;
  }
  if (sse.incomplete && !chunks.finishReason) throw new ModelError("cut", "The last line is incomplete.");
  if (!sse.done && !chunks.answered && sse.stray.trim() !== "") chunks.read(plainAnswer(sse.stray), "", last);
  if (chunks.cut) throw new ModelError("cut", "The answer did not come to its end.");
  chunks.end(last);
  model.quirks.returnReasoning ||= chunks.reasoningContent;
  if (!chunks.answered) throw emptyAnswer(chunks.finishReason, events + last.length);
  if (last.length > 0) take(last);
  if (sse.done || chunks.ended) await finish(body!);
}

/** Opens the answer; one that comes although the call was stopped meanwhile is let go. */
async function opened(
  model: ChatModel,
  request: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Response> {
  const opening = model.open(request, signal);
  try {
    return await unlessAborted(signal, opening);
  } catch (error) {
    void opening.then(({ body }) => body?.cancel()).catch(() => {});
    throw error;
  }
}

/** Ends a pending read when `signal` aborts, whatever became of the signal that the request was given. */
function cancelling(
  body: ReadableStreamBYOBReader | undefined,
  signal: AbortSignal,
): Disposable {
  const stop = () => void body?.cancel().catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", stop) };
}

/** Adds what `events` say to `batch`. A failure is returned, so that what came before it is not lost. */
function readEvents(events: SseEvent[], chunks: ChunkReader, batch: ModelDelta[]): unknown {
  try {
    for (const { data, name } of events) chunks.read(data, name, batch);
  } catch (error) {
    return error;
  }
}

/** A server that does not stream sends its whole answer as one JSON object. */
function plainAnswer(text: string): unknown {
  try {
    const json = JSON.parse(text);
    if (json?.choices || json?.type === "message") return json;
  } catch {
    // Not JSON either: explained below.
  }
  const { message, code } = explain(text);
  const kind = kindOf(0, `${code} ${message}`);
  const isError = text.trim().startsWith("{") || text.trim().startsWith("[");
  throw new ModelError(isError ? kind : "not_an_api", isError ? message : "", { status: 200 });
}

/** `pieces`: how much came beside text and calls; an endpoint that sends nothing at all is probably no endpoint. */
function emptyAnswer(finishReason: string | undefined, pieces: number): ModelError {
  if (finishReason === "length") return new ModelError("no_room");
  if (finishReason === "content_filter") return new ModelError("filtered");
  return new ModelError("empty", pieces === 0 ? "nothing" : "");
}

/** After `[DONE]` the body should end at once: reading that end keeps the connection for the next call. */
async function finish(body: ReadableStreamBYOBReader): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = body.read(new Uint8Array(1)).then(({ done }) => done, () => true);
  const late = new Promise<boolean>((resolve) => timer = setTimeout(() => resolve(false), 20));
  const ended = await Promise.race([end, late]);
  clearTimeout(timer);
  if (!ended) await body.cancel().catch(() => {});
}

/** How many times as long as a silence an endpoint may send only signs of life. */
const PATIENCE = 10;

/**
 * Aborts `wire` with a `ModelError` `timeout` when nothing is heard for `limit` milliseconds, or no piece of an answer for
 * `PATIENCE` times as long.
 */
function silenceGuard(
  wire: AbortController,
  limit: number,
): Disposable & { heard(): void; answered(): void } {
  let last = performance.now();
  let piece = last;
  let timer = setTimeout(check, limit);
  // One timer that looks at the clock is far cheaper than one made anew for every read.
  function check() {
    const now = performance.now();
    const left = last + limit - now;
    if (left <= 0) wire.abort(new ModelError("timeout", `${Math.round(limit / 1000)}`));
    else if (piece + PATIENCE * limit < now) wire.abort(new ModelError("timeout"));
    else timer = setTimeout(check, left);
  }
  return {
    heard: () => {
      last = performance.now();
    },
    answered: () => {
      piece = performance.now();
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", stop, { once: true });
    function end() {
      signal.removeEventListener("abort", stop);
      resolve();
    }
    function stop() {
      clearTimeout(timer);
      reject(signal.reason);
    }
  });
}

/** The `ModelError` in whatever was thrown: the client wraps what `fetch` throws, our own abort reason included. */
function modelError(error: unknown, signal: AbortSignal): ModelError {
  if (signal.reason instanceof ModelError) return signal.reason;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ModelError) return cause;
  }
  throw error;
}
