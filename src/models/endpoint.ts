// Where a model is reached: a configuration's base URL as people write it, made into the one that is called.
import { AppError } from "../domain/error.ts";
import type { ModelConfig } from "../domain/model_config.ts";

/** Base URLs of providers whose name alone is enough; everyone else needs `base_url`. */
export const PROVIDER_URLS: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
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

/** An endpoint of the Chat Completions API. `url` is what is called, fit to be shown: no credentials, no query. */
export interface Endpoint {
  baseUrl: string;
  query: Record<string, string>;
  url: string;
  host: string;
}

/**
 * The endpoint of a configuration. Trailing slashes do not matter, and a pasted `…/chat/completions` is trimmed.
 * Throws `AppError` `bad_request` when there is no usable URL.
 */
export function endpointOf(config: Pick<ModelConfig, "provider" | "base_url">): Endpoint {
  const given = config.base_url ?? PROVIDER_URLS[config.provider.toLowerCase()];
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
  const path = url.pathname.replace(/\/+$/, "").replace(/\/chat\/completions$/, "").replace(/\/+$/, "");
  const baseUrl = url.origin + path;
  return {
    baseUrl,
    query: Object.fromEntries(url.searchParams),
    url: `${baseUrl}/chat/completions`,
    host: url.host,
  };
}
