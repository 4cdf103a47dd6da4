// Counts of one turn, collected in memory and written once when it ends (contract section 4).
import type { Usage } from "../domain/event.ts";
import type { TurnRecord } from "../domain/session.ts";

/** Tokens of one model call. `estimated`: the provider told nothing, so they were counted here. */
export interface CallUsage {
  input: number;
  output: number;
  cached?: number;
  reasoning?: number;
  estimated?: boolean;
}

/** A call's input already holds the history, so a turn's input is its largest call's; outputs add up. */
export class TurnStatistics {
  llmCalls = 0;
  toolCalls = 0;
  /** Told of every call as it ends. */
  onCall?: (usage: CallUsage) => void;
  #input = 0;
  #output = 0;
  #billedInput = 0;
  #cached = 0;
  #reasoning = 0;
  #estimated = false;
  #reported = false;

  /** Whether the provider has told the usage of some call of this turn. */
  get reported(): boolean {
    return this.#reported;
  }

  addCall(usage: CallUsage): void {
    this.onCall?.(usage);
    this.#reported ||= !usage.estimated;
    this.#input = Math.max(this.#input, usage.input);
    this.#output += usage.output;
    this.#billedInput += usage.input;
    this.#cached += usage.cached ?? 0;
    this.#reasoning += usage.reasoning ?? 0;
    this.#estimated ||= usage.estimated ?? false;
  }

  usage(): Usage {
    return {
      input_tokens: this.#input,
      output_tokens: this.#output,
      total_tokens: this.#input + this.#output,
      llm_calls: this.llmCalls,
    };
  }

  record(): Omit<TurnRecord, "messages" | "turnId" | "finishReason" | "endedAt" | "lastSeq"> {
    return {
      llmCalls: this.llmCalls,
      inputTokens: this.#input,
      outputTokens: this.#output,
      billedInputTokens: this.#billedInput,
      billedOutputTokens: this.#output,
      cachedInputTokens: this.#cached,
      reasoningTokens: this.#reasoning,
      toolCalls: this.toolCalls,
      estimated: this.#estimated,
    };
  }
}
