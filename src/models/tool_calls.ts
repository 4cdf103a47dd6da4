// The tool calls of an assistant message in the order and with the very text the model sent, also where that text
// is not valid JSON and LangChain would lose it.
import { AIMessage, type BaseMessage, type InvalidToolCall, type ToolCall } from "@langchain/core/messages";
import { isDeeper } from "../domain/json.ts";
import { wellFormedFrom } from "../domain/unicode.ts";

/** A call as the model made it; `argumentsText` may be anything, `extra` is opaque data a provider wants back. */
export interface ModelToolCall {
  id: string;
  name: string;
  argumentsText: string;
  extra?: unknown;
}

/**
 * The arguments of a call: an object, or undefined when the text is not one, or one that is nested without measure
 * (`MOST_LEVELS`). No text at all means no arguments.
 */
export function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  const value = parseObject(text);
  if (value === undefined || isDeeper(value)) return undefined;
  return wellFormedFrom(text, value) as Record<string, unknown>;
}

/** The JSON object that a text is, however deep, or undefined. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : undefined;
  } catch {
    return undefined;
  }
}

/** What `toolCallsOf` needs beside LangChain's own fields; kept in `additional_kwargs`. */
interface CallKwargs {
  /** Text of the arguments by call id, where it differs from LangChain's re-encoding. */
  arguments_text?: Record<string, string>;
  call_extras?: Record<string, unknown>;
  /** Ids in the order of the calls; only when some call is malformed. */
  call_order?: string[];
}

/** The message fields that hold `calls` so that `toolCallsOf` gives them back unchanged. */
export function toolCallFields(calls: readonly ModelToolCall[]): {
  tool_calls: ToolCall[];
  invalid_tool_calls: InvalidToolCall[];
  kwargs: Record<string, unknown>;
} {
  const tool_calls: ToolCall[] = [];
  const invalid_tool_calls: InvalidToolCall[] = [];
  const kwargs: CallKwargs = {};
  for (const { id, name, argumentsText, extra } of calls) {
    const args = parseArguments(argumentsText);
    if (extra !== undefined) (kwargs.call_extras ??= {})[id] = extra;
    if (args) {
      tool_calls.push({ id, name, args, type: "tool_call" });
      if (JSON.stringify(args) !== argumentsText) (kwargs.arguments_text ??= {})[id] = argumentsText;
    } else {
      const error = "The arguments are not a JSON object.";
      invalid_tool_calls.push({ id, name, args: argumentsText, error, type: "invalid_tool_call" });
    }
  }
  if (invalid_tool_calls.length > 0) kwargs.call_order = calls.map((call) => call.id);
  return { tool_calls, invalid_tool_calls, kwargs: { ...kwargs } };
}

/** The calls of a message in their order; none for anything but an assistant message. */
export function toolCallsOf(message: BaseMessage): ModelToolCall[] {
  if (!AIMessage.isInstance(message)) return [];
  const valid = message.tool_calls ?? [];
  const invalid = message.invalid_tool_calls ?? [];
  if (valid.length === 0 && invalid.length === 0) return [];
  const kwargs = message.additional_kwargs as CallKwargs;
  const calls: ModelToolCall[] = valid.map(({ id = "", name, args }) => ({
    id,
    name,
    argumentsText: own(kwargs.arguments_text, id) ?? JSON.stringify(args ?? {}),
  }));
  for (const { id = "", name = "", args = "" } of invalid) calls.push({ id, name, argumentsText: args });
  for (const call of calls) {
    const extra = own(kwargs.call_extras, call.id);
    if (extra !== undefined) call.extra = extra;
  }
  const order = invalid.length > 0 ? kwargs.call_order : undefined;
  return order ? calls.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id)) : calls;
}

/** What was kept under an id, whatever the id is called. */
function own<T>(kept: Record<string, T> | undefined, id: string): T | undefined {
  return kept && Object.hasOwn(kept, id) ? kept[id] : undefined;
}
