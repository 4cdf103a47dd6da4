// Messages of the Python copilot as ours: every one gets an id, a time, and calls that can be sent to a model again.
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  type InvalidToolCall,
  SystemMessage,
  type ToolCall,
  ToolMessage,
} from "@langchain/core/messages";
import { isoTime } from "../times.ts";
import { plain, PythonObject, readable } from "./values.ts";

type Fields = Record<string, unknown>;

/** The kinds that a message's `type` (or, in a plain dictionary, `role`) names. A chunk counts as the whole message. */
const KINDS = new Map<string, "user" | "assistant" | "tool" | "system" | "removal">([
  ["human", "user"],
  ["user", "user"],
  // Both are other people's words to a model; neither belongs to a call.
  ["chat", "user"],
  ["function", "user"],
  ["ai", "assistant"],
  ["assistant", "assistant"],
  ["tool", "tool"],
  ["system", "system"],
  ["developer", "system"],
  ["remove", "removal"],
]);

/**
 * The messages in `list`, the value of LangGraph's channel `messages`, each in its place; undefined for what is none
 * (LangGraph's removals). Never throws: one that cannot be read becomes a text that says so. A message without a time has that of the one before it; `unstamped` (ISO 8601) is for a list in
 * which no message has one. `idOf` gives the id of a message that lacks one of its own, by its place in `list`, always the same.
 */
export function toMessages(
  list: readonly unknown[],
  unstamped: string,
  idOf: (place: number) => string,
): (BaseMessage | undefined)[] {
  const ids = new Set<string>();
  const all = list.map(fieldsOf);
  const stamps = all.map((fields) => isoTime(objectOf(fields?.metadata).created_at));
  let created = stamps.find((stamp) => stamp !== null) ?? unstamped;
  return list.map((value, place) => {
    const fields = all[place];
    created = stamps[place] ?? created;
    const own = typeof fields?.id === "string" && fields.id !== "" ? fields.id : undefined;
    const id = own !== undefined && !ids.has(own) ? own : idOf(place);
    ids.add(id);
    return toMessage(value, fields, id, created);
  });
}

/** Something to say in the place of what cannot be shown. */
export function notice(id: string, created_at: string, content: string): BaseMessage {
  return new AIMessage({ id, content, additional_kwargs: { created_at, metadata: { notice: true } } });
}

function toMessage(
  value: unknown,
  fields: Fields | undefined,
  id: string,
  created_at: string,
): BaseMessage | undefined {
  const kind = fields &&
    KINDS.get(String(fields.type ?? fields.role).replace(/MessageChunk$/, "").toLowerCase());
  if (!fields || !kind) {
    return notice(id, created_at, `[A message of a kind that this server does not know: ${readable(value)}]`);
  }
  const { created_at: _, ...metadata } = objectOf(fields.metadata);
  // It would have LangChain read the content in a form that is its own.
  const { output_version: __, ...response_metadata } = objectOf(fields.response_metadata);
  const message = {
    id,
    content: contentOf(fields.content) as string,
    ...(typeof fields.name === "string" && { name: fields.name }),
    additional_kwargs: {
      ...objectOf(fields.additional_kwargs),
      ...(Object.keys(metadata).length > 0 && { metadata }),
      created_at,
    },
    response_metadata,
  };
  switch (kind) {
    case "user":
      return new HumanMessage(message);
    case "assistant":
      return toAnswer(message, fields);
    case "system":
      return new SystemMessage(message);
    case "tool":
      return new ToolMessage({
        ...message,
        tool_call_id: String(fields.tool_call_id ?? ""),
        status: fields.status === "error" ? "error" : "success",
        artifact: fields.artifact,
      });
    case "removal":
      // It removes nothing there either: Python's list of messages only grows.
      return undefined;
  }
}

interface MessageFields {
  id: string;
  content: string;
  additional_kwargs: Fields;
}

function toAnswer(message: MessageFields, fields: Fields): AIMessage {
  // Providers' raw calls say the same as the parsed ones, and LangChain would guess from them.
  const { tool_calls: _, ...kwargs } = message.additional_kwargs;
  const valid: ToolCall[] = [];
  const exact: Record<string, string> = {};
  const callId = (id: unknown, at: number) =>
    typeof id === "string" && id !== "" ? id : `${message.id}.${at + 1}`;
  for (const [at, call] of listOf(fields.tool_calls).map(objectOf).entries()) {
    const id = callId(call.id, at);
    const args = objectOf(call.args);
    const text = jsonText(args);
    if (text !== JSON.stringify(rounded(args))) exact[id] = text;
    valid.push({ id, name: String(call.name ?? ""), args: rounded(args) as Fields, type: "tool_call" });
  }
  const invalid = listOf(fields.invalid_tool_calls).map(objectOf).map((call, at): InvalidToolCall => ({
    id: callId(call.id, valid.length + at),
    name: String(call.name ?? ""),
    args: typeof call.args === "string" ? call.args : jsonText(call.args ?? null),
    error: String(call.error ?? "The arguments are not a JSON object."),
    type: "invalid_tool_call",
  }));
  const usage = objectOf(fields.usage_metadata);
  return new AIMessage({
    ...message,
    additional_kwargs: {
      ...kwargs,
      ...(Object.keys(exact).length > 0 && { arguments_text: exact }),
      ...(invalid.length > 0 && { call_order: [...valid, ...invalid].map(({ id }) => id) }),
    },
    tool_calls: valid,
    invalid_tool_calls: invalid,
    ...(typeof usage.total_tokens === "number" && { usage_metadata: usage as never }),
  });
}

/** A message's fields as plain data; undefined for what is no object at all. */
function fieldsOf(value: unknown): Fields | undefined {
  const fields = plain(value instanceof PythonObject ? value.given : value);
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return undefined;
  const { tool_calls, artifact, ...others } = fields as Fields;
  // Only calls have to go back to a model digit by digit, and only artifacts to nobody.
  return { ...spelled(others) as Fields, tool_calls, artifact };
}

/** Text, or parts in OpenAI's shape: a bare text among them becomes a part, as the models' clients expect. */
function contentOf(content: unknown): unknown {
  if (typeof content === "string") return content;
  if (content === null || content === undefined) return "";
  if (!Array.isArray(content)) return jsonText(content);
  return content.map((part) => {
    if (typeof part === "object" && part !== null && !Array.isArray(part)) return part;
    return { type: "text", text: typeof part === "string" ? part : jsonText(part) };
  });
}

function objectOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Fields : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** JSON with every digit of Python's large integers, which a number of JavaScript cannot hold. */
function jsonText(value: unknown): string {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  return JSON.stringify(value, (_, part) => typeof part === "bigint" ? rawJSON(String(part)) : part);
}

/** Large integers as the nearest numbers, where digits do not matter. */
const rounded = (value: unknown) => withIntegers(value, Number);

/** Large integers as texts of all their digits: what clients and models get is JSON. */
const spelled = (value: unknown) => withIntegers(value, String);

function withIntegers(value: unknown, convert: (integer: bigint) => unknown): unknown {
  if (typeof value === "bigint") return convert(value);
  if (Array.isArray(value)) return value.map((part) => withIntegers(part, convert));
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, withIntegers(part, convert)]),
  );
}
