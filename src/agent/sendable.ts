// A history as units that a strict provider accepts: every call answered once, right after its message, under an id of
// its own and with arguments that are JSON; nothing else pretends to be a result.
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { type ModelToolCall, parseArguments, toolCallFields } from "../models/tool_calls.ts";
import { type Exchange, exchanges, INTERRUPTED } from "./messages.ts";
import { copyOf } from "./shorten.ts";

/** Messages that stay or go together: one message, or an assistant's with the results of its calls. */
export interface Unit {
  kind: "user" | "assistant" | "system";
  messages: BaseMessage[];
}

/** The units of a history, in order. The messages in it are the given objects wherever those are fit to be sent. */
export function sendableUnits(messages: readonly BaseMessage[]): Unit[] {
  const units: Unit[] = [];
  const ids = new Set<string>();
  for (const exchange of exchanges(messages).exchanges) {
    const { message, calls } = exchange;
    const type = message.getType();
    if (type !== "ai") units.push({ kind: type === "system" ? "system" : "user", messages: [message] });
    else if (calls.length > 0) units.push({ kind: "assistant", messages: answered(exchange, ids) });
    else if (!isBlank(message.content)) units.push({ kind: "assistant", messages: [message] });
  }
  return units;
}

function isBlank(content: BaseMessage["content"]): boolean {
  if (typeof content === "string") return content.trim() === "";
  return !content.some((part) => part.type === "text" && String(part.text).trim() !== "");
}

function answered({ message, calls, results }: Exchange, ids: Set<string>): BaseMessage[] {
  const fixed = calls.map((call) => ({
    ...call,
    id: uniqueId(call.id, ids),
    argumentsText: parseArguments(call.argumentsText) ? call.argumentsText : "{}",
  }));
  const changed = fixed.some((call, at) =>
    call.id !== calls[at]!.id || call.argumentsText !== calls[at]!.argumentsText
  );
  return [
    changed ? withCalls(message, fixed) : message,
    ...fixed.map(({ id, name }, at) => resultFor(results[at], message, id, name)),
  ];
}

/** `id` itself the first time, then `id_2`, `id_3` …; the same at every call, so that a provider's cache still hits. */
function uniqueId(id: string, ids: Set<string>): string {
  const base = id || "call";
  let unique = base;
  for (let count = 2; ids.has(unique); count++) unique = `${base}_${count}`;
  ids.add(unique);
  return unique;
}

function withCalls(message: BaseMessage, calls: ModelToolCall[]): BaseMessage {
  return copyOf(message, calls.map((call) => call.id).join(" "), () => {
    const { kwargs, ...fields } = toolCallFields(calls);
    const { arguments_text: _text, call_extras: _extras, call_order: _order, tool_calls: _raw, ...rest } =
      message.additional_kwargs as Record<string, unknown>;
    const { id, name, content } = message;
    return new AIMessage({ id, name, content, ...fields, additional_kwargs: { ...rest, ...kwargs } });
  });
}

function resultFor(
  result: ToolMessage | undefined,
  caller: BaseMessage,
  tool_call_id: string,
  name: string,
): BaseMessage {
  if (!result) {
    return copyOf(
      caller,
      `result ${tool_call_id}`,
      () => new ToolMessage({ tool_call_id, name, content: INTERRUPTED, status: "error" }),
    );
  }
  if (result.tool_call_id === tool_call_id) return result;
  return copyOf(result, tool_call_id, () => {
    const { id, content, status, additional_kwargs } = result;
    return new ToolMessage({ id, name, content, status, additional_kwargs, tool_call_id });
  });
}
