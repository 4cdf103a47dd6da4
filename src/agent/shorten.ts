// Makes a text or message fit into a number of tokens by leaving out its middle, and says how much was left out.
import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { contentText } from "../models/content_text.ts";
import { countMessage, countTokens } from "./tokens.ts";

/** Share of what is kept that stays at the beginning: headers say more than footers. */
const HEAD = 0.6;

/**
 * `text` cut in the middle so that it has at most `maxTokens`, with a note in place of the gap. The note itself is
 * always there, so that a very small `maxTokens` may be exceeded by it.
 */
export function shortenText(text: string, maxTokens: number): string {
  // Far more than could fit need not be counted to be known as too long.
  if (text.length <= maxTokens * 64 && countTokens(text) <= maxTokens) return text;
  let keep = Math.min(text.length, maxTokens * 4);
  for (let tries = 0; tries < 12; tries++) {
    const short = withoutMiddle(text, keep);
    const tokens = countTokens(short);
    if (tokens <= maxTokens || keep < 16) return short;
    keep = Math.floor(keep * Math.min(0.9, (maxTokens / tokens) * 0.98));
  }
  return withoutMiddle(text, 0);
}

function withoutMiddle(text: string, keep: number): string {
  const head = text.slice(0, Math.ceil(keep * HEAD)).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(text.length - (keep - Math.ceil(keep * HEAD))).replace(/^[\udc00-\udfff]/, "");
  const left = text.length - head.length - tail.length;
  return `${head}\n[… ${left} of ${text.length} characters left out …]\n${tail}`;
}

/** A copy of a user's message or a tool result with its text shortened; any other message, or a short one, as it is. */
export function shortenMessage(message: BaseMessage, maxTokens: number): BaseMessage {
  if (countMessage(message) <= maxTokens) return message;
  const text = contentText(message.content);
  // What is not text, and the message itself, cost something too.
  const overhead = countMessage(message) - countTokens(text);
  return copyOf(message, `${maxTokens} ${text.length}`, () => {
    const content = shortenText(text, Math.max(0, maxTokens - Math.max(0, overhead)));
    const { id, name, additional_kwargs } = message;
    if (ToolMessage.isInstance(message)) {
      const { tool_call_id, status } = message;
      return new ToolMessage({ id, name, additional_kwargs, tool_call_id, status, content });
    }
    if (message.getType() !== "human") return message;
    return new HumanMessage({ id, name, additional_kwargs, content });
  });
}

const copies = new WeakMap<BaseMessage, Map<string, BaseMessage>>();
const MOST_COPIES = 4;

/** What `make` made of `message` under `key` before, or makes now: copies stay the same objects, so counted ones. */
export function copyOf(message: BaseMessage, key: string, make: () => BaseMessage): BaseMessage {
  let made = copies.get(message);
  if (!made) copies.set(message, made = new Map());
  let copy = made.get(key);
  if (!copy) {
    copy = make();
    if (made.size >= MOST_COPIES) made.clear();
    made.set(key, copy);
  }
  return copy;
}
