// What a request makes of a stored model configuration, and what a turn gets from it.
import { DEFAULT_TEMPERATURE, type ModelConfig } from "./model_config.ts";
import { type CreateModel, extraOf, KEY_MASK, type ModelSettings, type UpdateModel } from "./stored_model.ts";

/** The settings of a new configuration. */
export function settingsOf(body: CreateModel): ModelSettings {
  return changeSettings(undefined, body);
}

/** `before` with the changes of a request: null clears a field, or sets it to its default. */
export function changeSettings(before: ModelSettings | undefined, change: UpdateModel): ModelSettings {
  const keep = <T>(sent: T | null | undefined, stored: T | undefined, cleared: T): T =>
    sent === undefined ? stored ?? cleared : sent ?? cleared;
  const merged: Record<string, unknown> = {
    ...before,
    provider: keep(change.provider, before?.provider, ""),
    base_url: keep(change.base_url, before?.base_url, ""),
    model: keep(change.model, before?.model, ""),
    temperature: keep(change.temperature, before?.temperature, DEFAULT_TEMPERATURE),
    max_tokens: keep<number | null>(change.max_tokens, before?.max_tokens, null),
    context_limit: keep(change.context_limit, before?.context_limit, 0),
    context_strategy: keep(change.context_strategy, before?.context_strategy, "balanced"),
    copilot_mode: keep(change.copilot_mode, before?.copilot_mode, "teaching_assistant"),
  };
  for (const [field, value] of Object.entries(extraOf(change))) {
    if (value === null) delete merged[field];
    else merged[field] = value;
  }
  return merged as ModelSettings;
}

/** What a sent key means: undefined leaves the stored one, null removes it. Clients are shown null instead of a key. */
export function keyChange(sent: string | null | undefined): string | null | undefined {
  if (sent === undefined || sent === null || KEY_MASK.test(sent)) return undefined;
  return sent === "" ? null : sent;
}

/** The settings as a turn uses them. */
export function toModelConfig(settings: ModelSettings, apiKey: string | undefined): ModelConfig {
  const {
    provider,
    base_url,
    model,
    temperature,
    max_tokens,
    context_limit,
    context_strategy,
    copilot_mode,
  } = settings;
  return {
    provider,
    ...(base_url ? { base_url } : {}),
    model,
    ...(apiKey ? { api_key: apiKey } : {}),
    temperature,
    ...(max_tokens ? { max_tokens } : {}),
    context_limit,
    context_strategy,
    copilot_mode,
  };
}
