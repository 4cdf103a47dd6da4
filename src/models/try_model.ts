// Tries a model configuration: one tiny call with a tool, and in plain words what came of it.
import { HumanMessage } from "@langchain/core/messages";
import type { ModelConfig } from "../domain/model_config.ts";
import { joinSignals } from "../domain/signals.ts";
import { askModel, type ModelAnswer } from "./ask_model.ts";
import { createChatModel } from "./chat_model.ts";
import type { ModelUsage } from "./delta.ts";
import { modelFailure } from "./failures.ts";
import { ModelError } from "./model_error.ts";
import { textToolCalls } from "./text_tool_calls.ts";
import type { ToolSpec } from "./wire_messages.ts";

/** What came of a try. `supports_tools` is null when the call failed before that could be seen. */
export interface ModelTrial {
  ok: boolean;
  message: string;
  model: string;
  latency_ms: number;
  supports_tools: boolean | null;
  usage?: ModelUsage;
}

const TOOL: ToolSpec = {
  name: "report_ready",
  description: "Reports that you are ready. Call it once.",
  parameters: {
    type: "object",
    properties: { word: { type: "string", description: "The word to report" } },
    required: ["word"],
    additionalProperties: false,
  },
};
const QUESTION = 'Call the tool report_ready with the word "ready". Answer with nothing else.';

/** A provider that is overloaded is asked again for a moment only: somebody is waiting in front of a form. */
const BACKOFF_MS = 200;

export interface TrialOptions {
  signal: AbortSignal;
  /** Bounds the whole trial. */
  timeoutMs: number;
  /** As for `createChatModel`. */
  mayCall?: () => Promise<void>;
}

/** Calls the model once. Throws nothing but the reason of `signal`. */
export async function tryModel(
  config: ModelConfig,
  { signal, timeoutMs, mayCall }: TrialOptions,
): Promise<ModelTrial> {
  const began = performance.now();
  const result = (ok: boolean, message: string, supports_tools: boolean | null, usage?: ModelUsage) => ({
    ok,
    message,
    model: config.model,
    latency_ms: Math.round(performance.now() - began),
    supports_tools,
    ...(usage ? { usage } : {}),
  });
  using limited = joinSignals([signal], { ms: timeoutMs });
  try {
    const answer = await askModel(createChatModel(config, {}, mayCall), [new HumanMessage(QUESTION)], {
      signal: limited.signal,
      tools: [TOOL],
      silenceLimit: timeoutMs,
      backoff: BACKOFF_MS,
    });
    if (usesTool(answer)) return result(true, "The model answers and uses tools.", true, answer.usage);
    return result(
      true,
      "The model answers, but it did not use the tool it was asked to use. The assistant needs a model that calls tools.",
      false,
      answer.usage,
    );
  } catch (error) {
    signal.throwIfAborted();
    const failure = limited.late ? new ModelError("timeout", `${Math.round(timeoutMs / 1000)}`) : error;
    const refusedTools = failure instanceof ModelError && failure.kind === "no_tools";
    return result(false, modelFailure(failure, config).message, refusedTools ? false : null);
  }
}

function usesTool({ toolCalls, text }: ModelAnswer): boolean {
  return toolCalls.some(({ name }) => name === TOOL.name) ||
    textToolCalls(text, new Set([TOOL.name])).length > 0;
}
