// One LangChain message as the columns of a row, and back. Faster than LangChain's own format, and it names no class.
import {
  AIMessage,
  type BaseMessage,
  BaseMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  isBaseMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { type Json, mayBeTooDeep, pack, type References, tagged, unpack } from "./codec.ts";
import { damaged } from "./errors.ts";

export type { AIMessage, BaseMessage };

/** A message as it is stored. `content` is null when it is no text; it is in `rest` then. */
export interface StoredMessage {
  kind: string;
  id: string | null;
  content: string | null;
  /** JSON of all other fields that are not empty; null for none. */
  rest: string | null;
}

// Fields of any message class that survive storage; `id` and `content` have columns of their own.
const FIELDS = [
  "name",
  "additional_kwargs",
  "response_metadata",
  "tool_calls",
  "invalid_tool_calls",
  "usage_metadata",
  "tool_call_id",
  "status",
  "artifact",
  "metadata",
  "role",
] as const;

/** A message inside of another one (in a tool's artifact, say) is written in place: rows do not refer to rows. */
export const IN_PLACE: References = {
  write(value, depth) {
    if (!isBaseMessage(value)) return null;
    const { kind, id, content, rest } = encodeMessage(value, depth);
    return tagged("message", [kind, id, content, rest]);
  },
  read(tag, value) {
    if (tag !== "message") throw damaged();
    const [kind, id, content, rest] = value as (string | null)[];
    return decodeMessage({ kind: kind!, id: id!, content: content!, rest: rest! });
  },
};

/**
 * The columns for `message`, which lies `depth` levels deep in a value. A chunk is stored as the message it amounts to.
 * Throws `AppError` for one that is nested too deeply.
 */
export function encodeMessage(message: BaseMessage, depth = 0): StoredMessage {
  const rest: Record<string, Json> = {};
  const fields = message as unknown as Record<string, unknown>;
  for (const name of FIELDS) {
    if (!isEmpty(fields[name])) rest[name] = pack(fields[name], IN_PLACE, depth + 1);
  }
  const text = typeof message.content === "string";
  if (!text) rest.content = pack(message.content, IN_PLACE, depth + 1);
  return {
    kind: message.type,
    id: message.id ?? null,
    content: text ? message.content as string : null,
    rest: Object.keys(rest).length > 0 ? JSON.stringify(rest) : null,
  };
}

/** The message for a row. Throws `AppError` when the row is none of ours. */
export function decodeMessage({ kind, id, content, rest }: StoredMessage): BaseMessage {
  const fields: Record<string, unknown> = rest === null ? {} : parseRest(rest);
  if (content !== null) fields.content = content;
  if (id !== null) fields.id = id;
  switch (kind) {
    case "human":
      return new HumanMessage(fields as never);
    case "ai":
      return decodeAnswer(fields);
    case "tool":
      return new ToolMessage(fields as never);
    case "system":
      return new SystemMessage(fields as never);
    case "remove":
      return new RemoveMessage(fields as never);
    case "function":
      return new FunctionMessage(fields as never);
    case "generic":
      return new ChatMessage(fields as never);
    default:
      throw damaged();
  }
}

/** Whether a message is a piece of a stream, which is not what reading it back gives. */
export function isChunk(message: BaseMessage): boolean {
  return BaseMessageChunk.isInstance(message);
}

function parseRest(rest: string): Record<string, unknown> {
  const json = JSON.parse(rest) as { [key: string]: Json };
  // Looking for a tag in the text is far cheaper than walking through every message's fields.
  if (rest.includes('"$"') || mayBeTooDeep(rest)) {
    for (const [name, value] of Object.entries(json)) json[name] = unpack(value, IN_PLACE) as Json;
  }
  return json;
}

function decodeAnswer(fields: Record<string, unknown>): AIMessage {
  // LangChain guesses (and prints a warning) when it sees a provider's raw calls without parsed ones.
  const kwargs = fields.additional_kwargs as Record<string, unknown> | undefined;
  if (!kwargs?.tool_calls || fields.tool_calls) return new AIMessage(fields as never);
  const { tool_calls: raw, ...others } = kwargs;
  const message = new AIMessage({ ...fields, additional_kwargs: others } as never);
  message.additional_kwargs.tool_calls = raw as never;
  return message;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype &&
    Object.keys(value).length === 0;
}
