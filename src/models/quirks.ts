// What an endpoint turned out to refuse or to need. Learned from its 400 answers, so that a request it would refuse
// is made at most once; kept in memory by address and model, never with a key.
import type { Endpoint } from "../domain/endpoint.ts";
import type { ModelError } from "./model_error.ts";

/** Differences from OpenAI's own behaviour; all off for an endpoint not met before. */
export interface Quirks {
  /** Refuses `stream_options`. */
  noStreamOptions?: boolean;
  noTemperature?: boolean;
  /** Which field limits the answer's length. */
  limitField: "max_tokens" | "max_completion_tokens";
  /** Refuses `content: null` beside tool calls: an empty string is sent. */
  emptyContent?: boolean;
  /** Has no system role: its text goes in front of the first user message. */
  noSystemRole?: boolean;
  /** Wants user and assistant to alternate strictly: neighbours of the same role are joined. */
  alternate?: boolean;
  /** Refuses `tool_choice`. */
  noToolChoice?: boolean;
  /** Most tokens of an answer that may be asked for. */
  maxOutput?: number;
  /** Refuses marks of what is to be cached (Anthropic's API elsewhere). */
  noCache?: boolean;
  /** Sends `reasoning_content` and wants it back while a turn's tool calls go on (DeepSeek). */
  returnReasoning?: boolean;
}

const MOST = 256;
const known = new Map<string, Quirks>();

/** Models that think before they answer, by name: they refuse `temperature` and `max_tokens`. */
export function isReasoningModel(model: string): boolean {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return /^o[1-9]\d?(-|$)/.test(name) || (/^gpt-[5-9]/.test(name) && !/^gpt-\d+(\.\d+)?-chat/.test(name));
}

/** The quirks of a model at an endpoint; the same object for the same pair. */
export function quirksOf(endpoint: Endpoint, model: string): Quirks {
  const key = `${endpoint.baseUrl} ${model}`;
  const found = known.get(key);
  if (found) return found;
  const reasoning = isReasoningModel(model);
  const quirks: Quirks = {
    noTemperature: reasoning,
    limitField: reasoning ? "max_completion_tokens" : "max_tokens",
  };
  if (known.size >= MOST) known.delete(known.keys().next().value!);
  known.set(key, quirks);
  return quirks;
}

/**
 * Learns from a refusal. True when something was learned that changes the request, so that asking again makes
 * sense; each quirk is learned once per call (`learned` holds their names), so this ends.
 */
export function learn(quirks: Quirks, failure: ModelError, request: Request, learned: Set<string>): boolean {
  if (failure.status !== 400 && failure.status !== 422) return false;
  if (failure.kind !== "refused" && !(failure.kind === "no_tools" && request.tool_choice)) return false;
  const text = failure.detail;
  for (const [name, applies, change] of LESSONS) {
    if (learned.has(name) || !applies(text, request, quirks)) continue;
    learned.add(name);
    change(quirks, text);
    return true;
  }
  return false;
}

/** The parts of a request that decide which lesson a refusal can teach. */
export interface Request {
  stream_options?: unknown;
  tool_choice?: unknown;
  temperature?: unknown;
  max_tokens?: unknown;
  max_completion_tokens?: unknown;
  messages: { role: string; content: unknown; reasoning_content?: string }[];
}

/** From Anthropic's `max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for …`. */
function outputLimit(text: string): number {
  return Number(/max_tokens: \d+ > (\d+)/.exec(text)?.[1] ?? NaN);
}

type Lesson = [
  name: string,
  applies: (text: string, request: Request, quirks: Quirks) => boolean,
  change: (quirks: Quirks, text: string) => void,
];

// The order matters: field names first, vague words last.
const LESSONS: Lesson[] = [
  [
    "tool_choice",
    (text, request) => request.tool_choice !== undefined && /tool.?choice/i.test(text),
    (quirks) => quirks.noToolChoice = true,
  ],
  [
    "stream_options",
    (text, request) => request.stream_options !== undefined && /stream_options|include_usage/.test(text),
    (quirks) => quirks.noStreamOptions = true,
  ],
  [
    "limit",
    (text, request) =>
      (request.max_tokens ?? request.max_completion_tokens) !== undefined &&
      /max_completion_tokens|max_tokens/.test(text) &&
      /instead|unsupported|not support|unknown|unrecognized|unexpected|extra|not (allowed|permitted)/i.test(
        text,
      ),
    (quirks) =>
      quirks.limitField = quirks.limitField === "max_tokens" ? "max_completion_tokens" : "max_tokens",
  ],
  [
    "output",
    (text, request) => Number(request.max_tokens) > outputLimit(text),
    (quirks, text) => quirks.maxOutput = outputLimit(text),
  ],
  [
    "cache",
    (text) => /cache_control/.test(text),
    (quirks) => quirks.noCache = true,
  ],
  [
    "temperature",
    (text, request) => request.temperature !== undefined && /temperature/i.test(text),
    (quirks) => quirks.noTemperature = true,
  ],
  [
    "reasoning_content",
    (text) => /reasoning_content|reasoning content/.test(text),
    (quirks, text) => quirks.returnReasoning = /missing|must|required|need|passed back/i.test(text),
  ],
  [
    "alternate",
    (text) => /alternat/i.test(text),
    (quirks) => quirks.alternate = true,
  ],
  [
    "system",
    (text, request) =>
      request.messages.some((message) => message.role === "system") &&
      /system/i.test(text) && /role|support|allow/i.test(text),
    (quirks) => quirks.noSystemRole = true,
  ],
  [
    "content",
    (text, request) =>
      request.messages.some((message) => message.content === null) && /content|null|none/i.test(text),
    (quirks) => quirks.emptyContent = true,
  ],
];
