// The server's side of telnet on one connection (RFC 854): takes options out of what a client sends, and asks for its
// terminal type as GNS3's console does (RFC 1091), holding input for a moment until that is answered.

const IAC = 255, DONT = 254, DO = 253, WONT = 252, WILL = 251, SB = 250, SE = 240;
const ECHO = 1, SUPPRESS_GO_AHEAD = 3, TERMINAL_TYPE = 24;
const SEND = 1;

/** One client of a console. Feed it with `receive`; `close()` stops its timer. */
export class TelnetPeer {
  #pending: number[] = [];
  #held: string[] | null = [];
  #decoder = new TextDecoder();
  #timer: ReturnType<typeof setTimeout>;
  readonly #send: (bytes: Uint8Array) => void;
  readonly #typed: (text: string) => void;

  /** `send` writes to the client, `typed` gets the text it typed, `holdMs` is how long an answer is waited for. */
  constructor(send: (bytes: Uint8Array) => void, typed: (text: string) => void, holdMs: number) {
    this.#send = send;
    this.#typed = typed;
    this.#timer = setTimeout(() => this.#release(), holdMs);
    send(Uint8Array.of(IAC, DO, TERMINAL_TYPE));
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  receive(bytes: Uint8Array): void {
    const input = [...this.#pending, ...bytes];
    this.#pending = [];
    const text: number[] = [];
    let at = 0;
    while (at < input.length) {
      if (input[at] !== IAC) {
        text.push(input[at++]!);
        continue;
      }
      const length = this.#commandLength(input, at);
      if (length === 0) {
        this.#pending = input.slice(at);
        break;
      }
      if (length === 2 && input[at + 1] === IAC) text.push(IAC);
      else this.#command(input.slice(at, at + length));
      at += length;
    }
    if (text.length === 0) return;
    const typed = this.#decoder.decode(Uint8Array.from(text), { stream: true });
    if (this.#held) this.#held.push(typed);
    else this.#typed(typed);
  }

  /** How many bytes the command at `at` has; 0 when it is not complete yet. */
  #commandLength(input: number[], at: number): number {
    const verb = input[at + 1];
    if (verb === undefined) return 0;
    if (verb >= WILL && verb <= DONT) return input[at + 2] === undefined ? 0 : 3;
    if (verb !== SB) return 2;
    for (let end = at + 2; end + 1 < input.length; end++) {
      if (input[end] === IAC && input[end + 1] === SE) return end + 2 - at;
    }
    return 0;
  }

  #command([, verb, option]: number[]): void {
    if (verb === WILL && option === TERMINAL_TYPE) {
      this.#send(Uint8Array.of(IAC, SB, TERMINAL_TYPE, SEND, IAC, SE));
    } else if (option === TERMINAL_TYPE && (verb === WONT || verb === SB)) {
      this.#release();
    } else if (verb === DO) {
      const agreed = option === ECHO || option === SUPPRESS_GO_AHEAD;
      this.#send(Uint8Array.of(IAC, agreed ? WILL : WONT, option!));
    } else if (verb === WILL) {
      this.#send(Uint8Array.of(IAC, DONT, option!));
    }
  }

  #release(): void {
    clearTimeout(this.#timer);
    const held = this.#held?.join("") ?? "";
    this.#held = null;
    if (held) this.#typed(held);
  }
}
