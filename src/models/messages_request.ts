// LangChain messages and tools as Anthropic's Messages API wants them: the system prompt apart, roles in turn, results of
// tools as blocks of the user's next message.
import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  MessageParam,
  Tool,
  ToolChoice,
} from "@anthropic-ai/sdk/resources/messages/messages";
import type { BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { Asked } from "./chat_model.ts";
import { contentText } from "./content_text.ts";
import type { Thought } from "./delta.ts";
import type { Quirks } from "./quirks.ts";
import { parseArguments, toolCallsOf } from "./tool_calls.ts";
import { type ToolSpec, wireName } from "./wire_messages.ts";

const CACHED = { cache_control: { type: "ephemeral" as const } };
/** Stands where the beginning of a conversation was left out: the API wants the user to speak first. */
const LEFT_OUT = "(The beginning of this conversation is left out.)";

/** A request's body. Expects what `fitContext` returns: answered calls, results right behind their calls. */
export function messagesRequest(
  messages: readonly BaseMessage[],
  { tools, toolChoice }: Asked,
  params: { model: string; max_tokens: number; temperature?: number },
  quirks: Quirks,
): MessageCreateParamsStreaming & { temperature?: number } {
  const cached = quirks.noCache ? {} : CACHED;
  const isSystem = (message: BaseMessage) => message.getType() === "system";
  const system = messages.filter(isSystem).map((message) => contentText(message.content)).join("\n\n");
  const turns = turnsOf(messages.filter((message) => !isSystem(message)));
  // Up to here a request is the same in every step of a turn: what was read once costs a tenth from then on.
  const last = (turns.at(-1)?.content as ContentBlockParam[] | undefined)?.at(-1);
  if (last) Object.assign(last, cached);
  const choice = toolChoice && !quirks.noToolChoice && { tool_choice: choiceOf(toolChoice) };
  return {
    ...params,
    stream: true,
    ...(system.trim() ? { system: [{ type: "text", text: system, ...cached }] } : {}),
    ...(tools?.length ? { tools: toolsOf(tools, cached), ...choice } : {}),
    messages: turns,
  };
}

function choiceOf(choice: NonNullable<Asked["toolChoice"]>): ToolChoice {
  return { type: choice === "required" ? "any" : choice };
}

function toolsOf(tools: readonly ToolSpec[], cached: Partial<typeof CACHED>): Tool[] {
  return tools.map(({ name, description, parameters: { $schema: _, ...parameters } }, at) => ({
    name,
    description,
    input_schema: { ...parameters, type: "object", properties: parameters.properties ?? {} },
    ...(at === tools.length - 1 ? cached : {}),
  }));
}

/** Messages with roles in turn, the user's first: neighbours of one role are one message. */
function turnsOf(messages: readonly BaseMessage[]): MessageParam[] {
  const lastUser = messages.findLastIndex((message) => message.getType() === "human");
  const turns: { role: "user" | "assistant"; content: ContentBlockParam[] }[] = [];
  for (const [at, message] of messages.entries()) {
    const role = message.getType() === "ai" ? "assistant" : "user";
    const blocks = blocksOf(message, at > lastUser);
    const before = turns.at(-1);
    if (blocks.length === 0) continue;
    if (before?.role === role) before.content.push(...blocks);
    else turns.push({ role, content: blocks });
  }
  if (turns[0]?.role !== "user") turns.unshift({ role: "user", content: [{ type: "text", text: LEFT_OUT }] });
  return turns;
}

function blocksOf(message: BaseMessage, inTurn: boolean): ContentBlockParam[] {
  switch (message.getType()) {
    case "ai":
      return assistantBlocks(message, inTurn);
    case "tool": {
      const { tool_call_id, status } = message as ToolMessage;
      const content = contentText(message.content);
      const failed = status === "error" ? { is_error: true } : {};
      return [{ type: "tool_result", tool_use_id: wireId(tool_call_id), content, ...failed }];
    }
    default:
      return userBlocks(message.content);
  }
}

/** Thoughts are wanted back, unchanged and first, as long as the calls that they led to are being answered. */
function assistantBlocks(message: BaseMessage, inTurn: boolean): ContentBlockParam[] {
  const thoughts = inTurn ? thoughtBlocks(message.additional_kwargs) : [];
  const calls = toolCallsOf(message).map(({ id, name, argumentsText }): ContentBlockParam => ({
    type: "tool_use",
    id: wireId(id),
    name: wireName(name),
    input: parseArguments(argumentsText) ?? {},
  }));
  return [...thoughts, ...textBlocks(contentText(message.content)), ...calls];
}

function thoughtBlocks({ reasoning_content, thoughts }: Record<string, unknown>): ContentBlockParam[] {
  const reasoning = String(reasoning_content ?? "");
  let at = 0;
  return ((thoughts ?? []) as Thought[]).map((thought) =>
    "data" in thought
      ? { type: "redacted_thinking", data: thought.data }
      : { type: "thinking", thinking: reasoning.slice(at, at += thought.chars), signature: thought.signature }
  );
}

/** A blank text is refused. */
function textBlocks(text: string): ContentBlockParam[] {
  return text.trim() ? [{ type: "text", text }] : [];
}

/** Text, and images in OpenAI's form. */
function userBlocks(content: BaseMessage["content"]): ContentBlockParam[] {
  if (typeof content === "string") return textBlocks(content);
  return content.flatMap((part): ContentBlockParam[] => {
    if (part.type !== "image_url") return textBlocks(contentText([part]));
    const image = part.image_url as string | { url: string };
    const url = typeof image === "string" ? image : image.url;
    const [, media_type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
    const source = data === undefined
      ? { type: "url" as const, url }
      : { type: "base64" as const, media_type: media_type as "image/png", data };
    return [{ type: "image", source }];
  });
}

/** An id that the API takes; those of other providers may have other characters. */
function wireId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]/g, "_") || "call";
}
