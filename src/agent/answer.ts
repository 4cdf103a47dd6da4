// One answer of the model while it streams: pieces go into the turn's log, the whole becomes the stored message.
import type { BaseMessage } from "@langchain/core/messages";
import { pairedText } from "../domain/unicode.ts";
import type { ModelDelta, ModelUsage, Thought } from "../models/delta.ts";
import { textToolCalls } from "../models/text_tool_calls.ts";
import type { ModelToolCall } from "../models/tool_calls.ts";
import { exchangesOf } from "./exchanges.ts";
import { assistantMessage, toolMessage } from "./messages.ts";
import type { EventPlaces } from "./replay.ts";
import { toolCallAccumulator, type ToolCallEvent } from "./tool_call_accumulator.ts";
import { countTokens } from "./tokens.ts";
import type { Turn } from "./turn.ts";

export interface AnswerOptions {
  turn: Turn;
  newId(): string;
  /** Whether a call's id is taken in this conversation already. */
  isUsed(id: string): boolean;
  /** The tools the model may call; null when it may call none, and what it calls all the same is left out. */
  toolNames: ReadonlySet<string> | null;
}

/** Answers a call that a stop came before. */
export const NOT_RUN = JSON.stringify({
  error: "not run: the turn was stopped before this call was started",
});

/** Collects deltas and publishes them as events of one message; nothing is published before there is something. */
export class Answer {
  text = "";
  finishReason?: string;
  usage?: ModelUsage;
  #reasoning = "";
  readonly #pairedText = pairedText();
  readonly #pairedReasoning = pairedText();
  #thoughts: Thought[] = [];
  #calls: ModelToolCall[] = [];
  #places?: EventPlaces;
  readonly #id: string;
  readonly #accumulator;

  constructor(private readonly options: AnswerOptions) {
    this.#id = options.newId();
    this.#accumulator = toolCallAccumulator(() => `call_${options.newId()}`, options.isUsed);
  }

  /** Whether there is text or a call. */
  get any(): boolean {
    return this.text.trim() !== "" || this.#calls.length > 0;
  }

  get calls(): readonly ModelToolCall[] {
    return this.#calls;
  }

