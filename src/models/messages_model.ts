// A model behind Anthropic's Messages API. The requests are made here: Anthropic's own client looks into the environment
// whatever it is given, which this program's Worker may not do. Its types hold the requests to the API.
import type { BaseMessage } from "@langchain/core/messages";
import { DEFAULT_TEMPERATURE, type ModelConfig } from "../domain/model_config.ts";
import type { Asked, ChatModel, ModelOverrides } from "./chat_model.ts";
import type { Json } from "./delta.ts";
import { type Endpoint, endpointOf } from "../domain/endpoint.ts";
import { postJson } from "./endpoint_fetch.ts";
import { messagesReader } from "./messages_reader.ts";
import { messagesRequest } from "./messages_request.ts";
import { type Quirks, quirksOf } from "./quirks.ts";

/** The API insists on a limit. A model that cannot say this much refuses it and tells how much it can. */
const DEFAULT_MAX_TOKENS = 16_384;
/** The only version of the API there is. */
const VERSION = "2023-06-01";

export class MessagesModel implements ChatModel {
  readonly endpoint: Endpoint;
  readonly quirks: Quirks;
  readonly reader = messagesReader;

  constructor(
    private readonly config: ModelConfig,
    private readonly overrides: ModelOverrides = {},
    readonly mayCall?: () => Promise<void>,
  ) {
    this.endpoint = endpointOf(config);
    this.quirks = quirksOf(this.endpoint, config.model);
  }

  requestOf(messages: readonly BaseMessage[], asked: Asked): Json {
    const { config, overrides, quirks } = this;
    const limit = overrides.maxTokens ?? config.max_tokens ?? DEFAULT_MAX_TOKENS;
    const temperature = overrides.temperature ?? config.temperature ?? DEFAULT_TEMPERATURE;
    return {
      ...messagesRequest(messages, asked, {
        model: config.model,
        max_tokens: Math.min(limit, quirks.maxOutput ?? Infinity),
        // Other providers go up to 2; the newest models here want none.
        ...(quirks.noTemperature ? {} : { temperature: Math.min(temperature, 1) }),
      }, quirks),
    };
  }

  open(body: Json, signal: AbortSignal): Promise<Response> {
    const { api_key } = this.config;
    const headers = {
      Accept: "text/event-stream",
      "anthropic-version": VERSION,
      ...(api_key && { "x-api-key": api_key }),
    };
    return postJson(this.endpoint, headers, body, signal);
  }
}
