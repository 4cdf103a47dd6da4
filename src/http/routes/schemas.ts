// What the chat routes take and send, where it is not already a type of the domain.
import { z } from "zod";
import { approvalSchema } from "../../domain/approval.ts";
import { COPILOT_MODES } from "../../domain/model_config.ts";
import { chatRequestSchema, HISTORY_LIMIT, toolCallSchema, usageSchema } from "../../domain/session.ts";

/** Text from a query as a whole number in a range. */
const count = (min: number, max: number, fallback: number) =>
  z.string().regex(/^-?\d{1,9}$/, "must be a whole number").transform(Number)
    .pipe(z.int().min(min).max(max)).optional().transform((value) => value ?? fallback);

export const listQuery = z.object({
  limit: count(1, 500, 100),
  offset: count(0, 1_000_000_000, 0),
  q: z.string().max(255).optional(),
  copilot_mode: z.enum(COPILOT_MODES).optional(),
});

export const historyQuery = z.object({
  limit: count(1, HISTORY_LIMIT, 100),
  before: z.string().min(1).max(200).optional(),
});

export const exportQuery = z.object({ format: z.enum(["json", "markdown"]).default("json") });
export const streamQuery = z.object({
  after: z.string().max(300).optional().describe("An event's id; the header Last-Event-ID comes before it"),
  reasoning: z.enum(["true", "false"]).default("false").describe("Show the model's reasoning"),
});
export const streamHeaders = z.object({
  "Last-Event-ID": z.string().optional().describe("The id of the last event that the client has got"),
});

/** `/inject` may leave the message out: the assistant then chooses the fault by itself. */
export const injectRequestSchema = chatRequestSchema.extend({
  message: chatRequestSchema.shape.message.nullish(),
});

export const abortAnswer = z.object({
  status: z.literal("ok"),
  session_id: z.string(),
  aborted: z.boolean(),
});

const base = { session_id: z.string() };
const growingCall = toolCallSchema.extend({
  function: toolCallSchema.shape.function.extend({ complete: z.literal(true).optional() }),
});

/** One `data:` line of the event stream. */
export const streamEventSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("content"), content: z.string(), message_id: z.string(), ...base }),
  z.object({ type: z.literal("reasoning"), content: z.string(), message_id: z.string(), ...base }),
  z.object({ type: z.literal("tool_call"), tool_call: growingCall, message_id: z.string(), ...base }),
  z.object({ type: z.literal("tool_start"), tool_name: z.string(), tool_call_id: z.string(), ...base }),
  z.object({
    type: z.literal("tool_end"),
    tool_name: z.string(),
    tool_call_id: z.string(),
    tool_output: z.string(),
    status: z.enum(["success", "error"]),
    ...base,
  }),
  z.object({ type: z.literal("approval_request"), approval: approvalSchema, ...base }),
  z.object({ type: z.literal("title"), title: z.string(), ...base }),
  z.object({ type: z.literal("heartbeat"), ...base }),
  z.object({ type: z.literal("abort"), ...base }),
  z.object({ type: z.literal("error"), error: z.string(), code: z.string(), ...base }),
  z.object({ type: z.literal("done"), finish_reason: z.string(), usage: usageSchema, ...base }),
]);
