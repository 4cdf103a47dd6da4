// The part of a conversation that was sent whole last time, up to the question of then: when it fits again, nothing of it
// has to be looked at.
import type { BaseMessage } from "@langchain/core/messages";
import { startsWith } from "./growing.ts";
import type { Unit } from "./sendable.ts";

/** The first units of a conversation, and what is sent of them under a budget. */
export interface SentWhole {
  units: Unit[];
  messages: BaseMessage[];
  tokens: number;
  budget: number;
}

// By the first unit, so that it is forgotten with the conversation.
const known = new WeakMap<Unit, SentWhole>();

/** The first of these units, at most `most`, that were sent whole under this budget; undefined for none. */
export function sentWhole(units: readonly Unit[], budget: number, most: number): SentWhole | undefined {
  const whole = units[0] && known.get(units[0]);
  if (whole?.budget !== budget || whole.units.length > most) return undefined;
  return startsWith(units, whole.units) ? whole : undefined;
}

/** Notes that the first `count` units were sent as they are sized, behind `before`, which `sentWhole` gave for them. */
export function noteWhole(units: readonly Unit[], budget: number, count: number, before?: SentWhole): void {
  if (count === 0) return;
  const whole = before ?? { units: [], messages: [], tokens: 0, budget };
  for (let at = whole.units.length; at < count; at++) {
    const { unit, tokens } = units[at]!.sized!;
    whole.units.push(units[at]!);
    for (const message of unit.messages) whole.messages.push(message);
    whole.tokens += tokens;
  }
  known.set(units[0]!, whole);
}
