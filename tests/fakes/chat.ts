// The whole server in this process, on a real port, beside the practice lab and the practice model; and a client of it.
import assert from "node:assert/strict";
import type { Config } from "../../src/config.ts";
import { readConfig } from "../../src/config.ts";
import type { ModelConfig } from "../../src/domain/model_config.ts";
import { type PracticeGns3, startPracticeGns3 } from "../../src/practice/gns3_server.ts";
import { type PracticeModel, startPracticeModel } from "../../src/practice/model.ts";
import { createServer } from "../../src/server.ts";
import { assertTurn, type WireEvent } from "./grammar.ts";
import { type Line, testLog } from "./log.ts";
import { assertNoSecrets } from "./sweep.ts";

export const API_KEY = "sk-test-1f6c2e9b7d30";

export interface ChatServer {
  url: string;
  gns3: PracticeGns3;
  model: PracticeModel;
  /** What the server has logged. */
  lines: Line[];
  /** Stops the server in good order and starts another one on the same data, with these options changed. */
  restart(changes?: Partial<Config>): Promise<void>;
  /** Tells the server that it listens on another port than it does. */
  pretendPort(port: number): void;
  /** Asks the server to drain, as SIGTERM does. */
  drain(): Promise<void>;
  chat(user: string, projectId?: string): Chat;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ChatServerOptions {
  config?: Partial<Config>;
  model?: Partial<ModelConfig> | null;
  /** Milliseconds between two looks at whether those who listen still may. */
  recheckMs?: number;
}

/** Starts everything; `await using` stops it. */
export async function startChatServer(options: ChatServerOptions = {}): Promise<ChatServer> {
  const gns3 = await startPracticeGns3();
  const model = await startPracticeModel({ apiKey: API_KEY });
  const { log, lines } = testLog();
  const { config: defaults } = readConfig({ args: [], env: {}, read: () => "" });
  const config = {
    ...defaults,
    gns3Url: gns3.url,
    projectsDir: gns3.projectsDir,
    stateDir: gns3.projectsDir,
    heartbeatInterval: 0,
    drainTimeout: 1,
    ...options.config,
    model: options.model === null ? null : {
      provider: "openai",
      base_url: model.url,
      api_key: API_KEY,
      model: "practice-1",
      context_limit: 128,
      context_strategy: "balanced",
      copilot_mode: "lab_automation_assistant",
      ...options.model,
    },
  } as Config;

  let server = await createServer(config, { log, recheckMs: options.recheckMs });
  const http = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request, info) => server.fetch(request, info),
  );
  server.listening?.(http.addr);
  const url = `http://127.0.0.1:${http.addr.port}`;
  const stop = async () => {
    await server.drain();
    await server.close();
  };
  return {
    url,
    gns3,
    model,
    lines,
    pretendPort: (port) => server.listening?.({ hostname: "127.0.0.1", port }),
    drain: () => server.drain(),
    restart: async (changes) => {
      await stop();
      Object.assign(config, changes);
      server = await createServer(config, { log, recheckMs: options.recheckMs });
      server.listening?.(http.addr);
    },
    chat: (user, projectId = gns3.projectId) => new Chat(url, projectId, gns3.tokens[user] ?? user),
    [Symbol.asyncDispose]: async () => {
      await stop();
      // Whatever the test was about: no key and no token may be left in a file or a log line of the server.
      assertNoSecrets(gns3.projectsDir, lines, [API_KEY, ...Object.values(gns3.tokens)]);
      await http.shutdown();
      await model.close();
      await gns3.close();
    },
  };
}

/** One user's chat with one project. */
export class Chat {
  constructor(readonly url: string, readonly projectId: string, readonly token: string) {}

  get prefix(): string {
    return `${this.url}/v3/projects/${this.projectId}/chat`;
  }

