// What the tests of models have in common: a configuration for an address, and a whole answer read to its end.
import { HumanMessage } from "@langchain/core/messages";
import { type ModelConfig, modelConfigSchema } from "../../src/domain/model_config.ts";
import { createChatModel } from "../../src/models/chat_model.ts";
import type { ModelDelta, StreamOptions } from "../../src/models/stream.ts";
import { streamModel } from "../../src/models/stream.ts";

export const KEY = "sk-test-0123456789abcdef";

export function config(base_url: string, more: Partial<ModelConfig> = {}): ModelConfig {
  return modelConfigSchema.parse({ base_url, model: "m-1", api_key: KEY, context_limit: 128, ...more });
}

export const question = [new HumanMessage("hi")];

/** Options with pauses too short to wait for. */
export function options(more: Partial<StreamOptions> = {}): StreamOptions {
  return { signal: new AbortController().signal, backoff: 1, ...more };
}

/** All pieces of one answer, of a fresh model unless one is given. */
export async function deltas(
  setup: ModelConfig,
  more: Partial<StreamOptions> = {},
  messages = question as Parameters<typeof streamModel>[1],
  model = createChatModel(setup),
): Promise<ModelDelta[]> {
  const all: ModelDelta[] = [];
  await streamModel(model, messages, options(more), (batch) => void all.push(...batch));
  return all;
}

export function textOf(pieces: ModelDelta[]): string {
  return pieces.map((piece) => piece.text ?? "").join("");
}
