// Tool calls that a model wrote into its answer as text instead of making them. Only an answer that is nothing but
// such calls counts; the same JSON inside prose or a code block is talk about a call, not a call.
import { isDeeper } from "../domain/json.ts";
import { formatJson } from "../domain/unicode.ts";
import { ANSWER_LIMITS } from "./answer_limits.ts";

/** A call found in text; `argumentsText` is JSON. */
export interface TextToolCall {
  name: string;
  argumentsText: string;
}

/** The calls that `text` as a whole consists of, or none. Every name must be one of `names`. */
export function textToolCalls(text: string, names: ReadonlySet<string>): TextToolCall[] {
  const whole = text.trim();
  if (whole.length > 100_000 || !/^(<tool_call>|[[{])/.test(whole)) return [];
  const values = whole.startsWith("<") ? tagged(whole) : parse(whole);
  const calls: TextToolCall[] = [];
  if ((values?.length ?? 0) > ANSWER_LIMITS.calls) return [];
  for (const value of values ?? []) {
    const call = callOf(value);
    if (!call || !names.has(call.name)) return [];
    calls.push(call);
  }
  return calls;
}

/** The contents of `<tool_call>…</tool_call>` blocks, when there is nothing between them. */
function tagged(text: string): unknown[] | undefined {
  const blocks = text.split(/<tool_call>/).slice(1).map((block) => block.trim());
  const values: unknown[] = [];
  for (const block of blocks) {
    const value = parse(block.endsWith("</tool_call>") ? block.slice(0, -"</tool_call>".length) : block);
    if (!value) return undefined;
    values.push(...value);
  }
  return values;
}

function parse(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [value];
  } catch {
    return undefined;
  }
}

function callOf(value: unknown): TextToolCall | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const outer = value as Record<string, unknown>;
  const call =
    (typeof outer.function === "object" && outer.function !== null ? outer.function : outer) as Record<
      string,
      unknown
    >;
  const args = call.arguments ?? call.parameters;
  if (typeof call.name !== "string") return undefined;
  const name = call.name.toWellFormed();
  if (typeof args === "string") return { name, argumentsText: args.toWellFormed() };
  if (typeof args !== "object" || args === null || Array.isArray(args) || isDeeper(args)) return undefined;
  return { name, argumentsText: formatJson(args) };
}
