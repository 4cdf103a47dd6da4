// The practice model: an OpenAI-compatible endpoint that plays scripts in tests and, without one, answers with the
// brain of the demo, which really uses the tools it is offered.
import { type Exchange, serveHttp } from "./http1.ts";
import { think, titleFor } from "./model_brain.ts";
import { playStatus, playStream, playWhole } from "./model_player.ts";
import { refusal } from "./model_rules.ts";
import {
  type Action,
  type ChatBody,
  contentOf,
  fragments,
  type Step,
  text,
  toolCalls,
} from "./model_script.ts";

export interface PracticeModelOptions {
  hostname?: string;
  port?: number;
  /** Milliseconds between two words of the brain's answers (0). */
  wordDelay?: number;
  /** When given, any other key is refused with 401. */
  apiKey?: string;
  /** When given, any other model is refused with 404. */
  models?: string[];
  /** False takes messages that a real endpoint would refuse with 400. */
  strict?: boolean;
  /** How many requests are kept, the newest ones (5000). */
  keep?: number;
}

/** One request as the model saw it. */
export interface ModelRequest {
  n: number;
  /** The script's key found in it, "" when none. */
  key: string;
  /** It had no tools, so it asked for a title. */
  title: boolean;
  stream: boolean;
  headers: Record<string, string>;
  body: ChatBody;
  /** Milliseconds since 1970. */
  at: number;
  /** When the answer ended; null while it is being given. */
  endedAt: number | null;
  /** `cut`: the client left before the end, at `endedAt`. `refused`: 4xx by the model's own rules. */
  fate: "open" | "done" | "cut" | "refused";
  reason: string;
}

/** A step, or a function that makes it from the request. */
export type ScriptStep = Step | ((body: ChatBody) => Step);

