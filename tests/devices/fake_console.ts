// A device's console for tests: one session that all clients share, with a line editor, echo, prompts and commands.
import type { Transport } from "../../src/devices/transport.ts";

/** What a command does: text to print, or a function that prints over time, reads keys, and may be interrupted. */
export type Command = string | ((out: (text: string) => void, running: Running) => void | Promise<void>);

export interface Running {
  interrupted: AbortSignal;
  /** The next key that somebody presses; "" when the command is interrupted first. */
  key(): Promise<string>;
}

export interface FakeConsoleOptions {
  prompt?: string;
  commands?: Record<string, Command>;
  /** Printed for a command that is not known; `{}` stands for it. */
  unknown?: string;
  /** Cuts everything it prints into single bytes. */
  bytewise?: boolean;
  /** What the device is in the middle of when the first client comes. */
  line?: string;
  /** Keys that empty the line, beside Ctrl-C. */
  clearKeys?: string;
}

type Client = (bytes: Uint8Array) => void;

/** `\r` runs the line, Ctrl-C empties it or stops what runs, other control and non-ASCII bytes are skipped, as VPCS does. */
export class FakeConsole {
  prompt: string;
  line: string;
  /** Every line that was run, in order. */
  readonly ran: string[] = [];
  /** How many clients are connected, and the most there ever were at once. */
  clients = 0;
  mostClients = 0;
  /** Swallows everything: a hung device. */
  hung = false;
  readonly #options: FakeConsoleOptions;
  readonly #clients = new Set<{ give: Client; drop: () => void }>();
  #running?: AbortController;
  #wanted?: (key: string) => void;
  #queued: string[] = [];

  constructor(options: FakeConsoleOptions = {}) {
    this.#options = options;
    this.prompt = options.prompt ?? "PC1> ";
    this.line = options.line ?? "";
  }

  /** An in-memory connection. */
  connect(): Transport {
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const readable = new ReadableStream<Uint8Array>({ start: (c) => void (controller = c) });
    const leave = this.#join((bytes) => controller.enqueue(bytes), () => controller.close());
    const decoder = new TextDecoder("latin1");
    const writable = new WritableStream<Uint8Array>({ write: (bytes) => this.type(decoder.decode(bytes)) });
    return { readable, writable, close: () => Promise.resolve(leave()) };
  }

  /** A client over GNS3's console WebSocket. 3.0 takes text frames only; 3.1 asks for the terminal type first. */
  serveWebSocket(socket: WebSocket, textOnly: boolean) {
    let leave = () => {};
    socket.onopen = () => {
      const give = (bytes: Uint8Array) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(bytes.slice().buffer);
      };
      leave = this.#join(give, () => socket.close(1000));
      give(Uint8Array.from(textOnly ? [255, 251, 1, 255, 251, 3] : [255, 253, 24]));
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.type(data);
      else if (textOnly) socket.close(1011);
    };
    socket.onclose = () => leave();
    socket.onerror = () => leave();
  }

  /** What a person does, or a client sends. */
  type(text: string) {
    if (this.hung) return;
    for (const key of text) this.#key(key);
  }

  /** Prints without being asked: a log line, a boot message. */
  print(text: string) {
    const bytes = new TextEncoder().encode(text);
    const parts = this.#options.bytewise ? [...bytes].map((byte) => Uint8Array.of(byte)) : [bytes];
    for (const part of parts) for (const { give } of this.#clients) give(part);
  }

  /** The device goes away. */
  drop() {
    for (const client of [...this.#clients]) client.drop();
  }

  #join(give: Client, drop: () => void): () => void {
    const client = { give, drop };
    let here = true;
    const leave = () => {
      if (!here) return;
      here = false;
      this.clients--;
      this.#clients.delete(client);
      drop();
    };
    client.drop = leave;
    this.#clients.add(client);
    this.mostClients = Math.max(this.mostClients, ++this.clients);
    return leave;
  }

  #key(key: string) {
    if (this.#running) {
      if (key === "\x03") {
        this.print("^C");
        this.#running.abort();
        this.#wanted?.("");
      } else if (this.#wanted) {
        const give = this.#wanted;
        this.#wanted = undefined;
        give(key);
      } else {
        if (key === "\r") this.print("\r\n");
        this.#queued.push(key);
      }
      return;
    }
    if (key === "\r") return void this.#run();
    if (key === "\x03" || this.#options.clearKeys?.includes(key)) {
      this.line = "";
      return this.print(`\r\n\r${this.prompt}`);
    }
    if (key === "\x7f" || key === "\b") {
      if (this.line) this.print("\b \b");
      this.line = this.line.slice(0, -1);
    } else if (key >= " " && key < "\x7f") {
      this.line += key;
      this.print(key);
    }
  }

  async #run() {
    const line = this.line.trim();
    this.line = "";
    this.print("\r\n");
    if (line) this.ran.push(line);
    const known = this.#options.commands?.[line];
    if (typeof known === "function") {
      this.#running = new AbortController();
      const key = () => {
        const waiting = this.#queued.shift();
        return waiting ? Promise.resolve(waiting) : new Promise<string>((give) => void (this.#wanted = give));
      };
      await known((text) => this.print(text), { interrupted: this.#running.signal, key });
      this.#wanted = undefined;
      this.#running = undefined;
    } else if (line) {
      this.print(
        known ?? (this.#options.unknown ?? 'Bad command: "{}". Use ? for help.\r\n').replace("{}", line),
      );
    }
    this.print(`\r\n\r${this.prompt}`);
    const queued = this.#queued;
    this.#queued = [];
    this.type(queued.join(""));
  }
}

/** A command that prints a line every `everyMs` until it is interrupted, or `count` lines. */
export function ticking(text: string, everyMs: number, count = Infinity): Command {
  return async (out, { interrupted }) => {
    for (let i = 1; i <= count && !interrupted.aborted; i++) {
      out(`${text} seq=${i}\r\n`);
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, everyMs);
      interrupted.addEventListener("abort", () => resolve(), { once: true });
      await promise;
      clearTimeout(timer);
    }
  };
}
