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
  /** Called once when the client leaves before the end, or the stream breaks. */
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
  let over = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastWrite = performance.now();
  let beat = false;
  let refused: Refusal | undefined;
  let stopChecking = () => {};
  let controller: ReadableStreamDefaultController<Uint8Array>;
  // The connection can take a message and has not got one yet.
  let wanted = false;
  let waking = false;
  let forget: (() => void) | undefined;

  const stop = () => {
    clearTimeout(timer);
    stopChecking();
    forget?.();
    signal.removeEventListener("abort", leave);
  };
  const leave = () => {
    if (gone) return;
    gone = true;
    stop();
    options.onGone?.();
    wake();
  };
  const end = () => {
    if (over) return;
    over = true;
    stop();
    controller.close();
  };
  const send = (messages: WireMessage[]) => {
    wanted = beat = false;
    lastWrite = performance.now();
    controller.enqueue(encoder.encode(render(turnId, messages)));
  };
  // One timer for each connection, set again only when it fires: a token costs no timer.
  const arm = (delay: number) => {
    timer = setTimeout(() => {
      const silence = performance.now() - lastWrite;
      if (silence >= options.heartbeatMs - 5) {
        beat = true;
        wake();
        arm(options.heartbeatMs);
      } else {
        arm(options.heartbeatMs - silence);
      }
    }, delay);
  };

  /** Sends what there is, once the connection wants it; whatever comes within one step of the program goes together. */
  function wake(): void {
    if (waking || !wanted) return;
    waking = true;
    queueMicrotask(() => {
      waking = false;
      if (wanted) write();
    });
  }

  function write(): void {
    if (over) return;
    try {
      writeNext();
    } catch (error) {
      over = true;
      // The client gets no end: to the turn that is as if it had left.
      leave();
      controller.error(error);
    }
  }

  function writeNext(): void {
    for (;;) {
      if (gone) return end();
      if (refused) {
        // First: the connection asks for more within `send`.
        over = true;
        stop();
        send([{ data: dialect.refusal(refused) }]);
        return controller.close();
      }
      const batch = bounded(log.slice(at, BATCH));
      at += batch.length;
      const messages = batch.length ? freshMessages(dialect, batch, after) : [];
      if (messages.length === 0 && beat) messages.push({ data: dialect.keepAlive });
      const ended = log.ended && at === log.length;
      if (messages.length) send(messages);
      if (ended) return end();
      if (messages.length) return;
      if (batch.length === 0) return listen();
    }
  }

  function listen(): void {
    forget?.();
    forget = log.onAppend(() => {
      forget = undefined;
      wake();
    });
  }

  const started = (turn: Streamed) => {
    ({ log, turnId } = turn);
    wake();
  };
  const refuse = (why: Refusal) => {
    refused = why;
    wake();
  };

  if (options.turn instanceof Promise) options.turn.then(started, refuse);

  const body = new ReadableStream<Uint8Array>({
    start(itsController) {
      controller = itsController;
      if (signal.aborted) return leave();
      signal.addEventListener("abort", leave);
      if (options.heartbeatMs > 0) arm(options.heartbeatMs);
      if (options.recheck) {
        stopChecking = keepChecking(options.recheck, refuse);
      }
      controller.enqueue(encoder.encode(render(turnId, [{ data: dialect.keepAlive }])));
    },
    // Returns at once, whatever there is to send: a promise that waits for the next token costs as much as the token.
    pull() {
      wanted = true;
      write();
    },
    cancel() {
      over = true;
      leave();
    },
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
