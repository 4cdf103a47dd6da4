// LangChain's Chat Completions model for any OpenAI-compatible endpoint, which reads no environment, traces nowhere and
// gives access to the raw response.
import type { BaseMessage } from "@langchain/core/messages";
import { ChatOpenAICompletions } from "@langchain/openai";
import { DEFAULT_TEMPERATURE, type ModelConfig } from "../domain/model_config.ts";
import type { Asked, ChatModel, ModelOverrides } from "./chat_model.ts";
import { completionsReader } from "./completions_reader.ts";
import { type Endpoint, endpointOf } from "../domain/endpoint.ts";
import { postJson } from "./endpoint_fetch.ts";
import { type Quirks, quirksOf } from "./quirks.ts";
import { wireMessages, wireTools } from "./wire_messages.ts";

/**
 * LangChain's model for one endpoint. It always speaks Chat Completions (`ChatOpenAI` would choose the Responses API
 * for some model names), and gives the parameters of a request; the request itself is ours.
 */
export class CompletionsModel extends ChatOpenAICompletions implements ChatModel {
  readonly endpoint: Endpoint;
  readonly quirks: Quirks;
  readonly #headers: Record<string, string>;

  constructor(
    config: ModelConfig,
    overrides: ModelOverrides = {},
    readonly mayCall?: () => Promise<void>,
  ) {
    const endpoint = endpointOf(config);
    super({
      model: config.model,
      // LangChain insists on a key, and makes a client with it that is never used: see `open`.
      apiKey: "none",
      temperature: overrides.temperature ?? config.temperature ?? DEFAULT_TEMPERATURE,
      maxTokens: overrides.maxTokens ?? config.max_tokens,
    });
    this.#headers = headersOf(config, endpoint);
    this.endpoint = endpoint;
    this.quirks = quirksOf(endpoint, config.model);
  }

  /** LangChain's parameters of a request, corrected by what the endpoint is known to refuse. */
  override invocationParams(
    options?: this["ParsedCallOptions"],
    extra?: { streaming?: boolean },
  ): ReturnType<ChatOpenAICompletions["invocationParams"]> {
    const params = super.invocationParams(options, extra);
    const limit = params.max_tokens ?? params.max_completion_tokens;
    delete params.max_tokens;
    delete params.max_completion_tokens;
    if (limit) params[this.quirks.limitField] = limit;
    if (this.quirks.noTemperature) delete params.temperature;
    if (this.quirks.noStreamOptions) delete params.stream_options;
    return params;
  }

  requestOf(messages: readonly BaseMessage[], { tools, toolChoice }: Asked): Record<string, unknown> {
    const choice = toolChoice && !this.quirks.noToolChoice && { tool_choice: toolChoice };
    return {
      ...this.invocationParams(undefined, { streaming: true }),
      stream: true,
      messages: wireMessages(messages, this.quirks),
      ...(tools?.length ? { tools: wireTools(tools), ...choice } : {}),
    };
  }

  readonly reader = completionsReader;

  /** LangChain's own client would take a millisecond of the processor for each call, and make another signal of `signal`. */
  open(body: Record<string, unknown>, signal: AbortSignal): Promise<Response> {
    return postJson(this.endpoint, this.#headers, body, signal);
  }
}

function headersOf({ api_key }: ModelConfig, { host }: Endpoint): Record<string, string> {
  return {
    Accept: "application/json",
    // Servers that want no key might refuse an invented one.
    ...(api_key && { Authorization: `Bearer ${api_key}` }),
    // Azure's older API versions know only this header.
    ...(api_key && host.endsWith(".azure.com") && { "api-key": api_key }),
  };
}
