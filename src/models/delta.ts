// What a model streams, in one shape for all providers, and what a reader of a provider's events has to do.

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

/**
 * One thought that was given as reasoning, as its provider wants it back with the calls that follow it: how many
 * characters of the reasoning it has and its signature, or all of it encrypted.
 */
export type Thought = { chars: number; signature: string } | { data: string };

/** A piece of an answer. `finishReason` and `usage` come at most once, last. */
export interface ModelDelta {
  text?: string;
  reasoning?: string;
  toolCalls?: ToolCallDelta[];
  /** A thought has ended. */
  thought?: Thought;
  finishReason?: string;
  usage?: ModelUsage;
}

export type Json = Record<string, unknown>;

/** Reads the chunks of one answer. `read` appends to `out`; `end` gives what was held back. */
export interface ChunkReader {
  /** Throws `ModelError` for an error that arrives inside the stream. */
  read(chunk: unknown, event: string, out: ModelDelta[]): void;
  end(out: ModelDelta[]): void;
  finishReason: string | undefined;
  /** The protocol says that nothing follows. */
  ended: boolean;
  /** An answer has begun whose end the protocol has to tell, and has not told. */
  readonly cut: boolean;
  /** The answer has text that is not blank, or a call. */
  answered: boolean;
  /** The server uses DeepSeek's field for the model's reasoning. */
  reasoningContent: boolean;
}

/** Whether a piece is part of an answer: text that is not blank, or a call. */
export function answers({ text, toolCalls }: ModelDelta): boolean {
  return toolCalls !== undefined || /\S/.test(text ?? "");
}

/** No call takes more tokens than this; who says so is wrong. */
const MOST_TOKENS = 1_000_000_000;

/** A provider's number of tokens, or undefined for what cannot be one. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= MOST_TOKENS ? Math.round(value) : undefined;
}

const MOST_NAME = 200;

/** An id or a name that a provider gave: neither has a reason to be long. */
export function shortName(text: string): string {
  return text.slice(0, MOST_NAME).toWellFormed();
}

/** Arguments that came as a value instead of as text. */
export function argumentsText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested so deeply that it cannot be written: the tool tells the model that this is no JSON.
    return "(nested too deeply)";
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
