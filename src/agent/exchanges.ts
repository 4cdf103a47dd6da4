// A history as exchanges: which result belongs to which call, and what makes it whole again after a crash.
import { type BaseMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import { type ModelToolCall, toolCallsOf } from "../models/tool_calls.ts";
import { type Growing, growing } from "./growing.ts";
import { INTERRUPTED, toolMessage } from "./messages.ts";

/** A message with the results of its calls; messages without calls have none. */
export interface Exchange {
  message: BaseMessage;
  calls: readonly ModelToolCall[];
  /** By position in `calls`; undefined where a call was not answered so far. */
  results: (ToolMessage | undefined)[];
}

interface Place {
  exchange: Exchange;
  at: number;
}

// Most messages have no calls; long conversations are kept as exchanges, so these share one array.
const NONE = Object.freeze([]) as unknown as never[];

/** The exchanges of a history. */
export class Exchanges implements Growing {
  readonly exchanges: Exchange[] = [];
  /** Results without a call, and second results of one call. */
  readonly stray: ToolMessage[] = [];
  /** Where the next result of each id goes; models reuse ids, so a later call takes an id over. */
  readonly #waiting = new Map<string, Place[]>();

  add(message: BaseMessage): void {
    if (ToolMessage.isInstance(message)) {
      const place = this.#waiting.get(message.tool_call_id)?.shift();
      if (place) place.exchange.results[place.at] = message;
      else this.stray.push(message);
      return;
    }
    const calls = toolCallsOf(message);
    if (calls.length === 0) {
      this.exchanges.push({ message, calls: NONE, results: NONE });
      return;
    }
    const exchange: Exchange = { message, calls, results: new Array(calls.length).fill(undefined) };
    this.exchanges.push(exchange);
    const own = new Set<string>();
    calls.forEach(({ id }, at) => {
      if (own.has(id)) this.#waiting.get(id)!.push({ exchange, at });
      else this.#waiting.set(id, [{ exchange, at }]);
      own.add(id);
    });
  }

  /** Whether some call has this id. */
  hasCall(id: string): boolean {
    return this.#waiting.has(id);
  }
}

/** The exchanges of a conversation that goes on; see `growing`. */
export const exchangesOf = growing(() => new Exchanges());

/** The exchanges of any messages. */
export function exchanges(messages: readonly BaseMessage[]): Exchanges {
  const found = new Exchanges();
  for (const message of messages) found.add(message);
  return found;
}

/**
 * The messages to write so that a history which ends in an interrupted turn is whole: a result for each unanswered
 * call since the last user message, a removal for each result that answers nothing. Empty when nothing is amiss.
 * `output` is what such a result says.
 */
export function repair(
  messages: readonly BaseMessage[],
  now: string,
  newId: () => string,
  output = INTERRUPTED,
): BaseMessage[] {
  const { exchanges: found, stray } = exchangesOf(messages);
  const lastUser = found.findLastIndex(({ message }) => message.getType() === "human");
  const missing = found.slice(lastUser + 1).flatMap(({ calls, results }) =>
    calls.filter((_, at) => results[at] === undefined)
  );
  return [
    ...stray.flatMap(({ id }) => id ? [new RemoveMessage({ id })] : []),
    ...missing.map(({ id, name }) =>
      toolMessage({ callId: id, name, output, status: "error" }, { id: newId(), createdAt: now })
    ),
  ];
}
