// The JSON that `codec.ts` makes, for those who only look through it: this file needs no LangChain.
import { damaged } from "./errors.ts";

/** Anything `JSON.parse` can give. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** So many levels of a value are saved. */
export const MAX_DEPTH = 500;
/** What `pack` makes of that many levels: a `Map` takes four. */
export const MAX_PACKED = 4 * MAX_DEPTH;

/** Calls `found` with the tag and value of every tagged object in `json`, at any depth. Throws as `unpack` does. */
export function visitTags(json: Json, found: (tag: string, value: Json) => void, depth = 0): void {
  if (json === null || typeof json !== "object") return;
  if (depth > MAX_PACKED) throw damaged();
  let parts: Json = json;
  if (!Array.isArray(json) && typeof json.$ === "string") {
    found(json.$, json.v ?? null);
    // What an "object" holds only looks like a tagged one.
    if (json.$ === "object") parts = json.v ?? null;
  }
  for (const part of Object.values(parts ?? {})) visitTags(part, found, depth + 1);
}

/** Whether a JSON text may be nested deeper than anything that `pack` makes: then it must be gone through. */
export function mayBeTooDeep(text: string): boolean {
  return text.length > 2 * MAX_PACKED;
}

/** An object that stands for what JSON cannot say. */
export function tagged(tag: string, value: Json): Json {
  return { $: tag, v: value };
}
