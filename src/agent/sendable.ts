// A history as units that a strict provider accepts: every call answered once, right after its message, under an id of
// its own and with arguments that are JSON; nothing else pretends to be a result.
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { type ModelToolCall, parseArguments, toolCallFields } from "../models/tool_calls.ts";
import { type Exchange, type Exchanges, exchangesOf } from "./exchanges.ts";
import { INTERRUPTED } from "./messages.ts";
import { copyOf } from "./shorten.ts";

/** Messages that stay or go together: one message, or an assistant's with the results of its calls. */
export interface Unit {
  kind: "user" | "assistant" | "system";
  messages: readonly BaseMessage[];
  /** As it was sent last, where nothing of its size was estimated. */
  sized?: Sized;
}

/** What is sent of a unit, and how large that is. */
export interface Sized {
  unit: Unit;
  tokens: number;
  /** What results were shortened for. */
  budget: number;
}

/** The units of a history, in order. The messages in it are the given objects wherever those are fit to be sent. */
export function sendableUnits(messages: readonly BaseMessage[]): Unit[] {
  const found = exchangesOf(messages);
  let units = known.get(found);
  if (!units) known.set(found, units = new Units());
  return units.of(found.exchanges);
}

const known = new WeakMap<Exchanges, Units>();

/** An exchange that is a unit while some of its calls have no result. */
interface Open {
  exchange: Exchange;
  calls: ModelToolCall[];
  /** Place of its unit. */
  at: number;
  answered: number;
}

/** The units of exchanges that more are added to, and results. */
class Units {
  readonly #units: Unit[] = [];
  readonly #ids = new Set<string>();
  #done = 0;
  #open: Open[] = [];

  of(exchanges: readonly Exchange[]): Unit[] {
    for (const open of this.#open) {
      if (answers(open.exchange) > open.answered) this.#units[open.at] = this.#answered(open);
    }
    this.#open = this.#open.filter(isOpen);
    for (; this.#done < exchanges.length; this.#done++) this.#add(exchanges[this.#done]!);
    return this.#units.slice();
  }

  #add(exchange: Exchange): void {
    const { message, calls } = exchange;
    const type = message.getType();
    if (type !== "ai") this.#units.push({ kind: type === "system" ? "system" : "user", messages: [message] });
    else if (calls.length > 0) {
      const open = { exchange, calls: sendableCalls(calls, this.#ids), at: this.#units.length, answered: 0 };
      this.#units.push(this.#answered(open));
      if (isOpen(open)) this.#open.push(open);
    } else if (!isBlank(message.content)) this.#units.push({ kind: "assistant", messages: [message] });
  }

  #answered(open: Open): Unit {
    open.answered = answers(open.exchange);
    return { kind: "assistant", messages: answered(open.exchange, open.calls) };
  }
}

function isOpen({ calls, answered }: Open): boolean {
  return answered < calls.length;
}

function answers({ results }: Exchange): number {
  return results.reduce((count, result) => result ? count + 1 : count, 0);
}

function isBlank(content: BaseMessage["content"]): boolean {
  if (typeof content === "string") return content.trim() === "";
  return !content.some((part) => part.type === "text" && String(part.text).trim() !== "");
}

function sendableCalls(calls: readonly ModelToolCall[], ids: Set<string>): ModelToolCall[] {
  return calls.map((call) => ({
    ...call,
    id: uniqueId(call.id, ids),
    argumentsText: parseArguments(call.argumentsText) ? call.argumentsText : "{}",
  }));
}

function answered({ message, calls, results }: Exchange, fixed: ModelToolCall[]): BaseMessage[] {
  const changed = fixed.some((call, at) =>
    call.id !== calls[at]!.id || call.argumentsText !== calls[at]!.argumentsText
  );
  return [
    changed ? withCalls(message, fixed) : message,
    ...fixed.map(({ id, name }, at) => resultFor(results[at], message, id, name)),
  ];
}

/** `id` itself the first time, then `id_2`, `id_3` …; the same at every call, so that a provider's cache still hits. */
function uniqueId(id: string, ids: Set<string>): string {
  const base = id || "call";
  let unique = base;
  for (let count = 2; ids.has(unique); count++) unique = `${base}_${count}`;
  ids.add(unique);
  return unique;
}

function withCalls(message: BaseMessage, calls: ModelToolCall[]): BaseMessage {
  return copyOf(message, calls.map((call) => call.id).join(" "), () => {
    const { kwargs, ...fields } = toolCallFields(calls);
    const { arguments_text: _text, call_extras: _extras, call_order: _order, tool_calls: _raw, ...rest } =
      message.additional_kwargs as Record<string, unknown>;
    const { id, name, content } = message;
    return new AIMessage({ id, name, content, ...fields, additional_kwargs: { ...rest, ...kwargs } });
  });
}

function resultFor(
  result: ToolMessage | undefined,
  caller: BaseMessage,
  tool_call_id: string,
  name: string,
): BaseMessage {
  if (!result) {
    return copyOf(
      caller,
      `result ${tool_call_id}`,
      () => new ToolMessage({ tool_call_id, name, content: INTERRUPTED, status: "error" }),
    );
  }
  if (result.tool_call_id === tool_call_id) return result;
  return copyOf(result, tool_call_id, () => {
    const { id, content, status, additional_kwargs } = result;
    return new ToolMessage({ id, name, content, status, additional_kwargs, tool_call_id });
  });
}
