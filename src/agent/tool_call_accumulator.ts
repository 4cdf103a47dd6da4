// Puts the streamed fragments of tool calls together, however a model interleaves them and whatever it leaves out.
import { type PairedText, pairedText } from "../domain/unicode.ts";
import { ANSWER_LIMITS, endless, inMillions } from "../models/answer_limits.ts";
import type { ToolCallDelta } from "../models/delta.ts";
import type { ModelError } from "../models/model_error.ts";
import { type ModelToolCall, parseObject } from "../models/tool_calls.ts";

/** What to publish: a call begins (with empty arguments), grows by `text`, or is complete. */
export type ToolCallEvent =
  | { type: "start"; id: string; name: string }
  | { type: "delta"; id: string; text: string }
  | { type: "end"; id: string };

/** Characters of arguments that are parsed only to see whether they are complete. */
const MOST_LOOKED = 50_000_000;

export interface ToolCallAccumulator {
  /** Takes the fragments of one chunk; returns what they mean, in order. */
  add(fragments: readonly ToolCallDelta[]): ToolCallEvent[];
  /** Why nothing more is taken. */
  over?: ModelError;
  /** Ends every call. The calls are in the order in which they began. */
  finish(): { events: ToolCallEvent[]; calls: ModelToolCall[] };
}

interface OpenCall {
  id: string;
  /** The id the model gave, also where ours had to differ. */
  givenId?: string;
  name: string;
  text: string;
  /** What its fragments go through: a character may be cut in two between them. */
  paired: PairedText;
  /** The text ends with a brace, so that it may be complete. */
  closed: boolean;
  extra?: unknown;
  /** Announced; a call waits for its name before it is. */
  started: boolean;
  /** Number of the chunk it began in. */
  chunk: number;
}

/**
 * An accumulator for one assistant message. `newId` makes an id where the model gave none, or one that `isUsed` says
 * the conversation has already. Rules (contract section 3, rule 3): a fragment belongs to the call of its index, else
 * to that of its id, else to the last one; the same index with another id is a new call.
 */
export function toolCallAccumulator(
  newId: () => string,
  isUsed: (id: string) => boolean = () => false,
): ToolCallAccumulator {
  const calls: OpenCall[] = [];
  const byIndex = new Map<number, OpenCall>();
  const ids = new Set<string>();
  let last: OpenCall | undefined;
  let chunk = 0;
  let looked = 0;

  /** Undefined when there are as many calls as an answer may have. */
  function begin(fragment: ToolCallDelta): OpenCall | undefined {
    if (calls.length === ANSWER_LIMITS.calls) return undefined;
    let id = fragment.id ?? newId();
    // Calls are kept in objects by their ids, too: an id that every object has a field for would find that.
    while (ids.has(id) || id in {} || isUsed(id)) id = newId();
    ids.add(id);
    const call: OpenCall = {
      id,
      givenId: fragment.id,
      name: "",
      text: "",
      paired: pairedText(),
      closed: false,
      started: false,
      chunk,
    };
    calls.push(call);
    return call;
  }

  function callOf(fragment: ToolCallDelta): OpenCall | undefined {
    const { index, id } = fragment;
    if (index !== undefined) {
      const found = byIndex.get(index);
      if (found && (!id || id === found.givenId)) return found;
      if (found && !found.givenId && found.text === "" && !fragment.name) {
        found.givenId = id;
        return found;
      }
      // Some servers count the index up with every fragment of one call.
      const same = !found && id && !fragment.name ? calls.find((call) => call.givenId === id) : undefined;
      const call = same ?? begin(fragment);
      if (call) byIndex.set(index, call);
      return call;
    }
    if (id) {
      const found = calls.findLast((call) => call.givenId === id);
      return found && !isWhole(found, fragment) ? found : begin(fragment);
    }
    return last && !isWhole(last, fragment) ? last : begin(fragment);
  }

  /** Without an index, a named fragment after a complete call is the next call, not a repetition of the name. */
  function isWhole(call: OpenCall, { name }: ToolCallDelta): boolean {
    if (!name || call.name === "") return false;
    return name !== call.name || call.chunk === chunk || isObject(call);
  }

  function isObject(call: OpenCall): boolean {
    if (!call.closed || looked > MOST_LOOKED) return false;
    looked += call.text.length;
    return parseObject(call.text) !== undefined;
  }

  function take(fragment: ToolCallDelta, events: ToolCallEvent[]): void {
    const call = callOf(fragment);
    if (!call) {
      accumulator.over = endless(`${ANSWER_LIMITS.calls} tool calls`);
      return;
    }
    last = call;
    call.extra ??= fragment.extra;
    if (fragment.name && call.name === "") call.name = fragment.name;
    grow(call, call.paired.push(fragment.args ?? ""), events);
  }

  function grow(call: OpenCall, given: string, events: ToolCallEvent[]): void {
    const text = given.slice(0, ANSWER_LIMITS.callArguments - call.text.length).toWellFormed();
    if (text.length < given.length) {
      accumulator.over = endless(`${inMillions(ANSWER_LIMITS.callArguments, "arguments")} of one tool call`);
    }
    call.text += text;
    // Looked at here, so that a server which repeats the name with every fragment does not have all of it parsed each time.
    if (text.trim() !== "") call.closed = text.trimEnd().endsWith("}");
    if (call.started) {
      if (text) events.push({ type: "delta", id: call.id, text });
    } else if (call.name !== "") {
      start(call, events);
    }
  }

  function start(call: OpenCall, events: ToolCallEvent[]): void {
    call.started = true;
    events.push({ type: "start", id: call.id, name: call.name });
    if (call.text) events.push({ type: "delta", id: call.id, text: call.text });
  }

  const accumulator: ToolCallAccumulator = {
    add(fragments) {
      const events: ToolCallEvent[] = [];
      chunk++;
      for (const fragment of fragments) {
        if (accumulator.over) break;
        take(fragment, events);
      }
      return events;
    },
    finish() {
      const events: ToolCallEvent[] = [];
      for (const call of calls) {
        grow(call, call.paired.end(), events);
        if (!call.started) {
          // It has to be shown and answered all the same, and an empty name is refused when it is sent back.
          call.name ||= "unknown_tool";
          start(call, events);
        }
        events.push({ type: "end", id: call.id });
      }
      return {
        events,
        calls: calls.map(({ id, name, text, extra }) =>
          extra === undefined ? { id, name, argumentsText: text } : { id, name, argumentsText: text, extra }
        ),
      };
    },
  };
  return accumulator;
}
