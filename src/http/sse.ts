// A turn's log as a `text/event-stream` response: pulled at the reader's pace, kept alive in every silence.
import { EventLog } from "../agent/event_log.ts";
import type { ErrorCode } from "../domain/error.ts";
import type { Logged } from "../domain/event.ts";
import { cutAt, type Dialect, type WireMessage } from "./dialects/dialect.ts";

/** A turn as a stream needs it. */
export interface Streamed {
  log: EventLog;
  turnId: string;
}

export interface SseOptions {
  /** While it has not started yet, a promise; a refusal that it rejects with is told and ends the stream. */
  turn: Streamed | Promise<Streamed>;
  dialect: Dialect;
  /** The position after which the client wants to go on; 0 is the start. */
  after?: number;
  /** Milliseconds of silence before a keep-alive; 0 turns keep-alives off, but for the first one. */
  heartbeatMs: number;
  /** The request's signal: it aborts when the client has gone. */
  signal: AbortSignal;
  headers?: Record<string, string>;
  /** Called once when the client leaves before the end. */
  onGone?: () => void;
  /** Whether the client may still listen: asked for as long as the stream is open. */
  recheck?: Recheck;
}

/** Why a client may not listen any longer. */
export interface Refusal {
  code: ErrorCode;
  message: string;
}

export interface Recheck {
  everyMs: number;
  /** Never rejects. */
  refused(): Promise<Refusal | undefined>;
}

/** A batch is bounded so that a reader that fell far behind gets several messages of a bearable size. */
const BATCH = 2000;
const BATCH_TEXT = 256 * 1024;
const encoder = new TextEncoder();

/**
 * Streams a turn's log from `after` to its end. The first bytes leave at once, so that the client knows that it was heard;
 * nothing is read from the log before the connection can take it.
 */
export function sseResponse(options: SseOptions): Response {
  const { dialect, signal } = options;
  let { log, turnId }: Streamed = options.turn instanceof Promise
    ? { log: new EventLog(), turnId: "" }
    : options.turn;
  const after = options.after ?? 0;
  let at = 0;
  let gone = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastWrite = performance.now();
  let wake: (() => void) | undefined;
  let beat = false;
  let refused: Refusal | undefined;
  let stopChecking = () => {};

  const stop = () => {
    clearTimeout(timer);
    stopChecking();
    signal.removeEventListener("abort", leave);
    wake?.();
  };
  const leave = () => {
    if (gone) return;
    gone = true;
    stop();
    options.onGone?.();
  };
  // One timer for each connection, set again only when it fires: a token costs no timer.
  const arm = (delay: number) => {
    timer = setTimeout(() => {
      const silence = performance.now() - lastWrite;
      if (silence >= options.heartbeatMs - 5) {
        beat = true;
        wake?.();
        arm(options.heartbeatMs);
      } else {
        arm(options.heartbeatMs - silence);
      }
    }, delay);
  };
  const something = () =>
    new Promise<void>((resolve) => {
      const forget = log.onAppend(() => wake?.());
      wake = () => {
        wake = undefined;
        forget();
        resolve();
      };
    });

  const started = (turn: Streamed) => {
    ({ log, turnId } = turn);
    wake?.();
  };
  const refuse = (why: Refusal) => {
    refused = why;
    wake?.();
  };

  if (options.turn instanceof Promise) options.turn.then(started, refuse);

  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (signal.aborted) return leave();
      signal.addEventListener("abort", leave);
      if (options.heartbeatMs > 0) arm(options.heartbeatMs);
      if (options.recheck) {
        stopChecking = keepChecking(options.recheck, refuse);
      }
      controller.enqueue(encoder.encode(render(turnId, [{ data: dialect.keepAlive }])));
    },
    async pull(controller) {
      for (;;) {
        if (gone) {
          controller.close();
          return;
        }
        if (refused) {
          stop();
          controller.enqueue(encoder.encode(render(turnId, [{ data: dialect.refusal(refused) }])));
          controller.close();
          return;
        }
        const batch = bounded(log.slice(at, BATCH));
        at += batch.length;
        const messages = batch.length ? freshMessages(dialect, batch, after) : [];
        if (messages.length === 0 && beat) messages.push({ data: dialect.keepAlive });
        const ended = log.ended && at === log.length;
        if (messages.length) {
          beat = false;
          lastWrite = performance.now();
          controller.enqueue(encoder.encode(render(turnId, messages)));
        }
        if (ended) {
          stop();
          controller.close();
          return;
        }
        if (messages.length) return;
        if (batch.length === 0) await something();
      }
    },
    cancel: leave,
  }, { highWaterMark: 1 });

  return new Response(body, {
    headers: {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-cache, no-transform",
      "X-Accel-Buffering": "no",
      ...options.headers,
    },
  });
}

/** Returns how to stop asking. `tell` is called at most once. */
function keepChecking({ everyMs, refused }: Recheck, tell: (why: Refusal) => void): () => void {
  let over = false;
  const ask = async () => {
    const why = await refused();
    if (over) return;
    if (why) tell(why);
    else timer = setTimeout(ask, everyMs);
  };
  let timer = setTimeout(ask, everyMs);
  return () => {
    over = true;
    clearTimeout(timer);
  };
}

function bounded(batch: readonly Logged[]): readonly Logged[] {
  const limit = (batch[0]?.seq ?? 0) + BATCH_TEXT;
  if ((batch.at(-1)?.seq ?? 0) <= limit) return batch;
  return batch.slice(0, Math.max(1, batch.findIndex((entry) => entry.seq > limit)));
}

/** The dialect needs to see all of the log, the client only what comes after the position it gave. */
function freshMessages(dialect: Dialect, batch: readonly Logged[], after: number): WireMessage[] {
  if (after === 0) return dialect.translate(batch);
  const [seen, fresh] = cutAt(batch, after);
  if (seen.length) dialect.translate(seen);
  return fresh.length ? dialect.translate(fresh) : [];
}

function render(turnId: string, messages: WireMessage[]): string {
  let text = "";
  for (const { data, seq } of messages) {
    if (seq !== undefined) text += `id: ${turnId}:${seq}\n`;
    text += `data: ${oneLine(JSON.stringify(data))}\n\n`;
  }
  return text;
}

/** Some clients' line readers (Python's among them) also end a line at these characters, which JSON leaves as they are. */
function oneLine(json: string): string {
  return json.replace(/[\u0085\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
