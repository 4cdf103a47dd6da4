// What a model streams, in one shape for all providers: the pieces of `chat.completion.chunk` objects, whichever
// fields a server leaves out, sets to null or spells its own way.
import { isDeeper } from "../domain/json.ts";
import { explainJson } from "./endpoint_fetch.ts";
import { kindOf, ModelError } from "./model_error.ts";
import { thinkSplitter } from "./think_splitter.ts";

/** A fragment of a tool call. A server may leave out anything; `tool_call_accumulator.ts` puts them together. */
export interface ToolCallDelta {
  index?: number;
  id?: string;
  name?: string;
  args?: string;
  /** Opaque data to send back with the call (Gemini's thought signatures). */
  extra?: unknown;
}

/** Tokens of one model call, as the provider reports them. */
export interface ModelUsage {
  input: number;
  output: number;
  cached?: number;
  reasoning?: number;
}

/** A piece of an answer. `finishReason` and `usage` come at most once, last. */
export interface ModelDelta {
  text?: string;
  reasoning?: string;
  toolCalls?: ToolCallDelta[];
  finishReason?: string;
  usage?: ModelUsage;
}

type Json = Record<string, unknown>;

/** Reads the chunks of one answer. `read` appends to `out`; `end` gives what was held back. */
export interface ChunkReader {
  read(chunk: unknown, event: string, out: ModelDelta[]): void;
  end(out: ModelDelta[]): void;
  finishReason: string | undefined;
  /** The answer has text that is not blank, or a call. */
  answered: boolean;
  /** The server uses DeepSeek's field for the model's reasoning. */
  reasoningContent: boolean;
}

/** A reader for one answer. `read` throws `ModelError` for an error that arrives inside the stream. */
export function chunkReader(): ChunkReader {
  const splitter = thinkSplitter();
  let usage: ModelUsage | undefined;

  const addText = (text: string, out: ModelDelta[]) => {
    for (const delta of splitter.push(text)) out.push(delta);
  };

  const reader: ChunkReader = {
    finishReason: undefined,
    answered: false,
    reasoningContent: false,
    read(chunk, event, out) {
      if (typeof chunk !== "object" || chunk === null) return;
      const data = chunk as Json;
      if (data.error || event === "error") throw streamError(data);
      const reported = data.usage ?? (data.x_groq as Json | undefined)?.usage;
      if (reported) usage = usageOf(reported as Json) ?? usage;
      const choice = (data.choices as Json[] | null | undefined)?.[0];
      if (!choice) return;
      const delta = (choice.delta ?? choice.message) as Json | null | undefined;
      if (delta) {
        const first = out.length;
        readDelta(delta, reader, addText, out);
        for (let at = first; at < out.length && !reader.answered; at++) {
          reader.answered = out[at]!.toolCalls !== undefined || /\S/.test(out[at]!.text ?? "");
        }
      }
      if (typeof choice.finish_reason === "string" && choice.finish_reason) {
        reader.finishReason = choice.finish_reason;
      }
    },
    end(out) {
      for (const delta of splitter.end()) {
        reader.answered ||= /\S/.test(delta.text ?? "");
        out.push(delta);
      }
      if (reader.finishReason) out.push({ finishReason: reader.finishReason });
      if (usage) out.push({ usage });
    },
  };
  return reader;
}

function readDelta(
  delta: Json,
  reader: ChunkReader,
  addText: (text: string, out: ModelDelta[]) => void,
  out: ModelDelta[],
): void {
  const thought = delta.reasoning_content ?? delta.reasoning;
  if (typeof thought === "string" && thought) {
    if (typeof delta.reasoning_content === "string") reader.reasoningContent = true;
    out.push({ reasoning: thought });
  }
  const content = delta.content;
  if (typeof content === "string") {
    if (content) addText(content, out);
  } else if (content) {
    readParts(content, addText, out);
  }
  if (typeof delta.refusal === "string" && delta.refusal) addText(delta.refusal, out);
  if (delta.tool_calls) {
    const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [delta.tool_calls];
    const toolCalls = calls.filter(isObject).map(callDelta);
    if (toolCalls.length > 0) out.push({ toolCalls });
  } else if (isObject(delta.function_call)) {
    out.push({ toolCalls: [callDelta({ index: 0, function: delta.function_call })] });
  }
}

/** Content that comes as parts: OpenAI's `{type: "text", text}`, Mistral's `{type: "thinking", thinking: […]}`. */
function readParts(
  content: unknown,
  addText: (text: string, out: ModelDelta[]) => void,
  out: ModelDelta[],
): void {
  for (const part of Array.isArray(content) ? content : [content]) {
    if (typeof part === "string") addText(part, out);
    else if (isObject(part) && typeof part.text === "string") addText(part.text, out);
    else if (isObject(part) && part.thinking) {
      const inner: ModelDelta[] = [];
      readParts(part.thinking, (text, to) => to.push({ reasoning: text }), inner);
      out.push(...inner);
    }
  }
}

function callDelta(raw: Json): ToolCallDelta {
  const fn = (isObject(raw.function) ? raw.function : raw) as Json;
  const call: ToolCallDelta = {};
  const index = typeof raw.index === "string" ? Number(raw.index) : raw.index;
  if (Number.isInteger(index)) call.index = index as number;
  if (typeof raw.id === "string" && raw.id) call.id = raw.id;
  if (typeof fn.name === "string" && fn.name) call.name = fn.name;
  const args = fn.arguments;
  if (typeof args === "string") call.args = args;
  else if (args !== undefined && args !== null) call.args = argumentsText(args);
  if (raw.extra_content && !isDeeper(raw.extra_content)) call.extra = raw.extra_content;
  return call;
}

/** Arguments that came as a value instead of as text. */
function argumentsText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested so deeply that it cannot be written: the tool tells the model that this is no JSON.
    return "(nested too deeply)";
  }
}

function usageOf(raw: Json): ModelUsage | undefined {
  const input = count(raw.prompt_tokens ?? raw.input_tokens) ?? 0;
  const output = count(raw.completion_tokens ?? raw.output_tokens) ?? 0;
  if (input === 0 && output === 0) return undefined;
  const usage: ModelUsage = { input, output };
  const cached = count((raw.prompt_tokens_details as Json | undefined)?.cached_tokens) ??
    count(raw.prompt_cache_hit_tokens);
  const reasoning = count((raw.completion_tokens_details as Json | undefined)?.reasoning_tokens);
  if (cached !== undefined) usage.cached = cached;
  if (reasoning !== undefined) usage.reasoning = reasoning;
  return usage;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined;
}

function streamError(data: Json): ModelError {
  const { message, code } = explainJson(data.error ?? data);
  const status = Number(/\b[45]\d\d\b/.exec(code)?.[0] ?? 0);
  return new ModelError(kindOf(status, `${code} ${message}`), message, { status: status || undefined });
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
