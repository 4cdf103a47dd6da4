// Reads the events of Anthropic's Messages API: blocks of text, thoughts and calls, each of which begins, grows and ends.
import {
  answers,
  argumentsText,
  type ChunkReader,
  isObject,
  type Json,
  type ModelDelta,
  type ModelUsage,
  shortName,
  type Thought,
  tokenCount,
} from "./delta.ts";
import { explainJson } from "./endpoint_fetch.ts";
import { kindOf, ModelError } from "./model_error.ts";
import { thinkSplitter } from "./think_splitter.ts";

/** The API's reasons for the end as the other protocol has them; one that is not here is an ordinary end. */
const FINISH: ReadonlyMap<string, string> = new Map([
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "content_filter"],
]);

/** The HTTP status that an error would have had outside of the stream. */
const STATUS: ReadonlyMap<string, number> = new Map([
  ["invalid_request_error", 400],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["api_error", 500],
  ["timeout_error", 504],
  ["overloaded_error", 529],
]);

const COUNTS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;

type Counts = Map<typeof COUNTS[number], number>;

/** A reader for one answer. */
export function messagesReader(): ChunkReader {
  const splitter = thinkSplitter();
  /** The counts as they were reported last; later events repeat only some. */
  const usage: Counts = new Map();
  /** The thought that is being given. */
  let thought: { chars: number; signature: string } | undefined;
  let began = false;

  const text = (given: unknown, out: ModelDelta[]) => {
    if (typeof given === "string" && given !== "") out.push(...splitter.push(given));
  };
  const think = (given: unknown, out: ModelDelta[]) => {
    if (typeof given !== "string" || given === "") return;
    thought ??= { chars: 0, signature: "" };
    thought.chars += given.length;
    out.push({ reasoning: given });
  };
  const thoughtEnds = (out: ModelDelta[], ended: Thought | undefined = thought) => {
    if (ended) out.push({ thought: ended });
    thought = undefined;
  };

  function begin(index: unknown, block: Json, out: ModelDelta[]): void {
    if (block.type === "text") text(block.text, out);
    else if (block.type === "thinking") {
      thought = { chars: 0, signature: typeof block.signature === "string" ? block.signature : "" };
      think(block.thinking, out);
    } else if (block.type === "redacted_thinking") {
      if (typeof block.data === "string") thoughtEnds(out, { data: block.data });
    } else if (block.type === "tool_use") {
      out.push({ toolCalls: [callOf(index, block)] });
    }
  }

  function grow(index: unknown, delta: Json, out: ModelDelta[]): void {
    if (delta.type === "text_delta") text(delta.text, out);
    else if (delta.type === "thinking_delta") think(delta.thinking, out);
    else if (delta.type === "signature_delta" && typeof delta.signature === "string") {
      thought ??= { chars: 0, signature: "" };
      thought.signature += delta.signature;
    } else if (delta.type === "input_json_delta" && typeof delta.partial_json === "string") {
      out.push({ toolCalls: [{ ...indexed(index), args: delta.partial_json }] });
    }
  }

  function whole(message: Json, out: ModelDelta[]): void {
    began = true;
    for (const [index, block] of (Array.isArray(message.content) ? message.content : []).entries()) {
      if (!isObject(block)) continue;
      begin(index, block, out);
      thoughtEnds(out);
    }
    stopped(message);
  }

  function report(given: unknown): void {
    for (const name of COUNTS) {
      const count = isObject(given) ? tokenCount(given[name]) : undefined;
      if (count !== undefined) usage.set(name, count);
    }
  }

  function stopped({ stop_reason }: Json): void {
    if (typeof stop_reason === "string") reader.finishReason = FINISH.get(stop_reason) ?? "stop";
  }

  function take(data: Json, type: unknown, out: ModelDelta[]): void {
    if (type === "error" || isObject(data.error)) throw streamError(data);
    report(data.usage);
    if (type === "message_start" && isObject(data.message)) {
      report(data.message.usage);
      whole(data.message, out);
    } else if (type === "message") whole(data, out);
    else if (type === "content_block_start" && isObject(data.content_block)) {
      begin(data.index, data.content_block, out);
    } else if (type === "content_block_delta" && isObject(data.delta)) grow(data.index, data.delta, out);
    else if (type === "content_block_stop") thoughtEnds(out);
    else if (type === "message_delta" && isObject(data.delta)) stopped(data.delta);
    else if (type === "message_stop") reader.ended = true;
  }

  const reader: ChunkReader = {
    finishReason: undefined,
    ended: false,
    get cut() {
      return began && !reader.ended && !reader.finishReason;
    },
    answered: false,
    reasoningContent: false,
    read(chunk, event, out) {
      if (!isObject(chunk) || reader.ended) return;
      const first = out.length;
      take(chunk, chunk.type ?? event, out);
      for (let at = first; at < out.length && !reader.answered; at++) reader.answered = answers(out[at]!);
    },
    end(out) {
      for (const delta of splitter.end()) {
        reader.answered ||= answers(delta);
        out.push(delta);
      }
      if (reader.finishReason) out.push({ finishReason: reader.finishReason });
      const reported = usageOf(usage);
      if (reported) out.push({ usage: reported });
    },
  };
  return reader;
}

function callOf(index: unknown, { id, name, input }: Json) {
  return {
    ...indexed(index),
    ...(typeof id === "string" && id ? { id: shortName(id) } : {}),
    ...(typeof name === "string" && name ? { name: shortName(name) } : {}),
    // Streamed calls begin with an empty object, and their input follows as text.
    ...(isObject(input) && Object.keys(input).length > 0 ? { args: argumentsText(input) } : {}),
  };
}

function indexed(index: unknown): { index?: number } {
  return Number.isInteger(index) ? { index: index as number } : {};
}

/** What was read from a cache or written to it counts as input, too: the API tells it apart. */
function usageOf(usage: Counts): ModelUsage | undefined {
  const fresh = usage.get("input_tokens");
  const output = usage.get("output_tokens");
  if (fresh === undefined || output === undefined) return undefined;
  const cached = usage.get("cache_read_input_tokens") ?? 0;
  const input = fresh + cached + (usage.get("cache_creation_input_tokens") ?? 0);
  return input > 0 ? { input, output, ...(cached > 0 ? { cached } : {}) } : undefined;
}

function streamError(data: Json): ModelError {
  const { message, code } = explainJson(data.error ?? data);
  const status = STATUS.get(code) ?? 0;
  return new ModelError(kindOf(status, `${code} ${message}`), message, { status: status || undefined });
}
