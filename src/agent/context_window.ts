// Chooses what of a conversation is sent to the model: system message, latest question, and as much of the rest as the
// budget of seed 003 allows, newest first. Pure; messages are never changed, only copied.
import { type BaseMessage, SystemMessage } from "@langchain/core/messages";
import { AppError } from "../domain/error.ts";
import type { ContextStrategy, ModelConfig } from "../domain/model_config.ts";
import { choose } from "./context_choice.ts";
import { sendableUnits } from "./sendable.ts";
import { shortenText } from "./shorten.ts";
import { countText, isWarm } from "./tokens.ts";

/** Share of the context window that the input may take; the rest is left for the answer. */
export const STRATEGY_RATIOS: Readonly<Record<ContextStrategy, number>> = {
  conservative: 0.60,
  balanced: 0.75,
  aggressive: 0.85,
};

const TOPOLOGY_VARIABLE = "{{topology_info}}";
const NO_TOPOLOGY = "(No topology information available)";

export interface ContextInput {
  messages: readonly BaseMessage[];
  /** May contain `{{topology_info}}`. */
  systemPrompt: string;
  topology: string | null;
  /** Stands in for a topology that takes more than a quarter of the budget. */
  topologyOutline?: string;
  /** Tokens of the tool definitions (`countToolTokens`). */
  toolsTokens: number;
  config: Partial<Pick<ModelConfig, "context_limit" | "context_strategy">>;
}

export interface FittedContext {
  /** What to send, system message first. */
  messages: BaseMessage[];
  /** Tokens of `messages`, approximately, and together with the tools. */
  tokens: number;
  total: number;
  /** Lines for the log, by level. */
  info: string;
  warnings: string[];
  errors: string[];
  /** What the user should change when the provider refuses this request. */
  advice?: string;
}

/**
 * Fits a conversation into a model's context window. Await `warmUp()` of `tokens.ts` before. Throws `AppError`
 * `bad_request` with seed 003's sentences when `context_limit` is missing or not a positive integer.
 */
export function fitContext(input: ContextInput): FittedContext {
  const limit = contextLimit(input.config);
  if (!isWarm()) throw new Error("fitContext was used before warmUp().");
  const strategy = input.config.context_strategy ?? "balanced";
  const budget = Math.floor(limit * 1000 * STRATEGY_RATIOS[strategy]);
  const warnings: string[] = [];
  const system = new SystemMessage(systemText(input, budget, warnings));
  const systemTokens = countText(system.content as string) + 7;
  const { errors, advice } = overBudget(input.toolsTokens, systemTokens, budget);
  let sent: BaseMessage[];
  let tokens = systemTokens;
  let trimmed = false;
  try {
    const chosen = choose(sendableUnits(input.messages), budget, budget - input.toolsTokens - systemTokens);
    sent = [system, ...chosen.messages];
    tokens += chosen.tokens;
    trimmed = chosen.trimmed;
    warnings.push(...chosen.warnings);
  } catch (error) {
    errors.push(`Failed to trim messages: ${error instanceof Error ? error.message : error}`);
    warnings.push("Returning original messages due to trimming error");
    sent = [system, ...input.messages];
  }
  const total = tokens + input.toolsTokens;
  const sum = `~${tokens} tokens + ${input.toolsTokens} tools = ${total} / ${limit}K ` +
    `(${(total / (limit * 10)).toFixed(1)}%), strategy=${strategy}`;
  const info = trimmed
    ? `Messages trimmed: ${input.messages.length} → ${sent.length} msgs. Total: ${sum}`
    : `Context ready: ${sent.length} msgs, ${sum}`;
  return { messages: sent, tokens, total, info, warnings, errors, ...(advice && { advice }) };
}

function contextLimit(config: ContextInput["config"]): number {
  const limit: unknown = config.context_limit;
  if (limit === undefined || limit === null) {
    throw new AppError("bad_request", "context_limit is required in LLM config");
  }
  if (!Number.isInteger(limit) || limit as number <= 0) {
    throw new AppError("bad_request", `Invalid context_limit: ${limit}`);
  }
  return limit as number;
}

function systemText(
  { systemPrompt, topology, topologyOutline }: ContextInput,
  budget: number,
  warnings: string[],
): string {
  if (!systemPrompt.includes(TOPOLOGY_VARIABLE)) return systemPrompt;
  let text = topology ?? NO_TOPOLOGY;
  if (topology === null) {
    warnings.push("✗ Topology data is None, injecting placeholder");
  } else {
    const quarter = Math.floor(budget / 4);
    const tokens = countText(topology);
    if (tokens > quarter) {
      text = shortenText(topologyOutline ?? topology, quarter);
      warnings.push(
        `Topology takes ~${tokens} tokens, more than a quarter of the budget (${quarter}): an outline is injected`,
      );
    }
  }
  return systemPrompt.replaceAll(TOPOLOGY_VARIABLE, () => text);
}

function overBudget(tools: number, system: number, budget: number): { errors: string[]; advice?: string } {
  if (tools + system <= budget) return { errors: [] };
  const part = tools >= budget
    ? `Tool definitions (${tools} tokens) exceed the input budget (${budget} tokens).`
    : `System prompt (${system} tokens) and tool definitions (${tools} tokens) exceed the input budget (${budget} tokens).`;
  const advice =
    `${part} Increase context_limit, use a more aggressive context_strategy, or reduce the number of tools.`;
  return { errors: [advice], advice };
}

/**
 * What to tell the user when an answer shows that the endpoint works with a smaller window than configured, or cut
 * the answer off. `counted`: tokens of the request by our count; `reported`: by the provider.
 */
export function windowWarning(
  counted: number,
  reported: number | undefined,
  finishReason?: string,
): string | undefined {
  if (reported && counted >= 2000 && reported < counted / 2) {
    return `The model read only ${reported} of about ${counted} tokens: its server has a smaller context window than ` +
      `context_limit says. Enlarge it there (Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH) or lower context_limit.`;
  }
  if (finishReason === "length") {
    return "The answer was cut off at the model's output limit. Raise max_tokens in the model configuration.";
  }
}
