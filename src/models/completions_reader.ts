// Reads the `chat.completion.chunk` objects of OpenAI's Chat Completions API, whichever fields a server leaves out, sets to
// null or spells its own way.
import { isDeeper } from "../domain/json.ts";
import {
  answers,
  argumentsText,
  type ChunkReader,
  isObject,
  type Json,
  type ModelDelta,
  type ModelUsage,
  shortName,
  tokenCount,
  type ToolCallDelta,
} from "./delta.ts";
import { explainJson } from "./endpoint_fetch.ts";
import { kindOf, ModelError } from "./model_error.ts";
import { thinkSplitter } from "./think_splitter.ts";

/** A reader for one answer. */
export function completionsReader(): ChunkReader {
  const splitter = thinkSplitter();
  let usage: ModelUsage | undefined;

  const addText = (text: string, out: ModelDelta[]) => {
    for (const delta of splitter.push(text)) out.push(delta);
  };

  const reader: ChunkReader = {
    finishReason: undefined,
    ended: false,
    // Many servers just stop.
    cut: false,
    answered: false,
    reasoningContent: false,
    read(chunk, event, out) {
      if (typeof chunk !== "object" || chunk === null) return;
      const data = chunk as Json;
      if (event === "error" || isFailure(data.error) || isBareError(data)) throw streamError(data);
      const choice = choiceOf(data.choices);
      // Groq and Moonshot have places of their own for it.
      const reported = data.usage ?? detail(data.x_groq, "usage") ?? choice?.usage;
      if (isObject(reported)) usage = usageOf(reported) ?? usage;
      if (!choice) return;
      if (isFailure(choice.error) || choice.finish_reason === "error") throw streamError(choice);
      const delta = choice.delta ?? choice.message;
      if (isObject(delta)) {
        const first = out.length;
        readDelta(delta, reader, addText, out);
        for (let at = first; at < out.length && !reader.answered; at++) {
          reader.answered = answers(out[at]!);
        }
      }
      if (typeof choice.finish_reason === "string" && choice.finish_reason) {
        reader.finishReason = choice.finish_reason;
      }
    },
    end(out) {
      for (const delta of splitter.end()) {
        reader.answered ||= answers(delta);
        out.push(delta);
      }
      if (reader.finishReason) out.push({ finishReason: reader.finishReason });
      if (usage) out.push({ usage });
    },
  };
  return reader;
}

/** Of several choices only the first counts; nobody asked for more. */
function choiceOf(choices: unknown): Json | undefined {
  const list = Array.isArray(choices) ? choices : [choices];
  return list.find((choice): choice is Json => isObject(choice) && Number(choice.index ?? 0) === 0);
}

/** Whether a field `error` says that something went wrong: some servers send an empty one with every chunk. */
function isFailure(error: unknown): boolean {
  if (typeof error === "string") return error.trim() !== "";
  return Array.isArray(error) ? error.length > 0 : isObject(error) && Object.keys(error).length > 0;
}

/** An error without a field `error`: vLLM's `{object: "error", message}`, FastAPI's `{detail}`, `{code, message}`. */
function isBareError(data: Json): boolean {
  if (data.choices !== undefined || data.usage) return false;
  if (data.object === "error" || data.type === "error") return true;
  const said = [data.message, data.detail, data.msg, data.error_msg].some((text) =>
    typeof text === "string" && text !== ""
  );
  return said && (data.detail !== undefined || [data.code, data.error_code, data.status].some(isFailureCode));
}

function isFailureCode(code: unknown): boolean {
  return typeof code === "number"
    ? code >= 400
    : typeof code === "string" && !/^(0|2\d\d|ok|success)?$/i.test(code);
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
  if (typeof content === "string" || typeof content === "number") {
    if (content !== "") addText(String(content), out);
  } else if (content) {
    readParts(content, addText, out);
  }
  if (typeof delta.refusal === "string" && delta.refusal) addText(delta.refusal, out);
  if (delta.tool_calls) {
    const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [delta.tool_calls];
    const toolCalls = calls.filter(isObject).map(callDelta).filter(saysAnything);
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
  levels = 3,
): void {
  for (const part of Array.isArray(content) ? content : [content]) {
    if (typeof part === "string") addText(part, out);
    else if (isObject(part) && typeof part.text === "string") addText(part.text, out);
    else if (isObject(part) && part.thinking && levels > 0) {
      readParts(part.thinking, addThought, out, levels - 1);
    }
  }
}

function addThought(text: string, out: ModelDelta[]): void {
  if (text) out.push({ reasoning: text });
}

/** An index alone is no call. */
function saysAnything({ id, name, args, extra }: ToolCallDelta): boolean {
  return (id ?? name ?? args ?? extra) !== undefined;
}

function callDelta(raw: Json): ToolCallDelta {
  const fn = (isObject(raw.function) ? raw.function : raw) as Json;
  const call: ToolCallDelta = {};
  const index = typeof raw.index === "string" ? Number(raw.index) : raw.index;
  if (Number.isInteger(index)) call.index = index as number;
  if (typeof raw.id === "string" && raw.id) call.id = shortName(raw.id);
  if (typeof fn.name === "string" && fn.name) call.name = shortName(fn.name);
  const args = fn.arguments;
  if (typeof args === "string") call.args = args;
  else if (args !== undefined && args !== null) call.args = argumentsText(args);
  if (raw.extra_content && !isDeeper(raw.extra_content)) call.extra = raw.extra_content;
  return call;
}

/** What a provider reports, or undefined where it cannot be true: then the tokens are counted here. */
function usageOf(raw: Json): ModelUsage | undefined {
  const input = tokenCount(raw.prompt_tokens ?? raw.input_tokens);
  const output = tokenCount(raw.completion_tokens ?? raw.output_tokens ?? 0);
  // Nothing can be said without having been asked.
  if (!input || output === undefined) return undefined;
  const cached = tokenCount(
    detail(raw.prompt_tokens_details, "cached_tokens") ?? raw.prompt_cache_hit_tokens,
  );
  const reasoning = tokenCount(detail(raw.completion_tokens_details, "reasoning_tokens"));
  return {
    input,
    output,
    ...(cached !== undefined && cached <= input ? { cached } : {}),
    ...(reasoning !== undefined ? { reasoning } : {}),
  };
}

function detail(details: unknown, name: string): unknown {
  return isObject(details) ? details[name] : undefined;
}

function streamError(data: Json): ModelError {
  const { message, code } = explainJson(data.error ?? data);
  const status = Number(/\b[45]\d\d\b/.exec(code)?.[0] ?? 0);
  return new ModelError(kindOf(status, `${code} ${message}`), message, { status: status || undefined });
}
