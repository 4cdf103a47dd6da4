// Telnet (RFC 854, 855): answers option requests and takes the commands out of the data, however the bytes are cut.
import type { OpenOptions, Transport } from "./transport.ts";

const IAC = 255, DONT = 254, DO = 253, WONT = 252, WILL = 251, SB = 250, SE = 240;
const BINARY = 0, ECHO = 1, SUPPRESS_GO_AHEAD = 3;

/** What the other side may do (it echoes) and what we agree to do; everything else is refused. */
const THEIRS = new Set([BINARY, ECHO, SUPPRESS_GO_AHEAD]);
const OURS = new Set([BINARY, SUPPRESS_GO_AHEAD]);

/** Splits a console's bytes into what the device printed and the answers to telnet's requests. */
export class TelnetFilter {
  #state: "data" | "iac" | "option" | "sub" | "sub_iac" = "data";
  #command = 0;
  /** Our last answer to each request, so that two polite sides do not answer each other for ever. */
  readonly #answered = new Map<number, number>();

  feed(bytes: Uint8Array): { data: Uint8Array; reply: Uint8Array } {
    // Nearly always: a device that prints megabytes must not take the time of everybody else.
    if (this.#state === "data" && !bytes.includes(IAC)) return { data: bytes, reply: new Uint8Array() };
    const data: number[] = [];
    const reply: number[] = [];
    for (const byte of bytes) {
      switch (this.#state) {
        case "data":
          if (byte === IAC) this.#state = "iac";
          else data.push(byte);
          break;
        case "iac":
          this.#state = "data";
          if (byte === IAC) data.push(IAC);
          else if (byte === SB) this.#state = "sub";
          else if (byte >= WILL) [this.#command, this.#state] = [byte, "option"];
          break;
        case "option":
          this.#state = "data";
          reply.push(...this.#answer(this.#command, byte));
          break;
        case "sub":
          if (byte === IAC) this.#state = "sub_iac";
          break;
        case "sub_iac":
          this.#state = byte === SE ? "data" : "sub";
      }
    }
    return { data: Uint8Array.from(data), reply: Uint8Array.from(reply) };
  }

  #answer(command: number, option: number): number[] {
    const asksUs = command === DO || command === DONT;
    const answer = asksUs
      ? (command === DO && OURS.has(option) ? WILL : WONT)
      : (command === WILL && THEIRS.has(option) ? DO : DONT);
    const key = (asksUs ? 256 : 0) + option;
    // "Don't" and "won't" need no answer unless they take back what was agreed.
    const before = this.#answered.get(key) ?? (command === DO || command === WILL ? 0 : answer);
    this.#answered.set(key, answer);
    return before === answer ? [] : [IAC, answer, option];
  }
}

/** `transport` without telnet: its `readable` is what the device printed, its `writable` may hold any byte. */
export function overTelnet(transport: Transport): Transport {
  const filter = new TelnetFilter();
  const writer = transport.writable.getWriter();
  const readable = transport.readable.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(bytes, controller) {
        const { data, reply } = filter.feed(bytes);
        if (reply.length > 0) {
          if (transport.sendCommand) transport.sendCommand(reply);
          else await writer.write(reply).catch(() => {});
        }
        if (data.length > 0) controller.enqueue(data);
      },
    }),
  );
  const writable = new WritableStream<Uint8Array>({
    // Where commands have a way of their own, a 255 in the data cannot be mistaken for one.
    write: (bytes) => writer.write(transport.sendCommand ? bytes : escaped(bytes)),
  });
  return { readable, writable, close: () => transport.close() };
}

function escaped(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(IAC)) return bytes;
  return Uint8Array.from([...bytes].flatMap((byte) => byte === IAC ? [IAC, IAC] : [byte]));
}

/** A direct connection to a console's telnet port. Asks nobody for rights. Throws Deno's error, or the signal's reason. */
export async function connectTelnet(
  hostname: string,
  port: number,
  options: OpenOptions,
): Promise<Transport> {
  options.signal.throwIfAborted();
  const connecting = Deno.connect({ hostname, port });
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("The console's port does not answer.")), options.limitMs);
  const abort = () => reject(options.signal.reason);
  options.signal.addEventListener("abort", abort, { once: true });
  try {
    const connection = await Promise.race([connecting, stopped]);
    connection.setNoDelay();
    return { readable: ended(connection.readable), writable: connection.writable, close: closer(connection) };
  } catch (error) {
    connecting.then((late) => late.close(), () => {});
    throw error;
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", abort);
  }
}

function closer(connection: Deno.TcpConn): () => Promise<void> {
  return () => {
    try {
      connection.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) return Promise.reject(error);
    }
    return Promise.resolve();
  };
}

// A reset or our own close ends the stream; whoever reads it has no use for the difference.
function ended(readable: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = readable.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || !value) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
