// The state of LangGraph's graph (contract section 6): what is checkpointed after every step, and what is not.
import type { BaseMessage } from "@langchain/core/messages";
import { Annotation, messagesStateReducer, UntrackedValueChannel } from "@langchain/langgraph";
import type { CopilotMode } from "../domain/model_config.ts";
import { type Growing, growing } from "./growing.ts";

const last = <T>(initial: T) => Annotation<T>({ reducer: (_old, value) => value, default: () => initial });

/** The ids of a conversation's messages. */
class Ids implements Growing {
  readonly #ids = new Set<string>();
  /** Messages that came without one; LangGraph's reducer gives them one later. */
  readonly #without: BaseMessage[] = [];

  add(message: BaseMessage): void {
    if (message.id) this.#ids.add(message.id);
    else this.#without.push(message);
  }

  get complete(): boolean {
    return this.#without.every(({ id }) => id);
  }

  has(id: string | undefined): boolean {
    return this.#ids.has(id!) || this.#without.some((message) => message.id === id);
  }
}

const idsOf = growing(() => new Ids());

/**
 * LangGraph's reducer, without its work for every message of the conversation where there is none: when new messages come
 * at its end. It runs several times in each step.
 */
export function addMessages(known: BaseMessage[], more: BaseMessage[]): BaseMessage[] {
  const added = new Set(more.map(({ id }) => id));
  const ids = idsOf(known);
  const appended = added.size === more.length && !added.has(undefined) && ids.complete &&
    more.every((message) => message.getType() !== "remove" && !ids.has(message.id));
  return appended ? [...known, ...more] : messagesStateReducer(known, more);
}

/** `llm_calls` and `remaining_steps` are the running turn's; `topology_info` never reaches the disk. */
export const CopilotState = Annotation.Root({
  messages: Annotation<BaseMessage[], BaseMessage[]>({ reducer: addMessages, default: () => [] }),
  llm_calls: last(0),
  remaining_steps: last(0),
  conversation_title: last<string | null>(null),
  mode: last<CopilotMode>("teaching_assistant"),
  topology_info: () => new UntrackedValueChannel<string | null>({ guard: false }),
});

export type State = typeof CopilotState.State;
export type Update = typeof CopilotState.Update;
