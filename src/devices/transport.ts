// A byte stream to a console: GNS3's console WebSocket here, direct telnet in `telnet.ts`, recordings in the tests.
/// <reference lib="deno.unstable" />
import { within } from "./timing.ts";

/** A connection to a console. `close` may be called at any time and again; it resolves when the connection is gone. */
export interface Transport {
  readable: ReadableStream<Uint8Array>;
  writable: WritableStream<Uint8Array>;
  /** Sends telnet commands where they cannot travel in `writable`; does nothing where the other side takes none. */
  sendCommand?(bytes: Uint8Array): void;
  close(): Promise<void>;
}

export interface OpenOptions {
  signal: AbortSignal;
  /** Milliseconds for the connection. */
  limitMs: number;
}

/** The console's WebSocket was refused, or dropped before it counted as accepted. */
export class ConsoleDropped extends Error {
  override readonly name = "ConsoleDropped";
  /** Whether the WebSocket handshake had succeeded. */
  readonly opened: boolean;
  /** The close frame's code; 0 or 1006 when the connection just ended. */
  readonly closeCode: number;

  constructor(opened: boolean, closeCode: number) {
    // The errors that Deno reports can hold the address, and with it the token: none of their text is kept.
    super(opened ? "The console connection was dropped." : "The console connection was refused.");
    this.opened = opened;
    this.closeCode = closeCode;
  }
}

/** GNS3 drops a caller without the right to the console within some 20 ms; with it, bytes come within 50 ms. */
const SETTLE_MS = 300;
const CLOSE_MS = 1_000;
/** Between two messages of a device that goes on after we have hung up. */
const UNHEARD_PAUSE_MS = 10;

/**
 * Opens GNS3's console WebSocket. It counts as accepted once bytes came or it stayed open for 0.3 s. GNS3 3.0 takes
 * only text frames: with `commands` false telnet commands are not sent. Throws `ConsoleDropped`, or the signal's reason.
 */
export async function openWebSocket(
  url: string,
  options: OpenOptions & { commands: boolean },
): Promise<Transport> {
  options.signal.throwIfAborted();
  // Of the handshake alone: aborted later, Deno's WebSocketStream throws.
  const handshake = new AbortController();
  const socket = new WebSocketStream(url, { signal: handshake.signal });
  const settled = Promise.withResolvers<void>();
  // Whoever waits hears of it; while nobody does it is no fault.
  settled.promise.catch(() => {});
  const limit = setTimeout(() => settled.reject(new ConsoleDropped(opened, 0)), options.limitMs);
  const abort = () => settled.reject(options.signal.reason);
  options.signal.addEventListener("abort", abort, { once: true });
  let opened = false;
  let settle: ReturnType<typeof setTimeout> | undefined;
  let writer: WritableStreamDefaultWriter<string | Uint8Array> | undefined;
  const messages = new Messages();
  const gone = socket.closed.then((info: CloseInfo) => info.closeCode ?? 1005, () => 0);
  let over = false;
  void gone.then((code) => {
    over = true;
    settled.reject(new ConsoleDropped(opened, code));
    messages.end();
  });
  socket.opened.then((connection) => {
    opened = true;
    writer = connection.writable.getWriter();
    writer.closed.catch(() => {});
    settle = setTimeout(settled.resolve, SETTLE_MS);
    return messages.read(connection.readable, settled.resolve);
  }).catch(() => messages.end());

  const close = async () => {
    if (opened) socket.close();
    else if (!over) handshake.abort();
    await within(CLOSE_MS, gone);
    // Whoever reads must not wait for a peer that never answers the close frame.
    messages.end();
  };
  try {
    await settled.promise;
  } catch (error) {
    await close();
    throw error;
  } finally {
    clearTimeout(limit);
    clearTimeout(settle);
    options.signal.removeEventListener("abort", abort);
  }
  const decoder = new TextDecoder();
  const send = async (message: string | Uint8Array) => {
    // What cannot be sent any more is no fault: that the console has gone is heard by whoever reads.
    await writer?.write(message).catch(() => {});
  };
  return {
    readable: messages.readable,
    writable: new WritableStream({
      async write(bytes) {
        const text = decoder.decode(bytes, { stream: true });
        if (text) await send(text);
      },
    }),
    sendCommand(bytes) {
      if (options.commands) void send(bytes.slice());
    },
    close,
  };
}

/** As the standard and Deno have it; Deno's type declarations call it `code`. */
interface CloseInfo extends WebSocketCloseInfo {
  closeCode?: number;
}

/** What the device prints, read from the connection no faster than it is taken: a device may print without an end. */
class Messages {
  readonly readable: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #ended = false;
  #taken?: () => void;

  constructor() {
    this.readable = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      pull: () => this.#taken?.(),
    });
  }

  /** Reads to the end also when nobody listens any more: cancelled in the middle, Deno's WebSocketStream throws. */
  async read(from: ReadableStream<string | Uint8Array>, onFirst: () => void): Promise<void> {
    for await (const message of from) {
      const bytes = typeof message === "string" ? textFrame(message) : message;
      if (!bytes) continue;
      onFirst();
      if (this.#ended) await new Promise((resolve) => setTimeout(resolve, UNHEARD_PAUSE_MS));
      else this.#controller.enqueue(bytes);
      while (!this.#ended && (this.#controller.desiredSize ?? 0) <= 0) {
        await new Promise<void>((resolve) => this.#taken = resolve);
      }
    }
    this.end();
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#controller.close();
    this.#taken?.();
  }
}

// Terminal data comes in binary frames; what GNS3 says about itself ("log.error" before it closes) is JSON text.
function textFrame(text: string): Uint8Array | undefined {
  return text.startsWith('{"action"') ? undefined : new TextEncoder().encode(text);
}