  /**
   * Takes what came in one read. Neighbouring pieces of one kind become one event: a reader cannot tell the difference.
   * Throws `ModelError` when there are too many calls, or one is too long; what came before is taken.
   */
  add(batch: readonly ModelDelta[]): void {
    let text = "";
    let events: ToolCallEvent[] = [];
    const flush = () => {
      this.say(text);
      this.#publish(joined(events));
      text = "";
      events = [];
    };
    for (const delta of batch) {
      if (delta.text) {
        if (events.length) flush();
        text += this.#pairedText.push(delta.text);
      }
      if (delta.reasoning) {
        flush();
        this.#think(this.#pairedReasoning.push(delta.reasoning));
      }
      if (delta.toolCalls && this.options.toolNames) {
        if (text) flush();
        for (const event of this.#accumulator.add(delta.toolCalls)) events.push(event);
        if (this.#accumulator.over) break;
      }
      if (delta.thought) this.#thoughts.push(delta.thought);
      this.finishReason ??= delta.finishReason;
      this.usage ??= delta.usage;
    }
    flush();
    if (this.#accumulator.over) throw this.#accumulator.over;
  }

  /** Adds whole text to the answer. */
  say(text: string): void {
    if (text === "") return;
    this.#noteRun("t", text.length);
    this.text += text;
    this.options.turn.publish({ type: "text_delta", messageId: this.#id, text });
  }

  /** Ends the answer. `whole`: the model has finished, so its calls are complete; otherwise they are cut off. */
  end(whole: boolean): void {
    const { turn, toolNames } = this.options;
    this.#think(this.#pairedReasoning.end());
    this.say(this.#pairedText.end());
    const { events, calls } = this.#accumulator.finish();
    this.#calls = calls;
    this.#publish(whole ? events : events.filter(({ type }) => type !== "end"));
    if (whole && calls.length === 0 && toolNames) {
      this.#calls = this.#callsInText(toolNames);
    }
    if (!this.#places) return;
    this.#places.end = turn.publish({ type: "message_end", messageId: this.#id });
  }

  /** The message for history, with a result for every call when none of them will run. Empty when there is nothing. */
  messages(createdAt: string, stopped: boolean): BaseMessage[] {
    if (!this.any) return [];
    const message = assistantMessage(
      {
        text: this.text,
        calls: this.#calls,
        reasoning: this.#reasoning,
        thoughts: this.#thoughts,
        usage: this.usage,
      },
      { id: this.#id, createdAt },
    );
    message.additional_kwargs.event_seq = this.#places;
    const results = !stopped ? [] : this.#calls.map(({ id, name }) => {
      const stamp = { id: this.options.newId(), createdAt };
      const result = toolMessage({ callId: id, name, output: NOT_RUN, status: "error" }, stamp);
      result.additional_kwargs.not_started = true;
      return result;
    });
    return [message, ...results];
  }

  /** Tokens of the answer by our own count, for providers that report none. */
  count(): number {
    return countTokens(this.text) + countTokens(this.#reasoning) +
      this.#calls.reduce((sum, call) => sum + countTokens(call.name) + countTokens(call.argumentsText), 0);
  }

  #think(text: string): void {
    if (text === "") return;
    this.#noteRun("r", text.length);
    this.#reasoning += text;
    this.options.turn.publish({ type: "reasoning_delta", messageId: this.#id, text });
  }

  #publish(events: readonly ToolCallEvent[]): void {
    const { turn } = this.options;
    const messageId = this.#id;
    if (!events.length) return;
    const calls = this.#start().calls ??= [];
    for (const event of events) {
      const toolCallId = event.id;
      if (event.type === "start") {
        const seq = turn.publish({ type: "tool_call_start", messageId, toolCallId, name: event.name });
        calls.push([toolCallId, seq]);
      } else if (event.type === "end") {
        const seq = turn.publish({ type: "tool_call_end", messageId, toolCallId });
        const call = calls.find(([id]) => id === toolCallId);
        if (call) call[2] = seq;
      } else turn.publish({ type: "tool_call_delta", messageId, toolCallId, text: event.text });
    }
  }

  /** Models that were not trained for the interface write their calls as text; an answer that is nothing else is a call. */
  #callsInText(names: ReadonlySet<string>): ModelToolCall[] {
    const found = textToolCalls(this.text, names);
    return found.map((call) => {
      const id = `call_${this.options.newId()}`;
      this.#publish([
        { type: "start", id, name: call.name },
        { type: "delta", id, text: call.argumentsText },
        { type: "end", id },
      ]);
      return { id, ...call };
    });
  }

  #start(): EventPlaces {
    const { turn } = this.options;
    return this.#places ??= {
      turn: turn.id,
      start: turn.publish({ type: "message_start", messageId: this.#id }),
      end: 0,
    };
  }

  /** Notes where text that is about to be published stands in the log. */
  #noteRun(kind: "t" | "r", length: number): void {
    const runs = this.#start().runs ??= [];
    const at = this.options.turn.log.last;
    const last = runs.at(-1);
    if (last && last[0] === kind && last[1] + last[2] === at) last[2] += length;
    else runs.push([kind, at, length]);
  }
}

/** The events with neighbouring fragments of one call joined. */
function joined(events: readonly ToolCallEvent[]): ToolCallEvent[] {
  const all: ToolCallEvent[] = [];
  for (const event of events) {
    const last = all.at(-1);
    if (event.type === "delta" && last?.type === "delta" && last.id === event.id) {
      all[all.length - 1] = { ...last, text: last.text + event.text };
    } else all.push(event);
  }
  return all;
}

/** Whether a call id occurs in a conversation. */
export function usedIds(messages: readonly BaseMessage[]): (id: string) => boolean {
  return (id) => exchangesOf(messages).hasCall(id);
}
