// A TCP proxy that stands between two programs and does to the far one's answers what networks and broken servers do.
import { type AddressInfo, connect as connectTo, createServer, type Socket } from "node:net";

/** What becomes of an answer. Places are where in the answer it begins; see `FaultRule.after`. */
export type Fault =
  /** Every piece of it comes that many milliseconds late. */
  | { kind: "delay"; ms: number }
  /** It comes byte by byte. */
  | { kind: "split" }
  /** The connection ends in good order (FIN). */
  | { kind: "fin" }
  /** The connection is reset (RST). */
  | { kind: "reset" }
  /** Nothing comes any more, and the connection stays. */
  | { kind: "stall" }
  /** As `stall`, and the far program has gone without this side hearing of it. */
  | { kind: "half-open" }
  /** These bytes come, and then the answer goes on. */
  | { kind: "insert"; bytes: Uint8Array }
  /** `head`, then these bytes again and again, `total` bytes of them, come instead of the answer; then the connection ends. */
  | { kind: "flood"; head?: string; bytes: Uint8Array; total: number }
  /** An HTTP answer with this status comes instead of the far program's. */
  | { kind: "status"; status: number; body?: string }
  /** The connection is closed without an answer. */
  | { kind: "hang-up" };

export interface FaultRule {
  fault: Fault;
  /** The first line of the requests that it is for, such as `/POST .*\/start/`; left out: every one. */
  match?: RegExp;
  /** It begins right behind this text in the answer, or after that many bytes of it (0). */
  after?: string | number;
  /** The piece in which that stands is passed on to its end first: a WebSocket's frame is not torn apart. */
  whole?: true;
  /** For how many requests (all). */
  times?: number;
}

export interface FaultProxy {
  port: number;
  /** Where the far program listens. */
  target: number;
  /** From now on; null passes everything on. An answer that is under way goes on as it began. */
  set(rule: FaultRule | null): void;
  /** How often the rule has done something to an answer. */
  readonly struck: number;
  /** Connections that are open on the near side. */
  readonly open: number;
  /** Ends all connections. */
  drop(): void;
  close(): Promise<void>;
}

const REQUEST = /^[A-Z]+ \/\S* HTTP\/1\.1\r\n/;
const latin1 = new TextDecoder("latin1");

