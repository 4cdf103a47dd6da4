// LangChain's Chat Completions model for any OpenAI-compatible endpoint, which reads no environment, traces nowhere and
// gives access to the raw response.
import type { BaseMessage } from "@langchain/core/messages";
import { ChatOpenAICompletions } from "@langchain/openai";
import { DEFAULT_TEMPERATURE, type ModelConfig } from "../domain/model_config.ts";
import type { Asked, ChatModel, ModelOverrides } from "./chat_model.ts";
import { completionsReader } from "./completions_reader.ts";
import { type Endpoint, endpointOf } from "../domain/endpoint.ts";
import { endpointFetch } from "./endpoint_fetch.ts";
import { type Quirks, quirksOf } from "./quirks.ts";
import { requestText } from "./request_text.ts";
import { wireMessages, wireTools } from "./wire_messages.ts";

// The silence limit of `streamModel` is the one that counts; the client's own must not come before it.
const CLIENT_TIMEOUT = 24 * 3600 * 1000;
/** Under this name a call's signal passes through the client. */
const WIRE = "wire";

/**
 * LangChain's model for one endpoint. It always speaks Chat Completions (`ChatOpenAI` would choose the Responses API
 * for some model names). Failures of its requests carry a `ModelError` as their cause.
 */
export class CompletionsModel extends ChatOpenAICompletions implements ChatModel {
  readonly endpoint: Endpoint;
  readonly quirks: Quirks;

  constructor(
    config: ModelConfig,
    overrides: ModelOverrides = {},
    readonly mayCall?: () => Promise<void>,
  ) {
    const endpoint = endpointOf(config);
    const send = config.api_key ? endpointFetch : anonymousFetch;
    const fetch: typeof endpointFetch = (input, init) =>
      send(input, { ...init, signal: (init as { [WIRE]?: AbortSignal })[WIRE] });
    super({
      model: config.model,
      // The client insists on a key; without one, `anonymousFetch` takes it out of the request.
      apiKey: config.api_key ?? "none",
      temperature: overrides.temperature ?? config.temperature ?? DEFAULT_TEMPERATURE,
      maxTokens: overrides.maxTokens ?? config.max_tokens,
      // `streamModel` retries by itself: the client would wait for minutes and could not be stopped.
      maxRetries: 0,
      timeout: CLIENT_TIMEOUT,
      configuration: {
        baseURL: endpoint.baseUrl,
        defaultQuery: endpoint.query,
        defaultHeaders: headersOf(config, endpoint),
        fetch,
        logLevel: "off",
        // Set to nothing, or the client looks for each of them in the environment.
        organization: null,
        project: null,
        adminAPIKey: null,
        webhookSecret: null,
      },
    });
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

  async open(body: Record<string, unknown>, signal: AbortSignal): Promise<Response> {
    this._getClientOptions(undefined);
    // As text: the client calls a function for every value of a body that it writes itself.
    return await this.client.post("/chat/completions", {
      body: requestText(body) as unknown as Record<string, unknown>,
      headers: { "Content-Type": "application/json" },
      stream: true,
      // Not as the client's `signal`: it would make another one of it, and Deno may collect that one as garbage while the
      // answer is still read. What stands here reaches `fetch` as it is.
      fetchOptions: { [WIRE]: signal } as object,
    }).asResponse();
  }
}

function headersOf(config: ModelConfig, endpoint: Endpoint): Record<string, string> {
  // Azure's older API versions know only this header.
  return config.api_key && endpoint.host.endsWith(".azure.com") ? { "api-key": config.api_key } : {};
}

/** For servers that want no key: an invented one might be refused. */
function anonymousFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const headers = new Headers(init?.headers);
  headers.delete("Authorization");
  return endpointFetch(input, { ...init, headers });
}
