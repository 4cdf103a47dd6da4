// Makes the model of a configuration. Anthropic's API is spoken natively; everybody else speaks OpenAI's Chat Completions.
import type { BaseMessage } from "@langchain/core/messages";
import type { ModelConfig } from "../domain/model_config.ts";
import { CompletionsModel } from "./completions_model.ts";
import type { ChunkReader } from "./delta.ts";
import { type Endpoint, speaksMessages } from "../domain/endpoint.ts";
import { MessagesModel } from "./messages_model.ts";
import type { Quirks } from "./quirks.ts";
import type { ToolSpec } from "./wire_messages.ts";

/** What a request asks for beside its messages. `none`: the model sees the tools but may not call them. */
export interface Asked {
  tools?: readonly ToolSpec[];
  toolChoice?: "auto" | "none" | "required";
}

/** What one turn changes of a configuration. */
export interface ModelOverrides {
  temperature?: number;
  maxTokens?: number;
}

/** A model at an endpoint, in the endpoint's own protocol. Failures of its requests carry a `ModelError` as their cause. */
export interface ChatModel {
  readonly endpoint: Endpoint;
  /** Learned about this model at this endpoint; shared by all models made for the pair. */
  readonly quirks: Quirks;
  /** Asked before each call; throws `AppError` to prevent it. */
  readonly mayCall?: () => Promise<void>;
  /** The body of a streaming request, with what the endpoint is known to refuse left out. */
  requestOf(messages: readonly BaseMessage[], asked: Asked): Record<string, unknown>;
  /**
   * Sends a streaming request and returns the response with its body unread; `signal` ends both. Throws what
   * `endpointFetch` throws.
   */
  open(body: Record<string, unknown>, signal: AbortSignal): Promise<Response>;
  /** A reader for one answer's events. */
  reader(): ChunkReader;
}

/** Makes a model; a fraction of a millisecond, so make one a turn. Throws `AppError` for an unusable `base_url`. */
export function createChatModel(
  config: ModelConfig,
  overrides?: ModelOverrides,
  mayCall?: () => Promise<void>,
): ChatModel {
  return speaksMessages(config)
    ? new MessagesModel(config, overrides, mayCall)
    : new CompletionsModel(config, overrides, mayCall);
}
