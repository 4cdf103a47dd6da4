// Where a model is reached: a configuration's base URL as people write it, made into the one that is called.
import { AppError } from "./error.ts";
import type { ModelConfig } from "./model_config.ts";

/** Base URLs of providers whose name alone is enough; everyone else needs `base_url`. */
export const PROVIDER_URLS: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com",
  deepseek: "https://api.deepseek.com/v1",
  fireworks: "https://api.fireworks.ai/inference/v1",
  gemini: "https://generativelanguage.googleapis.com/v1beta/openai",
  google: "https://generativelanguage.googleapis.com/v1beta/openai",
  groq: "https://api.groq.com/openai/v1",
  lmstudio: "http://127.0.0.1:1234/v1",
  mistral: "https://api.mistral.ai/v1",
  moonshot: "https://api.moonshot.ai/v1",
  ollama: "http://127.0.0.1:11434/v1",
  openrouter: "https://openrouter.ai/api/v1",
  qwen: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
  together: "https://api.together.xyz/v1",
  vllm: "http://127.0.0.1:8000/v1",
  xai: "https://api.x.ai/v1",
  zhipu: "https://open.bigmodel.cn/api/paas/v4",
};

/** A model's endpoint. `url` is what is called, fit to be shown: no credentials, no query. */
export interface Endpoint {
  baseUrl: string;
  query: Record<string, string>;
  url: string;
  host: string;
}

/** Whether a provider is called with Anthropic's Messages API instead of OpenAI's Chat Completions. */
export function speaksMessages({ provider }: Pick<ModelConfig, "provider">): boolean {
  return provider.trim().toLowerCase() === "anthropic";
}

/**
 * The endpoint of a configuration. Trailing slashes do not matter, and a pasted `…/chat/completions` is trimmed; with
 * Anthropic's API neither does whether `/v1` or `/v1/messages` was pasted too.
 * Throws `AppError` `bad_request` when there is no usable URL.
 */
export function endpointOf(config: Pick<ModelConfig, "provider" | "base_url">): Endpoint {
  const provider = config.provider.trim().toLowerCase();
  const given = config.base_url ??
    (Object.hasOwn(PROVIDER_URLS, provider) ? PROVIDER_URLS[provider] : undefined);
  if (!given) {
    throw new AppError(
      "bad_request",
      `The model configuration needs a base_url: the address of provider "${config.provider}" is not known.`,
    );
  }
  const url = URL.parse(given.trim());
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new AppError("bad_request", `base_url is not an http or https address: "${given.slice(0, 100)}".`);
  }
  const messages = speaksMessages(config);
  const path = trimmed(
    url.pathname,
    messages ? ["messages", "chat/completions", "v1"] : ["chat/completions"],
  );
  const baseUrl = url.origin + path;
  return {
    baseUrl,
    query: Object.fromEntries(url.searchParams),
    url: messages ? `${baseUrl}/v1/messages` : `${baseUrl}/chat/completions`,
    host: url.host,
  };
}

/** A path without slashes at its end, and without `ends` there, each once and in this order. */
function trimmed(path: string, ends: readonly string[]): string {
  const bare = (text: string) => text.replace(/\/+$/, "");
  return ends.reduce(
    (rest, end) => rest.endsWith(`/${end}`) ? bare(rest.slice(0, -end.length)) : rest,
    bare(path),
  );
}
