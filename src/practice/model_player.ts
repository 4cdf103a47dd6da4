// Plays a scripted answer on a connection, as a stream or as one body.
import type { BodyWriter, Exchange } from "./http1.ts";
import type { Action, ChatBody, Step } from "./model_script.ts";
import { sleep } from "./timing.ts";

/** Chunks without a pause between them go out together once they are this many characters. */
const FLUSH_AT = 32 * 1024;
const CREATED = 1_700_000_000;

const WORDS = ["alpha", "beta", "gamma", "delta", "node", "link", "port", "vlan", "ospf", "bgp"];

function word(index: number): string {
  return `${index === 0 ? "" : " "}${WORDS[index % WORDS.length]}`;
}

/** One answer to a request; `number` is the request's. */
export interface Play {
  exchange: Exchange;
  body: ChatBody;
  number: number;
  step: Step;
}

/** Answers as a stream of events. Throws when the client leaves. */
export async function playStream(play: Play): Promise<void> {
  const stream = new EventStream(play);
  for (const action of play.step) {
    if ("status" in action) return await playStatus(play.exchange, action);
    if ("cut" in action) {
      await stream.flush();
      // What was written must have left before the connection goes.
      await sleep(20);
      return play.exchange.cut();
    }
    await stream.act(action);
  }
  await stream.end();
}

export async function playStatus(
  exchange: Exchange,
  { status, headers, body = "" }: Extract<Action, { status: number }>,
): Promise<void> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  await exchange.respond(
    new Response(text, { status, headers: { "content-type": "application/json", ...headers } }),
  );
}

class EventStream {
  #writer: BodyWriter | null = null;
  #waiting: string[] = [];
  #size = 0;
  #done = false;
  readonly #play: Play;
  readonly #head: string;
  readonly #encoder = new TextEncoder();

  constructor(play: Play) {
    this.#play = play;
    const model = JSON.stringify(play.body.model ?? "practice");
    this.#head =
      `data: {"id":"chatcmpl-${play.number}","object":"chat.completion.chunk","created":${CREATED},"model":${model},"choices":`;
  }

  async act(action: Exclude<Action, { status: number } | { cut: true }>): Promise<void> {
    const { exchange, body, number } = this.#play;
    if ("delta" in action) {
      const delta = JSON.stringify(action.delta).replaceAll("@N@", String(number));
      await this.#put(this.#delta(delta, action.finish));
    } else if ("choices" in action) await this.#put(`${this.#head}${JSON.stringify(action.choices)}}\n\n`);
    else if ("usage" in action) {
      if (!body.stream_options?.include_usage && !action.force) return;
      await this.#put(`${this.#head}[],"usage":${JSON.stringify(action.usage)}}\n\n`);
    } else if ("bytes" in action) {
      await this.flush();
      await (await this.#open()).write(
        typeof action.bytes === "string" ? this.#encoder.encode(action.bytes) : action.bytes,
      );
    } else if ("words" in action) await this.#words(action.words, action.ms ?? 0);
    else if ("sleep" in action) {
      await this.flush();
      await sleep(action.sleep, exchange.signal);
    } else if ("hang" in action) {
      await this.flush();
      await new Promise((_, leave) => {
        const gone = () => leave(exchange.signal.reason);
        if (exchange.signal.aborted) gone();
        exchange.signal.addEventListener("abort", gone, { once: true });
      });
    } else if ("done" in action) {
      this.#done = true;
      await this.#put("data: [DONE]\n\n");
    } else this.#done = true;
  }

  #delta(delta: string, finish?: string): string {
    const reason = finish === undefined ? "null" : JSON.stringify(finish);
    return `${this.#head}[{"index":0,"delta":${delta},"finish_reason":${reason}}]}\n\n`;
  }

  async #words(count: number, ms: number): Promise<void> {
    const { signal } = this.#play.exchange;
    if (ms) await this.flush();
    const began = performance.now();
    for (let i = 0; i < count; i++) {
      if (ms) {
        // By the clock, so that late timers do not add up.
        const wait = began + (i + 1) * ms - performance.now();
        if (wait > 0) await sleep(wait, signal);
      }
      await this.#put(this.#delta(`{"content":${JSON.stringify(word(i))}}`));
      if (ms) await this.flush();
    }
  }

  async #open(): Promise<BodyWriter> {
    this.#writer ??= await this.#play.exchange.begin(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
    });
    return this.#writer;
  }

  async #put(text: string): Promise<void> {
    this.#waiting.push(text);
    this.#size += text.length;
    if (this.#size >= FLUSH_AT) await this.flush();
  }

  async flush(): Promise<void> {
    this.#play.exchange.signal.throwIfAborted();
    if (this.#size === 0) return;
    const bytes = this.#encoder.encode(this.#waiting.join(""));
    this.#waiting = [];
    this.#size = 0;
    await (await this.#open()).write(bytes);
  }

  async end(): Promise<void> {
    if (!this.#done) await this.#put("data: [DONE]\n\n");
    await this.flush();
    await (await this.#open()).end();
  }
}

interface WholeCall {
  id?: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** Answers a request that did not ask for a stream: the deltas put together. */
export async function playWhole({ exchange, body, number, step }: Play): Promise<void> {
  const message: { role: string; content: string; tool_calls?: WholeCall[]; reasoning_content?: string } = {
    role: "assistant",
    content: "",
  };
  let finish = "stop";
  let usage: unknown = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  for (const action of step) {
    if ("status" in action) return await playStatus(exchange, action);
    if ("cut" in action) return exchange.cut();
    if ("sleep" in action) await sleep(action.sleep, exchange.signal);
    if ("hang" in action) {
      await new Promise<void>((end) =>
        exchange.signal.addEventListener("abort", () => end(), { once: true })
      );
    }
    if ("words" in action) {
      await sleep((action.ms ?? 0) * action.words, exchange.signal);
      message.content += Array.from({ length: action.words }, (_, i) => word(i)).join("");
    }
    if ("usage" in action) usage = action.usage;
    if ("delta" in action) {
      addDelta(message, JSON.parse(JSON.stringify(action.delta).replaceAll("@N@", String(number))));
      finish = action.finish ?? finish;
    }
  }
  exchange.signal.throwIfAborted();
  await exchange.respond(Response.json({
    id: `chatcmpl-${number}`,
    object: "chat.completion",
    created: CREATED,
    model: body.model,
    choices: [{ index: 0, message, finish_reason: finish }],
    usage,
  }));
}

interface Delta {
  content?: string | null;
  reasoning_content?: string;
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
}

function addDelta(
  message: { content: string; tool_calls?: WholeCall[]; reasoning_content?: string },
  delta: Delta,
): void {
  message.content += delta.content ?? "";
  if (delta.reasoning_content) {
    message.reasoning_content = (message.reasoning_content ?? "") + delta.reasoning_content;
  }
  for (const part of delta.tool_calls ?? []) {
    message.tool_calls ??= [];
    const starts = part.function?.name !== undefined;
    const at = part.index ?? (starts ? message.tool_calls.length : message.tool_calls.length - 1);
    const call = message.tool_calls[at] ??= { type: "function", function: { name: "", arguments: "" } };
    if (part.id) call.id = part.id;
    call.function.name += part.function?.name ?? "";
    call.function.arguments += part.function?.arguments ?? "";
  }
}
