// Everything that happens in a turn, as one closed union. Every wire format is a pure function of these events.
import type { Approval } from "./approval.ts";
import type { ErrorCode } from "./error.ts";

/** Why a turn ended. `approval` means that it waits for the user's decision. */
export type FinishReason = "stop" | "limit" | "aborted" | "error" | "approval";

/** Tokens of one turn: `input_tokens` is the largest input of its model calls, `output_tokens` the sum of outputs. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  llm_calls: number;
}

export type ToolStatus = "success" | "error";

/** A failure inside a turn, as the user is told it. */
export interface TurnError {
  code: ErrorCode | "model_error";
  message: string;
}

/** One thing that happened in a turn. `turn_end` comes last, exactly once. */
export type TurnEvent =
  | { type: "turn_start"; turnId: string }
  | { type: "message_start"; messageId: string }
  | { type: "text_delta"; messageId: string; text: string }
  | { type: "reasoning_delta"; messageId: string; text: string }
  | { type: "message_end"; messageId: string }
  | { type: "tool_call_start"; messageId: string; toolCallId: string; name: string }
  | { type: "tool_call_delta"; messageId: string; toolCallId: string; text: string }
  | { type: "tool_call_end"; messageId: string; toolCallId: string }
  | { type: "tool_start"; toolCallId: string; toolName: string }
  | { type: "tool_end"; toolCallId: string; toolName: string; output: string; status: ToolStatus }
  | { type: "approval_request"; approval: Approval }
  | { type: "title"; title: string }
  | { type: "turn_end"; finishReason: FinishReason; usage: Usage; error?: TurnError };

/**
 * An event with its place in the turn's log. Positions grow; a delta of text takes as many as it has UTF-16 units, every
 * other event one, and `seq` is the event's last. So a position in a text survives however its deltas were cut.
 */
export interface Logged {
  seq: number;
  event: TurnEvent;
}

/** How many positions an event takes in the log. */
export function positions(event: TurnEvent): number {
  switch (event.type) {
    case "text_delta":
    case "reasoning_delta":
    case "tool_call_delta":
      return Math.max(1, event.text.length);
    default:
      return 1;
  }
}
