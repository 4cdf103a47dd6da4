// Messages as LangGraph keeps them: how they are made, and how clients see them.
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolStatus } from "../domain/event.ts";
import type { ChatMessage } from "../domain/session.ts";
import { contentText } from "../models/content_text.ts";
import type { ModelUsage, Thought } from "../models/delta.ts";
import { type ModelToolCall, toolCallFields, toolCallsOf } from "../models/tool_calls.ts";

/** What every message has: a stable id, and its time in ISO 8601 (UTC, with Z). */
export interface MessageStamp {
  id: string;
  createdAt: string;
  /** Shown to clients. */
  metadata?: Record<string, unknown>;
  /** More for `additional_kwargs`: kept, but not shown. */
  kwargs?: Record<string, unknown>;
}

/** Answers a call whose outcome was lost. */
export const INTERRUPTED = JSON.stringify({ error: "interrupted, outcome unknown – check before repeating" });

// LangChain drops `metadata`, so both live in `additional_kwargs`.
function stampKwargs({ createdAt, metadata, kwargs }: MessageStamp): Record<string, unknown> {
  return { ...kwargs, created_at: createdAt, ...(metadata && { metadata }) };
}

/** A user's message; `content` is text, or parts in OpenAI's shape when images belong to it. */
export function userMessage(content: string | Record<string, unknown>[], stamp: MessageStamp): HumanMessage {
  return new HumanMessage({
    id: stamp.id,
    content: content as string,
    additional_kwargs: stampKwargs(stamp),
  });
}

/** An assistant's message. `reasoning` is never shown; some providers want it back while tool calls go on. */
export function assistantMessage(
  answer: {
    text: string;
    calls?: readonly ModelToolCall[];
    reasoning?: string;
    thoughts?: readonly Thought[];
    usage?: ModelUsage;
  },
  stamp: MessageStamp,
): AIMessage {
  const { kwargs, ...fields } = toolCallFields(answer.calls ?? []);
  const { usage } = answer;
  return new AIMessage({
    id: stamp.id,
    content: answer.text,
    ...fields,
    additional_kwargs: {
      ...stampKwargs(stamp),
      ...kwargs,
      ...(answer.reasoning ? { reasoning_content: answer.reasoning } : {}),
      ...(answer.thoughts?.length ? { thoughts: answer.thoughts } : {}),
    },
    ...(usage && {
      usage_metadata: {
        input_tokens: usage.input,
        output_tokens: usage.output,
        total_tokens: usage.input + usage.output,
      },
    }),
  });
}

/** The result of a tool call; `output` is what the model reads. */
export function toolMessage(
  result: { callId: string; name: string; output: string; status: ToolStatus },
  stamp: MessageStamp,
): ToolMessage {
  return new ToolMessage({
    id: stamp.id,
    tool_call_id: result.callId,
    name: result.name,
    content: result.output,
    status: result.status,
    additional_kwargs: stampKwargs(stamp),
  });
}

const ROLES: Record<string, ChatMessage["role"]> = {
  human: "user",
  ai: "assistant",
  tool: "tool",
  system: "system",
};

/** Whose a message is to clients. */
export function roleOf(message: BaseMessage): ChatMessage["role"] {
  return ROLES[message.getType()] ?? "user";
}

/**
 * A message as clients see it (contract section 2.4). A message without an id gets one from its place `at`, one
 * without a time the beginning of time: both only happen to messages that this program did not make.
 */
export function toChatMessage(message: BaseMessage, at = 0): ChatMessage {
  const kwargs = message.additional_kwargs;
  const created_at = typeof kwargs.created_at === "string" ? kwargs.created_at : new Date(0).toISOString();
  const chat: ChatMessage = {
    id: shownId(message, at),
    role: roleOf(message),
    content: contentText(message.content),
    created_at,
    metadata: { ...(kwargs.metadata as Record<string, unknown> | undefined), created_at },
  };
  if (message.name) chat.name = message.name;
  if (ToolMessage.isInstance(message)) {
    chat.tool_call_id = message.tool_call_id;
    if (message.status) chat.metadata.status = message.status;
  }
  const calls = toolCallsOf(message);
  if (calls.length > 0) {
    chat.tool_calls = calls.map(({ id, name, argumentsText }) => ({
      id,
      type: "function",
      function: { name, arguments: argumentsText },
    }));
  }
  return chat;
}

/** The id under which clients know the message at a place. */
export function shownId({ id }: BaseMessage, at: number): string {
  return id ?? `message-${at + 1}`;
}
