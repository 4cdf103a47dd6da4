// A model configuration as it is stored and as GNS3's Web UI sends and reads it (GNS3 3.1, `…/llm-model-configs`). The same
// schemas validate and document.
import { z } from "zod";
import { CONTEXT_STRATEGIES, COPILOT_MODES } from "./model_config.ts";

/** Who a configuration belongs to, by GNS3's id. */
export interface Owner {
  kind: "user" | "group";
  id: string;
}

export const MODEL_TYPES = [
  "text",
  "vision",
  "stt",
  "tts",
  "multimodal",
  "embedding",
  "reranking",
  "other",
] as const;
export type ModelType = typeof MODEL_TYPES[number];

/** Whether a model of this type can hold a conversation. */
export function canChat(type: ModelType): boolean {
  return !["stt", "tts", "embedding", "reranking"].includes(type);
}

/** What a request must not set, because the server does; a client that sends a whole configuration back may. */
const OURS = [
  "config_id",
  "user_id",
  "group_id",
  "version",
  "created_at",
  "updated_at",
  "source",
  "group_name",
  "api_key_status",
  // No field at all: assigning to it would change the object itself.
  "__proto__",
];
/** Bounds of the fields that we do not know and only keep. */
const MOST_EXTRA = 50;
const LARGEST_EXTRA = 16_384;

const name = z.string().trim().min(1).max(100);
const text = (max: number) => z.string().trim().min(1).max(max);
const baseUrl = z.string().trim().max(2_000).describe("Empty: the provider's own address, where it is known");
/** What a client may have made of the null that it is shown instead of a key. */
export const KEY_MASK = /^[*•●·.]+$/;
// Anything else no header can carry, and the error of a failed attempt would quote it.
const apiKey = z.string().trim().max(10_000)
  .refine(
    (key) => /^[\x21-\x7e]*$/.test(key) || KEY_MASK.test(key),
    "must be letters, digits and signs without spaces",
  )
  .describe("Never returned. Left out, null or a mask: the stored one stays; empty: it is removed");
const temperature = z.number().min(0).max(2);
// GNS3's Web UI sends fields that it does not know as texts.
const maxTokens = z.union([z.int().positive(), z.string()]).nullable().transform((value, context) => {
  if (typeof value !== "string") return value;
  if (value.trim() === "" || value.trim() === "null") return null;
  const number = Number(value);
  if (Number.isSafeInteger(number) && number > 0) return number;
  context.addIssue({ code: "custom", message: "must be a whole number above 0" });
  return z.NEVER;
});
const contextLimit = z.int({
  error: ({ input }) =>
    input === undefined
      ? "is required: the model's context window in thousands of tokens"
      : "must be a whole number: the model's context window in thousands of tokens",
}).positive("must be above 0").max(1_000_000).describe("The model's context window in thousands of tokens");
const strategy = z.enum(CONTEXT_STRATEGIES);
const mode = z.enum(COPILOT_MODES);

/** Refuses what would be kept without being understood, where that would do harm. */
function checkExtra(body: Record<string, unknown>, context: z.RefinementCtx): void {
  const extra = Object.entries(extraOf(body));
  const refuse = (path: string[], message: string) => context.addIssue({ code: "custom", path, message });
  if ("config" in body) refuse(["config"], "send the fields themselves, not inside config");
  if (extra.length > MOST_EXTRA) refuse([], `at most ${MOST_EXTRA} further fields are kept`);
  else if (sizeOf(extra) > LARGEST_EXTRA) refuse([], "the further fields are too large");
}

/** Characters as JSON; what is nested so deeply that it cannot be written is too large. */
function sizeOf(value: unknown): number {
  try {
    return JSON.stringify(value).length;
  } catch {
    return Infinity;
  }
}

/** Body of `POST …/llm-model-configs`. Further fields are kept. */
export const createModelSchema = z.looseObject({
  name,
  model_type: z.enum(MODEL_TYPES).default("text"),
  is_default: z.boolean().nullish(),
  provider: text(100),
  base_url: baseUrl.nullish(),
  model: text(300).describe("Sent to the endpoint unchanged"),
  temperature: temperature.nullish(),
  api_key: apiKey.nullish(),
  max_tokens: maxTokens.optional(),
  context_limit: contextLimit,
  context_strategy: strategy.nullish(),
  copilot_mode: mode.nullish(),
}).superRefine(checkExtra);
export type CreateModel = z.infer<typeof createModelSchema>;

/** Body of `PUT …/llm-model-configs/{config_id}`: what is left out stays, null clears. */
export const updateModelSchema = z.looseObject({
  name: name.optional(),
  model_type: z.enum(MODEL_TYPES).optional(),
  is_default: z.boolean().nullish(),
  expected_version: z.int().nullish().describe("409 when the configuration has another one by now"),
  provider: text(100).optional(),
  base_url: baseUrl.nullish(),
  model: text(300).optional(),
  temperature: temperature.nullish(),
  api_key: apiKey.nullish(),
  max_tokens: maxTokens.optional(),
  context_limit: contextLimit.optional(),
  context_strategy: strategy.nullish(),
  copilot_mode: mode.nullish(),
}).superRefine(checkExtra);
export type UpdateModel = z.infer<typeof updateModelSchema>;

const settings = z.looseObject({
  provider: z.string(),
  base_url: z.string(),
  model: z.string(),
  temperature: z.number(),
  max_tokens: z.int().nullable(),
  context_limit: z.int(),
  context_strategy: strategy,
  copilot_mode: mode,
});
/** What a configuration says about its model, the key apart; unknown fields included. */
export type ModelSettings = z.infer<typeof settings>;

/** Whether there is a key, and whether it can still be read. */
export const keyStatusSchema = z.enum(["none", "stored", "needs re-entry"]);
export type KeyStatus = z.infer<typeof keyStatusSchema>;

/** The fields of a request that this server does not know: they are kept as they are. */
export function extraOf(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([field]) => !KNOWN.has(field)));
}

const KNOWN = new Set([...OURS, ...Object.keys(updateModelSchema.shape)]);

const time = z.string().describe("ISO 8601, UTC, with Z");

/** A configuration as the API answers it. */
export const storedModelSchema = z.object({
  config_id: z.string(),
  name: z.string(),
  model_type: z.enum(MODEL_TYPES),
  config: settings.extend({ api_key: z.null().describe("Never shown") }),
  user_id: z.string().nullable(),
  group_id: z.string().nullable(),
  is_default: z.boolean(),
  version: z.int(),
  created_at: time,
  updated_at: time,
  api_key_status: keyStatusSchema,
});
export type StoredModel = z.infer<typeof storedModelSchema>;

/** As above, with where the user has it from. */
export const sourcedModelSchema = storedModelSchema.extend({
  source: z.enum(["user", "group"]),
  group_name: z.string().nullable(),
});
export type SourcedModel = z.infer<typeof sourcedModelSchema>;

export const userModelsSchema = z.object({
  configs: z.array(sourcedModelSchema),
  default_config: sourcedModelSchema.nullable(),
  total: z.int(),
});
export const groupModelsSchema = z.object({
  configs: z.array(storedModelSchema),
  default_config: storedModelSchema.nullable(),
  total: z.int(),
});
