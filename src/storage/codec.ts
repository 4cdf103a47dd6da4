// Values of LangGraph's channels as JSON. What JSON cannot say, and references to rows, are objects with the key "$".
import { DeltaSnapshot, isDeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { AppError } from "../domain/error.ts";
import { damaged } from "./errors.ts";
import { type Json, MAX_DEPTH, MAX_PACKED, tagged } from "./tags.ts";

export { type Json, mayBeTooDeep, tagged, visitTags } from "./tags.ts";

/** How messages are written and read; `null` when a value is none (or no list of them). */
export interface References {
  /** For a message, or an array of nothing but messages, which lies `depth` levels deep: the object that stands for it. */
  write(value: object, depth: number): Json | null;
  /** The reverse, for a tag that is not one of this file's. */
  read(tag: string, value: Json): unknown;
}

/** The JSON for `value`. Throws `AppError` for a value nested deeper than 500 levels, as one that holds itself is. */
export function pack(value: unknown, references: References, depth = 0): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : tagged("number", String(value));
  if (typeof value === "bigint") return tagged("bigint", String(value));
  if (typeof value !== "object") return tagged("undefined", null);
  if (depth > MAX_DEPTH) {
    throw new AppError("internal", "A value in the agent's state is nested too deeply to be saved.");
  }
  const inner = (part: unknown) => pack(part, references, depth + 1);
  const reference = references.write(value, depth);
  if (reference !== null) return reference;
  if (Array.isArray(value)) return value.map(inner);
  if (value instanceof Uint8Array) return tagged("bytes", toBase64(value));
  if (value instanceof Date) return tagged("date", value.getTime());
  if (value instanceof Set) return tagged("set", [...value].map(inner));
  if (value instanceof Map) return tagged("map", [...value].map(([key, item]) => [inner(key), inner(item)]));
  if (value instanceof Error) return tagged("error", [value.name, value.message]);
  if (value instanceof RegExp) return tagged("regexp", [value.source, value.flags]);
  if (isDeltaSnapshot(value)) return tagged("delta", inner(value.value));
  if (isSend(value)) return inner({ node: value.node, args: value.args, timeout: value.timeout });
  if ("toJSON" in value && typeof value.toJSON === "function") return inner(value.toJSON());
  const packed = packObject(value, inner);
  return Object.hasOwn(packed, "$") ? tagged("object", packed) : packed;
}

/**
 * The value that `pack` was given. Changes `json` itself on the way: hand over what was just parsed. Throws `AppError` for
 * what `pack` cannot have made.
 */
export function unpack(json: Json, references: References, depth = 0): unknown {
  if (json === null || typeof json !== "object") return json;
  if (depth > MAX_PACKED) throw damaged();
  if (!Array.isArray(json) && typeof json.$ === "string") {
    return untag(json.$, json.v ?? null, references, depth + 1);
  }
  unpackParts(json, references, depth);
  return json;
}

function packObject(value: object, inner: (part: unknown) => Json): { [key: string]: Json } {
  // `fromEntries` makes an own property even of "__proto__", which tool arguments may contain.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== undefined && typeof part !== "function" && typeof part !== "symbol")
      .map(([key, part]) => [key, inner(part)]),
  );
}

/** LangGraph's `Send` is stored as its fields: its engine takes an object with them for one. */
function isSend(value: object): value is { node: unknown; args: unknown; timeout?: unknown } {
  return "lg_name" in value && value.lg_name === "Send";
}

function unpackParts(json: Json[] | { [key: string]: Json }, references: References, depth: number): void {
  const target = json as Record<string, unknown>;
  for (const [key, part] of Object.entries(json)) {
    if (part !== null && typeof part === "object") target[key] = unpack(part, references, depth + 1);
  }
}

// No class is looked up by a name in the data: a project that was imported may hold anything.
function untag(tag: string, value: Json, references: References, depth: number): unknown {
  switch (tag) {
    case "undefined":
      return undefined;
    case "number":
      return Number(value);
    case "bigint":
      return BigInt(value as string);
    case "bytes":
      return Uint8Array.from(atob(value as string), (character) => character.charCodeAt(0));
    case "date":
      return new Date(value === null ? NaN : value as number);
    case "set":
      return new Set(unpack(value, references, depth) as unknown[]);
    case "map":
      return new Map(unpack(value, references, depth) as [unknown, unknown][]);
    case "error": {
      const [name, message] = value as [string, string];
      return Object.assign(new Error(message), { name });
    }
    case "regexp":
      return new RegExp((value as string[])[0]!, (value as string[])[1]);
    case "delta":
      return new DeltaSnapshot(unpack(value, references, depth));
    case "object":
      unpackParts(value as { [key: string]: Json }, references, depth);
      return value;
    default:
      return references.read(tag, value);
  }
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  // In pieces: a call takes only so many arguments.
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}
