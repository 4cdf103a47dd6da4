// LangChain messages and tools as the Chat Completions API wants them, with an endpoint's quirks applied.
import type { BaseMessage } from "@langchain/core/messages";
import { wellFormedJson } from "../domain/unicode.ts";
import { contentText } from "./content_text.ts";
import type { Quirks } from "./quirks.ts";
import { parseArguments, toolCallsOf } from "./tool_calls.ts";

/** A message in the request's JSON. */
export interface WireMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | unknown[] | null;
  tool_calls?: WireToolCall[];
  tool_call_id?: string;
  reasoning_content?: string;
}

interface WireToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
  extra_content?: unknown;
}

/** A tool as the model is told of it; `parameters` is a JSON Schema of type object. */
export interface ToolSpec {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/**
 * The request's `messages`. Expects what `fitContext` returns: answered calls, system message first. The same message
 * gives the same object as before: nobody may change it, nor the message.
 */
export function wireMessages(messages: readonly BaseMessage[], quirks: Quirks): WireMessage[] {
  const lastUser = messages.findLastIndex((message) => message.getType() === "human");
  let wire = messages.map((message, at) => wireMessage(message, quirks, at > lastUser));
  if (quirks.noSystemRole) wire = withoutSystem(wire);
  return quirks.alternate ? joinNeighbours(wire) : wire;
}

interface Kept {
  emptyContent: boolean;
  reasoning: boolean;
  wire: WireMessage;
}
/** What became of a message at the last call: at the next it is the same, and its JSON need not be written again. */
const kept = new WeakMap<BaseMessage, Kept>();

function wireMessage(message: BaseMessage, quirks: Quirks, inTurn: boolean): WireMessage {
  const emptyContent = quirks.emptyContent ?? false;
  const reasoning = inTurn && (quirks.returnReasoning ?? false);
  const known = kept.get(message);
  if (known?.emptyContent === emptyContent && known.reasoning === reasoning) return known.wire;
  const wire = made(message, quirks, inTurn);
  kept.set(message, { emptyContent, reasoning, wire });
  return wire;
}

function made(message: BaseMessage, quirks: Quirks, inTurn: boolean): WireMessage {
  const content = message.content as string | unknown[];
  switch (message.getType()) {
    case "system":
      return { role: "system", content: contentText(content) };
    case "tool":
      return {
        role: "tool",
        content: contentText(content),
        tool_call_id: (message as unknown as { tool_call_id: string }).tool_call_id,
      };
    case "ai":
      return wireAssistant(message, textOf(content), quirks, inTurn);
    default:
      return { role: "user", content };
  }
}

function wireAssistant(
  message: BaseMessage,
  content: string,
  quirks: Quirks,
  inTurn: boolean,
): WireMessage {
  const calls = toolCallsOf(message);
  const wire: WireMessage = { role: "assistant", content };
  if (calls.length > 0) {
    if (content === "") wire.content = quirks.emptyContent ? "" : null;
    wire.tool_calls = calls.map(wireCall);
  }
  // Endpoints that never sent this field refuse it; those that did want it only within the running turn.
  const reasoning = inTurn && quirks.returnReasoning && message.additional_kwargs.reasoning_content;
  if (typeof reasoning === "string") wire.reasoning_content = reasoning;
  return wire;
}

function wireCall({ id, name, argumentsText, extra }: ReturnType<typeof toolCallsOf>[number]): WireToolCall {
  // Strict servers parse the arguments of old calls again: what the model got wrong must not break every later turn.
  const valid = argumentsText.trim() !== "" && parseArguments(argumentsText) !== undefined;
  const call: WireToolCall = {
    id,
    type: "function",
    function: { name: wireName(name), arguments: valid ? wellFormedJson(argumentsText) : "{}" },
  };
  if (extra !== undefined) call.extra_content = extra;
  return call;
}

/** A function name that every provider accepts; models invent others. */
export function wireName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown_tool";
}

function withoutSystem(messages: WireMessage[]): WireMessage[] {
  const prompt = messages.filter((message) => message.role === "system").map(({ content }) =>
    content as string
  );
  const rest = messages.filter((message) => message.role !== "system");
  const first = rest.findIndex((message) => message.role === "user");
  if (first < 0) return [{ role: "user", content: prompt.join("\n\n") }, ...rest];
  return rest.map((message, at) =>
    at === first ? joined({ role: "user", content: prompt.join("\n\n") }, message) : message
  );
}

function joinNeighbours(messages: WireMessage[]): WireMessage[] {
  const result: WireMessage[] = [];
  for (const message of messages) {
    const last = result.at(-1);
    const same = last?.role === message.role && message.role !== "tool" && !last.tool_calls &&
      !message.tool_calls;
    if (last && same) result[result.length - 1] = joined(last, message);
    else result.push(message);
  }
  return result;
}

function joined(first: WireMessage, second: WireMessage): WireMessage {
  if (typeof first.content === "string" && typeof second.content === "string") {
    return { ...second, content: `${first.content}\n\n${second.content}` };
  }
  return { ...second, content: [...parts(first.content), ...parts(second.content)] };
}

function parts(content: WireMessage["content"]): unknown[] {
  return Array.isArray(content) ? content : [{ type: "text", text: content ?? "" }];
}

/** The text parts alone: what else an assistant's message holds (thoughts, calls) is not content to any endpoint. */
function textOf(content: WireMessage["content"]): string {
  return parts(content).map((part) => (part as { text?: unknown }).text ?? "").join("");
}

const wireToolCache = new WeakMap<readonly ToolSpec[], unknown[]>();

/** The request's `tools`. No `strict`, no `$schema`; a tool without arguments still has an object schema. */
export function wireTools(tools: readonly ToolSpec[]): unknown[] {
  let wire = wireToolCache.get(tools);
  if (!wire) {
    wire = tools.map(({ name, description, parameters: { $schema: _, ...parameters } }) => ({
      type: "function",
      function: {
        name,
        description,
        parameters: { ...parameters, type: "object", properties: parameters.properties ?? {} },
      },
    }));
    wireToolCache.set(tools, wire);
  }
  return wire;
}
