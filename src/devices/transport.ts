// A byte stream to a console: GNS3's console WebSocket here, direct telnet in `telnet.ts`, recordings in the tests.

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

/**
 * Opens GNS3's console WebSocket. It counts as accepted once bytes came or it stayed open for 0.3 s. GNS3 3.0 takes
 * only text frames: with `commands` false telnet commands are not sent. Throws `ConsoleDropped`, or the signal's reason.
 */
export async function openWebSocket(
  url: string,
  options: OpenOptions & { commands: boolean },
): Promise<Transport> {
  options.signal.throwIfAborted();
  const socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  let opened = false;
  const settled = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const readable = new ReadableStream<Uint8Array>({ start: (c) => void (controller = c) });

  const limit = setTimeout(() => settled.reject(new ConsoleDropped(opened, 0)), options.limitMs);
  let settle: ReturnType<typeof setTimeout> | undefined;
  socket.onopen = () => {
    opened = true;
    settle = setTimeout(settled.resolve, SETTLE_MS);
  };
  let ended = false;
  socket.onmessage = ({ data }) => {
    // A device that does not stop is heard also after we have hung up.
    if (ended) return;
    const bytes = typeof data === "string" ? textFrame(data) : new Uint8Array(data as ArrayBuffer);
    if (!bytes) return;
    settled.resolve();
    controller.enqueue(bytes);
  };
  const end = (code: number) => {
    if (ended) return;
    ended = true;
    settled.reject(new ConsoleDropped(opened, code));
    controller.close();
    closed.resolve();
  };
  socket.onclose = ({ code }) => end(code);
  // `close` follows, but not in every case and not at once.
  socket.onerror = () => end(0);

  const close = async () => {
    if (socket.readyState <= WebSocket.OPEN) socket.close();
    await within(CLOSE_MS, closed.promise);
    // Whoever reads must not wait for a peer that never answers the close frame.
    end(0);
  };
  const abort = () => settled.reject(options.signal.reason);
  options.signal.addEventListener("abort", abort, { once: true });
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
  return {
    readable,
    writable: new WritableStream({
      write(bytes) {
        const text = decoder.decode(bytes, { stream: true });
        if (text && socket.readyState === WebSocket.OPEN) socket.send(text);
      },
    }),
    sendCommand(bytes) {
      if (options.commands && socket.readyState === WebSocket.OPEN) socket.send(bytes.slice().buffer);
    },
    close,
  };
}

// Terminal data comes in binary frames; what GNS3 says about itself ("log.error" before it closes) is JSON text.
function textFrame(text: string): Uint8Array | undefined {
  return text.startsWith('{"action"') ? undefined : new TextEncoder().encode(text);
}
