// How a finished turn changes its session's figures (contract section 4, seed 000).
import type { ChatSession, TurnRecord } from "../domain/session.ts";

/** The columns of `chat_sessions` that a turn changes. */
export type Figures = Pick<
  ChatSession,
  "message_count" | "llm_calls_count" | "input_tokens" | "output_tokens" | "total_tokens" | "stats"
>;

/**
 * The figures after `turn`. Messages, calls and output add up; the input is the last turn's that made a call, because
 * a call's input holds the conversation before it.
 */
export function addTurn(before: Figures, turn: TurnRecord): Figures {
  const input = turn.llmCalls > 0 ? turn.inputTokens : before.input_tokens;
  const output = before.output_tokens + turn.outputTokens;
  return {
    message_count: before.message_count + turn.messages,
    llm_calls_count: before.llm_calls_count + turn.llmCalls,
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    stats: addStats(before.stats, turn),
  };
}

function addStats(before: Record<string, unknown>, turn: TurnRecord): Record<string, unknown> {
  const added: Record<string, number> = {
    billed_input_tokens: turn.billedInputTokens,
    billed_output_tokens: turn.billedOutputTokens,
    tool_calls: turn.toolCalls,
    aborted_turns: turn.finishReason === "aborted" ? 1 : 0,
    errors: turn.finishReason === "error" ? 1 : 0,
  };
  // Only some providers tell these: a 0 would claim more than is known.
  if (turn.cachedInputTokens > 0) added.cached_input_tokens = turn.cachedInputTokens;
  if (turn.reasoningTokens > 0) added.reasoning_tokens = turn.reasoningTokens;
  const stats = { ...before };
  for (const [name, value] of Object.entries(added)) {
    const old = stats[name];
    stats[name] = (typeof old === "number" ? old : 0) + value;
  }
  if (turn.estimated) stats.estimated = true;
  if (turn.temperature !== undefined) stats.temperature = turn.temperature;
  if (turn.maxTokens !== undefined) stats.max_tokens = turn.maxTokens;
  return stats;
}
