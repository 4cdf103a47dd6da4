// Counts tokens as cl100k_base does (contract section 7). The vocabulary is loaded at first use; what cannot be
// counted exactly in reasonable time is estimated from what could.
import { Buffer } from "node:buffer";
import type { BaseMessage } from "@langchain/core/messages";
import type { ToolSpec } from "../models/wire_messages.ts";
import { toolCallsOf } from "../models/tool_calls.ts";
import { contentText } from "../models/content_text.ts";

interface Encoding {
  split: RegExp;
  count(piece: string): number;
}

// The merges of one piece take time quadratic in its length, so a longer run of letters, signs or spaces is cut. No
// ordinary word or ruler line is that long.
const MAX_PIECE = 256;
/** Characters of rare pieces that one text may have merged: about 0.1 s of work. The rest is estimated from them. */
const MAX_MERGED = 100_000;
const MAX_SAMPLE = 20_000;
const MAX_MEMO = 20_000;
const MAX_MEMO_PIECE = 32;

let loading: Promise<void> | undefined;
let encoding: Encoding | undefined;
const memo = new Map<string, number>();

/** Loads the vocabulary (about 0.2 s, once). Await it before counting. */
export function warmUp(): Promise<void> {
  return loading ??= load();
}

async function load(): Promise<void> {
  const [{ countTokens, setMergeCacheSize }, { CL100K_TOKEN_SPLIT_REGEX }] = await Promise.all([
    import("gpt-tokenizer/encoding/cl100k_base"),
    import("gpt-tokenizer/encodingParams/constants"),
  ]);
  // Our own memo of short pieces stands in for its cache, whose entries keep whole texts alive.
  setMergeCacheSize(0);
  const asText = { disallowedSpecial: new Set<string>() };
  encoding = { split: CL100K_TOKEN_SPLIT_REGEX, count: (piece) => countTokens(piece, asText) };
}

/** True when counting is possible. */
export function isWarm(): boolean {
  return encoding !== undefined;
}

/**
 * Tokens of a text; special-token text counts as the plain text it is. Exact for ordinary text of any size; within a
 * few percent where a text has very long runs or more than 100,000 characters of rare words. Throws before `warmUp`.
 */
export function countTokens(text: string): number {
  if (!encoding) throw new Error("Token counting was used before warmUp().");
  if (text === "") return 0;
  const { split, count } = encoding;
  let total = 0;
  const merged = { chars: 0, tokens: 0 };
  for (const piece of text.match(split) ?? []) {
    let tokens = memo.get(piece);
    if (tokens === undefined) {
      if (merged.chars > MAX_MERGED) {
        total += piece.length * (merged.tokens / merged.chars);
        continue;
      }
      tokens = countPiece(piece, count, merged);
      remember(piece, tokens);
    }
    total += tokens;
  }
  return Math.round(total);
}

/** Counts a piece that is not remembered; adds the work done to `merged`. A very long piece is counted by sample. */
function countPiece(
  piece: string,
  count: (piece: string) => number,
  merged: { chars: number; tokens: number },
): number {
  const step = Math.max(1, Math.ceil(piece.length / MAX_SAMPLE));
  let chars = 0;
  let tokens = 0;
  for (let at = 0; at < piece.length; at += step * MAX_PIECE) {
    const part = piece.slice(at, at + MAX_PIECE);
    chars += part.length;
    tokens += count(part);
  }
  merged.chars += chars;
  merged.tokens += tokens;
  return tokens * (piece.length / chars);
}

function remember(piece: string, tokens: number): void {
  if (piece.length > MAX_MEMO_PIECE) return;
  if (memo.size >= MAX_MEMO) memo.clear();
  // A piece cut out of a text keeps the whole text in memory; joined anew it stands alone.
  memo.set(piece.length < 13 ? piece : piece.split("").join(""), tokens);
}

/** What every message costs beside its content: role and separators. */
const PER_MESSAGE = 4;
/** What a tool call costs beside its name and arguments. */
const PER_CALL = 6;
/** An image, at middling detail. */
const PER_IMAGE = 800;

interface Counted {
  content: unknown;
  calls: unknown;
  tokens: number;
}

const counted = new WeakMap<BaseMessage, Counted>();

/** The count of a message if it was counted before and has not changed since. */
export function knownCount(message: BaseMessage): number | undefined {
  const found = counted.get(message);
  // LangGraph may fill in a message in place.
  return found && found.content === message.content && found.calls === callsField(message)
    ? found.tokens
    : undefined;
}

/** Tokens of a message: content, name, tool calls and the overhead of a message. Remembered by message object. */
export function countMessage(message: BaseMessage): number {
  const known = knownCount(message);
  if (known !== undefined) return known;
  let tokens = PER_MESSAGE + countContent(message.content);
  if (message.name) tokens += 1 + countTokens(message.name);
  for (const call of toolCallsOf(message)) {
    tokens += PER_CALL + countTokens(call.name) + countTokens(call.argumentsText);
  }
  counted.set(message, { content: message.content, calls: callsField(message), tokens });
  return tokens;
}

/** Size of a message in UTF-8 bytes; no message has more tokens than bytes, plus its overhead. */
export function messageBytes(message: BaseMessage): number {
  const { content } = message;
  let bytes = Buffer.byteLength(contentText(content));
  for (const call of toolCallsOf(message)) {
    bytes += Buffer.byteLength(call.name) + Buffer.byteLength(call.argumentsText);
  }
  return bytes;
}

function callsField(message: BaseMessage): unknown {
  return (message as { tool_calls?: unknown }).tool_calls;
}

function countContent(content: BaseMessage["content"]): number {
  if (typeof content === "string") return countTokens(content);
  let tokens = 0;
  for (const part of content) {
    if (part.type === "text" && typeof part.text === "string") tokens += countTokens(part.text);
    else tokens += part.type.startsWith("image") ? PER_IMAGE : countTokens(JSON.stringify(part));
  }
  return tokens;
}

const countedTools = new WeakMap<readonly ToolSpec[], number>();
const TOOLS_FALLBACK = 1000;

/** Tokens of tool definitions, as JSON; 1,000 when they cannot be counted (seed 003). Remembered by array. */
export function countToolTokens(tools: readonly ToolSpec[]): number {
  if (tools.length === 0) return 0;
  let tokens = countedTools.get(tools);
  if (tokens === undefined) {
    try {
      tokens = countTokens(JSON.stringify(tools.map((tool) => ({ type: "function", function: tool }))));
    } catch {
      return TOOLS_FALLBACK;
    }
    countedTools.set(tools, tokens);
  }
  return tokens;
}

const countedTexts = new Map<string, number>();
const MAX_TEXTS = 32;

/** As `countTokens`, remembered for the last few texts: for prompts, which are counted again and again. */
export function countText(text: string): number {
  let tokens = countedTexts.get(text);
  if (tokens === undefined) {
    tokens = countTokens(text);
    if (countedTexts.size >= MAX_TEXTS) countedTexts.delete(countedTexts.keys().next().value!);
    countedTexts.set(text, tokens);
  }
  return tokens;
}