/** Starts a proxy on a free port of 127.0.0.1 that passes everything on to `target` until it is told otherwise. */
export async function startFaultProxy(target = 0): Promise<FaultProxy> {
  let rule: FaultRule | null = null;
  let met = 0;
  let struck = 0;
  const connections = new Set<Socket>();
  /** The rule that this request meets, if any. */
  const ruleFor = (line: string): FaultRule | null => {
    if (!rule || (rule.match && !rule.match.test(line)) || met >= (rule.times ?? Infinity)) return null;
    met++;
    return rule;
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connectTo({ port: proxy.target, host: "127.0.0.1", allowHalfOpen: true });
    for (const socket of [near, far]) {
      connections.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => connections.delete(socket));
    }
    const answer = new AnswerPath(near, far, () => struck++);
    near.on("data", (bytes: Uint8Array) => {
      const line = REQUEST.exec(latin1.decode(bytes.subarray(0, 2000)))?.[0];
      if (line !== undefined) answer.begin(ruleFor(line));
      if (answer.deaf) return;
      if (!far.write(bytes)) {
        near.pause();
        far.once("drain", () => near.resume());
      }
    });
    near.on("end", () => far.end());
    near.on("close", () => far.destroy());
    far.on("data", (bytes: Uint8Array) => answer.pass(bytes));
    far.on("end", () => answer.end());
    far.on("error", () => answer.deaf || near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: FaultProxy = {
    port: (server.address() as AddressInfo).port,
    target,
    set(next) {
      rule = next;
      met = struck = 0;
    },
    get struck() {
      return struck;
    },
    get open() {
      return connections.size;
    },
    drop() {
      for (const socket of connections) socket.destroy();
    },
    async close() {
      this.drop();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}

/** The way of one connection's answers: a rule changes the one that is under way. */
class AnswerPath {
  /** Nothing is passed on to the far program any more. */
  deaf = false;
  #rule: FaultRule | null = null;
  #seen = 0;
  #tail = "";
  /** What is left of the answer is passed on in this way; null: as it is. */
  #fault: Fault | null = null;
  #sending: Promise<void> = Promise.resolve();

  constructor(
    private readonly near: Socket,
    private readonly far: Socket,
    private readonly onStrike: () => void,
  ) {}

  begin(rule: FaultRule | null): void {
    [this.#rule, this.#seen, this.#tail, this.#fault] = [rule, 0, "", null];
    if (rule && !rule.after) this.#strike(rule.fault);
  }

  pass(bytes: Uint8Array): void {
    const place = this.#fault || !this.#rule ? -1 : this.#placeIn(bytes);
    if (place < 0) return this.#send(bytes, this.#fault);
    this.#send(bytes.subarray(0, place), null);
    this.#strike(this.#rule!.fault);
    this.#send(bytes.subarray(place), this.#fault);
  }

  end(): void {
    void this.#sending.then(() => this.deaf || this.near.end());
  }

  /** Where in `bytes` the fault begins; -1: not yet. */
  #placeIn(bytes: Uint8Array): number {
    const { after = 0 } = this.#rule!;
    const before = this.#seen;
    this.#seen += bytes.length;
    if (typeof after === "number") return after < this.#seen ? Math.max(0, after - before) : -1;
    const text = this.#tail + latin1.decode(bytes);
    const at = text.indexOf(after);
    const known = this.#tail.length;
    this.#tail = text.slice(-after.length);
    if (at < 0) return -1;
    return this.#rule!.whole ? bytes.length : Math.max(0, at + after.length - known);
  }

  #strike(fault: Fault): void {
    const { near, far } = this;
    this.#fault = fault;
    this.onStrike();
    if (fault.kind === "hang-up") this.#stop(() => near.destroy());
    else if (fault.kind === "status") this.#stop(() => near.end(page(fault)));
    else if (fault.kind === "fin") this.#stop(() => near.end());
    else if (fault.kind === "reset") this.#stop(() => near.resetAndDestroy());
    else if (fault.kind === "stall") this.#stop(() => {});
    else if (fault.kind === "half-open") this.#stop(() => far.destroy());
    else if (fault.kind === "flood") this.#stop(() => void this.#flood(fault));
    else if (fault.kind === "insert") {
      this.#send(fault.bytes, null);
      this.#rule = this.#fault = null;
    }
  }

  /** Ends the answer; what was passed on before leaves first. */
  #stop(how: () => void): void {
    this.deaf = true;
    void this.#sending.then(how);
  }

  #send(bytes: Uint8Array, fault: Fault | null): void {
    if (this.deaf || bytes.length === 0) return;
    const due = performance.now() + (fault?.kind === "delay" ? fault.ms : 0);
    this.#sending = this.#sending.then(async () => {
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      if (fault?.kind !== "split") return await this.#write(bytes);
      for (let at = 0; at < bytes.length; at++) {
        await this.#write(bytes.subarray(at, at + 1));
        // Otherwise the system puts them together again.
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
  }

  async #flood({ head = "", bytes, total }: Extract<Fault, { kind: "flood" }>): Promise<void> {
    await this.#write(new TextEncoder().encode(head));
    for (let sent = 0; sent < total && !this.near.destroyed; sent += bytes.length) await this.#write(bytes);
    this.near.end();
  }

  /** Resolves when the connection takes more, or is gone. */
  async #write(bytes: Uint8Array): Promise<void> {
    if (this.near.destroyed || this.near.writableEnded || this.near.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        this.near.off("drain", go).off("close", go);
        resolve();
      };
      this.near.on("drain", go).on("close", go);
    });
  }
}

function page({ status, body = "<html>broken</html>" }: Extract<Fault, { kind: "status" }>): string {
  const length = new TextEncoder().encode(body).length;
  return `HTTP/1.1 ${status} Broken\r\ncontent-type: text/html\r\ncontent-length: ${length}\r\n` +
    `connection: close\r\n\r\n${body}`;
}
