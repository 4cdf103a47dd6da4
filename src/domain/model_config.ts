// How a model is reached and what it may do; the request's scope carries one, no log and no database does.
import { z } from "zod";

export const COPILOT_MODES = [
  "teaching_assistant",
  "lab_automation_assistant",
  "troubleshooting_injection",
] as const;
/** What the assistant may do in a lab; enforced where tools run. */
export type CopilotMode = typeof COPILOT_MODES[number];

export const CONTEXT_STRATEGIES = ["conservative", "balanced", "aggressive"] as const;
/** Which share of the context window the input may take: 0.60, 0.75 or 0.85. */
export type ContextStrategy = typeof CONTEXT_STRATEGIES[number];

/** What a model gets when its configuration names no temperature. */
export const DEFAULT_TEMPERATURE = 0.7;

/** A model configuration. `context_limit` is in thousands of tokens; `max_tokens` bounds one answer. */
export const modelConfigSchema = z.object({
  provider: z.string().min(1).default("openai"),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  model: z.string().min(1),
  api_key: z.string().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().positive().optional(),
  context_limit: z.int().positive(),
  context_strategy: z.enum(CONTEXT_STRATEGIES).default("balanced"),
  copilot_mode: z.enum(COPILOT_MODES).default("teaching_assistant"),
});
export type ModelConfig = z.infer<typeof modelConfigSchema>;
