// Where a model configuration that is about to be stored may point.
import { AppError, fieldError } from "../../domain/error.ts";
import type { ModelSettings } from "../../domain/stored_model.ts";
import type { AddressGuard } from "../../models/address_guard.ts";
import { endpointOf } from "../../domain/endpoint.ts";
import type { Change } from "../../storage/model_configs.ts";

/** Refuses an endpoint that may not be called, as a wrong value of `base_url`. */
export async function checkEndpoint(
  guard: AddressGuard,
  { provider, base_url }: { provider: string; base_url?: string | null },
): Promise<void> {
  const given = base_url?.trim() || undefined;
  const refuse = (message: string) => fieldError(["body", "base_url"], message);
  const url = given === undefined ? undefined : URL.parse(given);
  if (url && (url.username || url.password)) {
    throw refuse("must not hold a user name or a password; the key belongs into api_key");
  }
  if (url && [...url.searchParams.keys()].some((name) => /key|token|secret|password/i.test(name))) {
    throw refuse("must not hold a key; it belongs into api_key");
  }
  try {
    await guard.lookedUp({ provider, base_url: given });
  } catch (error) {
    throw error instanceof AppError ? refuse(error.message.replace(/^base_url /, "")) : error;
  }
}

/** A key that somebody else has entered is not sent to another server than the one it was entered for. */
export function keepsKeyAtHome({ before, after, keepsForeignKey }: Change): void {
  if (!keepsForeignKey || !before || originOf(before) === originOf(after)) return;
  throw fieldError(
    ["body", "api_key"],
    "somebody else entered the stored key, for another server: enter a key for the new base_url",
  );
}

function originOf({ provider, base_url }: ModelSettings): string {
  try {
    return new URL(endpointOf({ provider, ...(base_url ? { base_url } : {}) }).baseUrl).origin;
  } catch {
    return "";
  }
}
