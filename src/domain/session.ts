// What travels over the chat routes: requests, sessions, messages. The same schemas validate and document.
import { z } from "zod";
import { approvalSchema } from "./approval.ts";
import { COPILOT_MODES } from "./model_config.ts";
import { isBlank } from "./unicode.ts";

/** A session id that this server accepts; it creates UUIDs. No client gets `.` or `..` into a path: they mean a way there. */
export const SESSION_ID = /^(?!\.{1,2}$)[A-Za-z0-9_.:-]{1,128}$/;
export const SESSION_ID_RULE = "must be 1-128 characters of A-Z a-z 0-9 _ . : -, and not . or ..";
export const sessionIdSchema = z.string().regex(SESSION_ID, SESSION_ID_RULE);

const visible = (text: string) => !isBlank(text);

/** The body of `POST …/stream` (contract section 2.1). Unknown fields are dropped. */
export const chatRequestSchema = z.object({
  message: z.string().min(1).max(100_000).refine(visible, "must not be blank"),
  session_id: sessionIdSchema.or(z.literal("")).nullish(),
  stream: z.boolean().default(true),
  temperature: z.number().min(0).max(2).nullish(),
  max_tokens: z.int().positive().nullish(),
  mode: z.literal("text").default("text"),
  approvals: z.boolean().default(false),
  reasoning: z.boolean().default(false),
  on_disconnect: z.enum(["continue", "abort"]).default("continue"),
});
export type ChatRequest = z.infer<typeof chatRequestSchema>;

const time = z.string().describe("ISO 8601, UTC, with Z");

/** One conversation with its statistics (contract section 2.3); exactly these fields. */
export const chatSessionSchema = z.object({
  id: z.int(),
  thread_id: z.string(),
  user_id: z.string(),
  project_id: z.string(),
  title: z.string(),
  message_count: z.int(),
  llm_calls_count: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  total_tokens: z.int(),
  last_message_at: time.nullable(),
  created_at: time,
  updated_at: time,
  metadata: z.looseObject({ copilot_mode: z.enum(COPILOT_MODES).optional() }),
  stats: z.record(z.string(), z.unknown()),
  pinned: z.boolean(),
});
export type ChatSession = z.infer<typeof chatSessionSchema>;

/** A tool call in OpenAI's shape; `arguments` is JSON text. */
export const toolCallSchema = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/** A message in OpenAI's shape (contract section 2.4). */
export const chatMessageSchema = z.object({
  id: z.string(),
  role: z.enum(["user", "assistant", "system", "tool"]),
  content: z.string(),
  name: z.string().optional(),
  tool_call_id: z.string().optional(),
  tool_calls: z.array(toolCallSchema).optional(),
  created_at: time,
  metadata: z.record(z.string(), z.unknown()),
});
export type ChatMessage = z.infer<typeof chatMessageSchema>;

/** The longest page of a history. */
export const HISTORY_LIMIT = 1000;

export const conversationHistorySchema = z.object({
  thread_id: z.string(),
  title: z.string(),
  messages: z.array(chatMessageSchema),
  created_at: time,
  updated_at: time,
  llm_calls: z.int(),
});
export type ConversationHistory = z.infer<typeof conversationHistorySchema>;

export const usageSchema = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  total_tokens: z.int(),
  llm_calls: z.int(),
});

/** The answer to a request with `"stream": false` (contract section 2.2). */
export const chatAnswerSchema = z.object({
  session_id: z.string(),
  title: z.string(),
  message: chatMessageSchema.nullable(),
  messages: z.array(chatMessageSchema),
  usage: usageSchema,
  finish_reason: z.enum(["stop", "aborted", "error", "approval", "limit"]),
  error: z.string().optional(),
  approvals: z.array(approvalSchema).optional().describe(
    "What waits for a decision, when finish_reason is approval",
  ),
});
export type ChatAnswer = z.infer<typeof chatAnswerSchema>;

export const titleSchema = z.string().trim().min(1).max(255).refine(visible, "must not be blank");
export const renameSchema = z.object({ title: titleSchema });
export const createSessionSchema = z.object({ title: titleSchema.nullish() });

/** What one finished turn adds to its session (contract section 4). */
export interface TurnRecord {
  turnId: string;
  /** How many messages the history has more than were counted so far: the user's, each of the assistant and each tool result. */
  messages: number;
  llmCalls: number;
  /** The largest input of the turn's calls; replaces the session's value. */
  inputTokens: number;
  /** Sum of the turn's outputs; added to the session's. */
  outputTokens: number;
  billedInputTokens: number;
  billedOutputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
  toolCalls: number;
  /** Some call came without usage, so the tokens were counted here. */
  estimated: boolean;
  finishReason: "stop" | "limit" | "aborted" | "error" | "approval";
  error?: { code: string; message: string };
  temperature?: number;
  maxTokens?: number;
  /** The automatic title, when this turn made one; ignored when the user has set a title. */
  title?: string;
  /** Position of `turn_end` in the turn's log. */
  lastSeq: number;
  endedAt: Date;
}
