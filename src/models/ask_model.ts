// A model's answer as a whole, for questions nobody watches being answered: titles, tests of a configuration.
import type { BaseMessage } from "@langchain/core/messages";
import type { ChatModel } from "./chat_model.ts";
import type { ModelUsage, ToolCallDelta } from "./delta.ts";
import { streamModel, type StreamOptions } from "./stream.ts";

/** A whole answer: its text, its calls as fragments in order, and how it ended. */
export interface ModelAnswer {
  text: string;
  reasoning: string;
  toolCalls: ToolCallDelta[];
  finishReason?: string;
  usage?: ModelUsage;
}

/** Asks a model and waits for the whole answer. Throws as `streamModel`. */
export async function askModel(
  model: ChatModel,
  messages: readonly BaseMessage[],
  options: StreamOptions,
): Promise<ModelAnswer> {
  const answer: ModelAnswer = { text: "", reasoning: "", toolCalls: [] };
  await streamModel(model, messages, options, (batch) => {
    for (const delta of batch) {
      answer.text += delta.text ?? "";
      answer.reasoning += delta.reasoning ?? "";
      for (const call of delta.toolCalls ?? []) answer.toolCalls.push(call);
      answer.finishReason ??= delta.finishReason;
      answer.usage ??= delta.usage;
    }
  });
  return answer;
}
