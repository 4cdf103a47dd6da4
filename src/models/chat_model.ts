// Makes the model of a configuration: LangChain's Chat Completions model for any OpenAI-compatible endpoint, which
// reads no environment, traces nowhere and gives access to the raw response.
import { ChatOpenAICompletions } from "@langchain/openai";
import { DEFAULT_TEMPERATURE, type ModelConfig } from "../domain/model_config.ts";
import { type Endpoint, endpointOf } from "./endpoint.ts";
import { endpointFetch } from "./endpoint_fetch.ts";
import { type Quirks, quirksOf } from "./quirks.ts";

/**
 * LangChain's model for one endpoint. It always speaks Chat Completions (`ChatOpenAI` would choose the Responses API
 * for some model names), and gives the parameters of a request; the request itself is ours.
 */
export class ChatModel extends ChatOpenAICompletions {
  readonly endpoint: Endpoint;
  /** Learned about this model at this endpoint; shared by all models made for the pair. */
  readonly quirks: Quirks;
  readonly #headers: Record<string, string>;

  constructor(
    config: ModelConfig,
    overrides: { temperature?: number; maxTokens?: number } = {},
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

  /**
   * Sends a streaming request and returns the response with its body unread; `signal` ends both. Throws what
   * `endpointFetch` throws. LangChain's own client would take a millisecond of the processor for each call, and make
   * another signal of `signal`, which Deno may collect as garbage while the answer is still read.
   */
  async open(body: Record<string, unknown>, signal: AbortSignal): Promise<Response> {
    const { url, query } = this.endpoint;
    const target = new URL(url);
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
    const init = { method: "POST", headers: this.#headers, body: JSON.stringify(body), signal };
    return await endpointFetch(target, init);
  }
}

/**
 * Makes a model; a fraction of a millisecond, so make one a turn. `mayCall` is asked before each call and throws
 * `AppError` to prevent it. Throws `AppError` for an unusable `base_url`.
 */
export function createChatModel(
  config: ModelConfig,
  overrides?: { temperature?: number; maxTokens?: number },
  mayCall?: () => Promise<void>,
): ChatModel {
  return new ChatModel(config, overrides, mayCall);
}

function headersOf({ api_key }: ModelConfig, { host }: Endpoint): Record<string, string> {
  return {
    "Content-Type": "application/json",
    Accept: "application/json",
    // Servers that want no key might refuse an invented one.
    ...(api_key && { Authorization: `Bearer ${api_key}` }),
    // Azure's older API versions know only this header.
    ...(api_key && host.endsWith(".azure.com") && { "api-key": api_key }),
  };
}