export interface PracticeModel {
  /** The base URL, ending in `/v1`. */
  url: string;
  /** Registers steps, played one a request, the last one again and again. Answers the tag to put into the user's message. */
  script(key: string, steps: ScriptStep[], options?: { title?: Step; strict?: boolean }): string;
  /** All requests, or those with this key; title requests have `title` set. */
  requests(key?: string): ModelRequest[];
  /** How many answers are being given at this moment. */
  openRequests(): number;
  /** Resolves once `condition` holds; it is looked at whenever a request comes or ends. */
  waitFor(condition: () => boolean, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

interface Script {
  steps: ScriptStep[];
  title?: Step;
  strict: boolean;
  next: number;
}

const KEY = /\[\[([A-Za-z0-9_.-]+)\]\]/g;
const DEFAULT_MODELS = ["practice-1"];

/** Starts the model on a free port. `close()` must be called. */
export function startPracticeModel(options: PracticeModelOptions = {}): Promise<PracticeModel> {
  const scripts = new Map<string, Script>();
  const records: ModelRequest[] = [];
  let count = 0;
  const watchers = new Set<() => void>();
  const changed = () => {
    for (const watcher of watchers) watcher();
  };

  const chat = async (exchange: Exchange) => {
    let body: ChatBody;
    try {
      body = JSON.parse(new TextDecoder().decode(exchange.body));
      if (!Array.isArray(body.messages)) throw new TypeError("messages");
    } catch {
      return await refuse(
        exchange,
        400,
        "The body is not a chat completion request.",
        "invalid_request_error",
      );
    }
    const record = newRecord(count++, exchange, body);
    records.push(record);
    if (records.length > (options.keep ?? 5000)) records.shift();
    changed();
    const end = (fate: ModelRequest["fate"], reason = "") => {
      Object.assign(record, { fate, reason, endedAt: Date.now() });
      changed();
    };
    if (options.models && !options.models.includes(body.model)) {
      end("refused", "unknown model");
      const message = `The model \`${body.model}\` does not exist.`;
      return await refuse(exchange, 404, message, "invalid_request_error", "model_not_found");
    }
    const script = scripts.get(record.key) ?? scripts.get("default");
    const strict = script?.strict ?? options.strict ?? true;
    const why = strict ? refusal(body.messages) : null;
    if (why) {
      end("refused", why);
      return await refuse(exchange, 400, why, "invalid_request_error");
    }
    const left = () => {
      if (record.fate === "open") end("cut");
    };
    exchange.signal.addEventListener("abort", left, { once: true });
    try {
      const step = stepFor(script, record) ?? brainStep(body, record, options.wordDelay ?? 0);
      const play = { exchange, body, number: record.n, step };
      await (record.stream ? playStream(play) : playWhole(play));
      if (record.fate === "open") end("done");
    } finally {
      exchange.signal.removeEventListener("abort", left);
      // Writing failed because the client was gone.
      if (record.fate === "open") end("cut");
    }
  };

  const server = serveHttp(async (exchange) => {
    const { pathname } = exchange.url;
    const key = /^Bearer\s+(.+)$/i.exec(exchange.headers.get("authorization") ?? "")?.[1];
    if (options.apiKey !== undefined && key !== options.apiKey) {
      return await refuse(
        exchange,
        401,
        "Incorrect API key provided.",
        "invalid_request_error",
        "invalid_api_key",
      );
    }
    if (pathname === "/v1/models" && exchange.method === "GET") {
      const data = (options.models ?? DEFAULT_MODELS).map((id) => ({
        id,
        object: "model",
        created: 1,
        owned_by: "practice",
      }));
      return await exchange.respond(Response.json({ object: "list", data }));
    }
    if (pathname !== "/v1/chat/completions" || exchange.method !== "POST") {
      return await refuse(
        exchange,
        404,
        `There is nothing at ${exchange.method} ${pathname}.`,
        "invalid_request_error",
      );
    }
    await chat(exchange);
  }, { hostname: options.hostname, port: options.port });

  async function refuse(
    exchange: Exchange,
    status: number,
    message: string,
    type: string,
    code: string | null = null,
  ) {
    await playStatus(exchange, { status, body: { error: { message, type, param: null, code } } });
  }

  function stepFor(script: Script | undefined, { title, body }: ModelRequest): Step | null {
    if (!script) return null;
    if (title) return script.title ?? text("Scripted title");
    if (body.tool_choice === "none") return text("ok");
    const step = script.steps[Math.min(script.next, script.steps.length - 1)];
    script.next++;
    if (!step) return text("ok");
    return typeof step === "function" ? step(body) : step;
  }

  return Promise.resolve({
    url: `${server.url}/v1`,
    script(key, steps, more = {}) {
      scripts.set(key, { steps, title: more.title, strict: more.strict ?? options.strict ?? true, next: 0 });
      return `[[${key}]]`;
    },
    requests: (key) => records.filter((record) => key === undefined || record.key === key),
    openRequests: () => records.filter((record) => record.fate === "open").length,
    waitFor: (condition, signal) => waitFor(watchers, condition, signal),
    close: () => server.close(),
  });
}

function newRecord(n: number, exchange: Exchange, body: ChatBody): ModelRequest {
  return {
    n,
    key: keyOf(body),
    title: (body.tools ?? []).length === 0,
    stream: body.stream === true,
    headers: Object.fromEntries(exchange.headers),
    body,
    at: Date.now(),
    endedAt: null,
    fate: "open",
    reason: "",
  };
}

/** The last key in the user's messages, else in any message. */
function keyOf({ messages }: ChatBody): string {
  for (const usersOnly of [true, false]) {
    for (const message of messages.toReversed()) {
      if (usersOnly && message.role !== "user") continue;
      const key = [...contentOf(message).matchAll(KEY)].at(-1)?.[1];
      if (key) return key;
    }
  }
  return "";
}

function waitFor(watchers: Set<() => void>, condition: () => boolean, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      watchers.delete(look);
      signal?.removeEventListener("abort", stop);
      if (signal?.aborted) reject(signal.reason);
    };
    const look = () => {
      if (!condition()) return;
      stop();
      resolve();
    };
    watchers.add(look);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    look();
  });
}

/** The brain's answer as a step: words at a pace, tool calls in fragments, usage counted at four characters a token. */
function brainStep(body: ChatBody, { title }: ModelRequest, delay: number): Step {
  const thought = title ? { text: titleFor(body), calls: [] } : think(body);
  const input = Math.ceil(JSON.stringify(body.messages).length / 4);
  const output = Math.ceil((thought.text.length + JSON.stringify(thought.calls).length) / 4);
  const use: [number, number] = [input, output];
  // Spaces stay with the word before them.
  const words = thought.text.match(/\s*\S+/g) ?? [];
  if (thought.calls.length === 0) return text(words, { ms: delay, use });
  const calls = toolCalls(thought.calls, { order: "interleaved", fragment: 24, use });
  const said: Action[] = words.flatMap((piece) => [
    ...(delay ? [{ sleep: delay }] : []),
    ...fragments(piece, 200).map((content) => ({ delta: { content } })),
  ]);
  return [calls[0]!, ...said, ...calls.slice(1)];
}
