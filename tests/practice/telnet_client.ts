// A tiny telnet client for the tests of the practice consoles: answers the server's question, waits for a prompt.

const IAC = 255, SB = 250, SE = 240, WILL = 251, WONT = 252, DO = 253;
const PROMPT = /(?:^|[\r\n])[\w.-]+(?:\([\w-]+\))?[>#] ?$/;

/** A connection to a console. `run` gives a command's output without echo and prompt. `close()` it. */
export class TelnetClient {
  /** Telnet commands as they came, for tests of the negotiation. */
  readonly commands: number[][] = [];
  #text = "";
  #ended = false;
  #closed = false;
  #wake: (() => void) | null = null;
  readonly #connection: Deno.TcpConn;
  readonly #reading: Promise<void>;

  private constructor(connection: Deno.TcpConn, answers: boolean) {
    this.#connection = connection;
    this.#reading = this.#read(answers);
  }

  /** `answers` false leaves telnet questions open, as a careless client does. */
  static async connect(port: number, answers = true): Promise<TelnetClient> {
    return new TelnetClient(await Deno.connect({ hostname: "127.0.0.1", port }), answers);
  }

  async #read(answers: boolean): Promise<void> {
    const buffer = new Uint8Array(8192);
    const decoder = new TextDecoder();
    try {
      for (;;) {
        const count = await this.#connection.read(buffer);
        if (count === null) break;
        const text = await this.#strip(buffer.subarray(0, count), answers);
        this.#text += decoder.decode(text, { stream: true });
        this.#wake?.();
      }
    } catch {
      // Closed under the read.
    }
    this.#ended = true;
    this.#wake?.();
  }

  // The practice server sends its commands whole, so none is cut between two reads.
  async #strip(bytes: Uint8Array, answers: boolean): Promise<Uint8Array> {
    const text: number[] = [];
    for (let at = 0; at < bytes.length;) {
      if (bytes[at] !== IAC) text.push(bytes[at++]!);
      else if (bytes[at + 1] === SB) {
        const end = bytes.findIndex((byte, i) => i > at && byte === IAC && bytes[i + 1] === SE);
        this.commands.push([...bytes.subarray(at, end + 2)]);
        at = end + 2;
      } else {
        const command = [...bytes.subarray(at, at + 3)];
        this.commands.push(command);
        if (answers && command[1] === DO) await this.#connection.write(Uint8Array.of(IAC, WONT, command[2]!));
        at += 3;
      }
    }
    return Uint8Array.from(text);
  }

  async send(text: string): Promise<void> {
    await this.#connection.write(new TextEncoder().encode(text));
  }

  async sendBytes(...bytes: number[]): Promise<void> {
    await this.#connection.write(Uint8Array.from(bytes));
  }

  /** Answers WILL and the terminal's name to the server's question. */
  async agree(option: number): Promise<void> {
    await this.sendBytes(IAC, WILL, option);
  }

  /** Everything received and not yet taken. */
  get received(): string {
    return this.#text;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Reads until the text matches, and takes it. Throws with what came when the connection ends or time runs out. */
  async until(pattern: RegExp, limitMs = 10_000): Promise<string> {
    const deadline = Date.now() + limitMs;
    while (!pattern.test(this.#text)) {
      if (this.#ended) throw new Error(`The console closed after: ${JSON.stringify(this.#text)}`);
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`No ${pattern} in: ${JSON.stringify(this.#text)}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, left);
      await promise;
      clearTimeout(timer);
    }
    const text = this.#text;
    this.#text = "";
    return text;
  }

  /** Waits for the server to close. */
  async end(): Promise<void> {
    await this.#reading;
  }

  /** Brings up a prompt; a fresh console prints nothing by itself. */
  async wake(): Promise<string> {
    await this.send("\r");
    return await this.until(PROMPT);
  }

  /** Types a command and gives what it printed, with plain line ends. */
  async run(command: string): Promise<string> {
    await this.send(`${command}\r`);
    const text = (await this.until(PROMPT)).replaceAll("\r\n", "\n").replaceAll("\r", "");
    const lines = text.split("\n");
    return lines.slice(1, -1).join("\n").trim();
  }

  async close(): Promise<void> {
    if (!this.#closed) this.#connection.close();
    this.#closed = true;
    await this.#reading;
  }
}