  /** `path` below the chat prefix, or a whole one that starts with `/v3/`. */
  async call(method: string, path: string, body?: unknown, headers: HeadersInit = {}): Promise<Response> {
    return await fetch(path.startsWith("/v3/") ? this.url + path : this.prefix + path, {
      method,
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  // deno-lint-ignore no-explicit-any
  async json(method: string, path: string, body?: unknown, status = 200): Promise<any> {
    const answer = await this.call(method, path, body);
    const text = await answer.text();
    assert.equal(answer.status, status, `${method} ${path}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** Starts a turn; the stream is open when this resolves. */
  async start(message: string, body: Record<string, unknown> = {}, path = "/stream"): Promise<Stream> {
    const leaving = new AbortController();
    const response = await fetch(this.prefix + path, {
      method: "POST",
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      body: JSON.stringify({ message, ...body }),
      signal: leaving.signal,
    });
    return await openStream(response, leaving);
  }

  /** Runs a turn to its end and checks the order of its events. */
  async send(message: string, body: Record<string, unknown> = {}, path = "/stream"): Promise<Stream> {
    const stream = await this.start(message, body, path);
    await stream.end();
    assertTurn(stream.events);
    return stream;
  }

  async follow(sessionId: string, after?: string): Promise<Stream> {
    const leaving = new AbortController();
    const response = await fetch(`${this.prefix}/sessions/${sessionId}/stream`, {
      headers: { authorization: `Bearer ${this.token}`, ...(after ? { "last-event-id": after } : {}) },
      signal: leaving.signal,
    });
    return await openStream(response, leaving);
  }

  // deno-lint-ignore no-explicit-any
  async messages(sessionId: string): Promise<any[]> {
    return (await this.json("GET", `/sessions/${sessionId}/history`)).messages;
  }
}

/** Reads an answer that must be a stream. */
export async function openStream(response: Response, leaving: AbortController): Promise<Stream> {
  assert.equal(response.status, 200, response.status === 200 ? "" : await response.text());
  return new Stream(response, leaving);
}

/** A stream that is being read. */
export class Stream {
  readonly events: WireEvent[] = [];
  /** The id of each event, "" where it has none. */
  readonly ids: string[] = [];
  readonly sessionId: string;
  readonly #reading: Promise<void>;
  #waiting: (() => void)[] = [];

  constructor(response: Response, private readonly leaving: AbortController) {
    this.sessionId = response.headers.get("x-session-id")!;
    this.#reading = this.#read(response).catch((error) => {
      if (!leaving.signal.aborted) throw error;
    });
    // Whoever waits for the end hears of it; a stream that nobody waits for may break.
    this.#reading.catch(() => {});
  }

  async #read(response: Response): Promise<void> {
    let rest = "";
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + text).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const field = (name: string) =>
          block.split("\n").find((line) => line.startsWith(name))?.slice(name.length);
        this.ids.push(field("id: ") ?? "");
        this.events.push(JSON.parse(field("data: ")!));
      }
      for (const wake of this.#waiting.splice(0)) wake();
    }
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves with the first event that fits; rejects when the stream ends without one. */
  async until(fits: (event: WireEvent) => boolean): Promise<WireEvent> {
    let ended = false;
    void this.#reading.catch(() => {}).finally(() => ended = true);
    for (let at = 0;;) {
      for (; at < this.events.length; at++) if (fits(this.events[at]!)) return this.events[at]!;
      assert.ok(!ended, `the stream ended: ${JSON.stringify(this.events.slice(-3))}`);
      await Promise.race([new Promise<void>((resolve) => this.#waiting.push(resolve)), this.#reading]);
    }
  }

  untilType(type: string): Promise<WireEvent> {
    return this.until((event) => event.type === type);
  }

  end(): Promise<void> {
    return this.#reading;
  }

  /** The client goes away. */
  async leave(): Promise<void> {
    this.leaving.abort();
    await this.#reading;
  }

  of(...types: string[]): WireEvent[] {
    return this.events.filter((event) => types.includes(event.type));
  }

  get text(): string {
    return this.of("content").map((event) => event.content).join("");
  }

  get last(): WireEvent {
    return this.events.at(-1)!;
  }
}
