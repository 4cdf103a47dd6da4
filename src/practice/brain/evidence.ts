// What the practice model has seen since the user's last message: its own tool calls and their results.
import { type ChatBody, contentOf } from "../model_script.ts";

export interface SeenCall {
  name: string;
  args: Record<string, unknown>;
  /** The result's text, and what it is as JSON (undefined when it is none). */
  output: string;
  value: unknown;
}

/** One command on one device: what it printed, or why it did not run. */
export interface CommandOutput {
  command: string;
  output: string;
  error: string;
}

/** The user's last question, without script keys. */
export function questionOf({ messages }: ChatBody): string {
  const last = messages.findLast((message) => message.role === "user");
  return contentOf(last).replaceAll(/\[\[[^\]]*\]\]/g, "").trim();
}

/** The calls made since that question, in order, with their results. */
export function callsOf({ messages }: ChatBody): SeenCall[] {
  const start = messages.findLastIndex((message) => message.role === "user");
  const recent = messages.slice(start + 1);
  return recent.flatMap((message) => message.tool_calls ?? []).map(
    ({ id, function: { name, arguments: text } }) => {
      const output = contentOf(
        recent.find((message) => message.role === "tool" && message.tool_call_id === id),
      );
      return { name, args: asObject(parse(text)), output, value: parse(output) };
    },
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A value as an object; anything else is an empty one. */
export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : {};
}

/** A value as a list of objects. */
export function asList(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(asObject) : [];
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The sentence in which a tool said that it failed, or "". */
export function failureOf(call: SeenCall): string {
  const { error } = asObject(call.value);
  return asText(error) || asText(asObject(error).message);
}

/** What devices printed in these calls, by device name; `""` as command stands for a device that could not be used at all. */
export function outputsOf(calls: SeenCall[]): Map<string, CommandOutput[]> {
  const outputs = new Map<string, CommandOutput[]>();
  for (const call of calls) {
    for (const result of asList(asObject(call.value).results)) {
      const device = asText(result.device_name);
      if (!device) continue;
      const list = outputs.get(device) ?? [];
      outputs.set(device, list);
      const commands = asList(result.commands);
      for (const one of commands) {
        list.push({ command: asText(one.command), output: asText(one.output), error: asText(one.error) });
      }
      if (commands.length === 0) {
        list.push({ command: "", output: asText(result.output), error: asText(result.error) });
      }
    }
  }
  return outputs;
}
