// A controller's notification stream that a test drives by hand.

export interface OpenStream {
  path: string;
  authorization: string | null;
  send(bytes: Uint8Array): void;
  /** Ends it in good order. */
  end(): void;
  /** Breaks it off. */
  cut(): void;
  /** Resolves when the client has left. */
  gone: Promise<void>;
}

/** Answers every path with such a stream, until `status` says otherwise. */
export class StreamServer {
  readonly seen: { path: string; authorization: string | null }[] = [];
  readonly at: number[] = [];
  /** Tokens that are answered with 401. */
  readonly refuse = new Set<string>();
  status = 200;
  open = 0;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #streams: OpenStream[] = [];
  readonly #stop = new AbortController();

  constructor() {
    const options = { hostname: "127.0.0.1", port: 0, signal: this.#stop.signal, onListen() {} };
    this.#server = Deno.serve(options, (request) => this.#answer(request));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** The next stream that a client opens. */
  async next(): Promise<OpenStream> {
    await untilTrue(() => this.#streams.length > 0);
    return this.#streams.shift()!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#server.finished;
  }

  #answer(request: Request): Response {
    const { pathname: path } = new URL(request.url);
    const authorization = request.headers.get("authorization");
    this.seen.push({ path, authorization });
    this.at.push(performance.now());
    if (this.refuse.has(authorization?.slice(7) ?? "")) {
      return Response.json({ message: "Could not validate credentials" }, { status: 401 });
    }
    if (this.status !== 200) {
      return new Response("{}", { status: this.status, headers: { location: "/elsewhere" } });
    }
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (c) => void (controller = c),
      cancel: () => resolve(),
    });
    this.open++;
    this.#streams.push({
      path,
      authorization,
      gone,
      send: (bytes) => controller.enqueue(bytes),
      end: () => controller.close(),
      cut: () => controller.error(new Error("cut")),
    });
    return new Response(body);
  }
}

/** Waits until `condition` holds. */
export async function untilTrue(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}
