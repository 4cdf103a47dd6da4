// Which units of a conversation fit into the room that is left for them, and how large tool results give way.
import type { BaseMessage } from "@langchain/core/messages";
import type { Unit } from "./sendable.ts";
import { shortenMessage } from "./shorten.ts";
import { countMessage, knownCount, messageBytes } from "./tokens.ts";

/** What is sent beside the system message; `tokens` is its size. */
export interface Chosen {
  messages: BaseMessage[];
  tokens: number;
  trimmed: boolean;
  warnings: string[];
}

/**
 * The units that fit into `room` tokens, newest first chosen, in their old order. The latest question is always among
 * them; what is dropped is dropped from the oldest on, and what is left of old history begins with a question.
 * `budget` decides how large a tool result may be at most: a quarter of it, and half for all results of one message.
 */
export function choose(units: Unit[], budget: number, room: number): Chosen {
  const limits: Limits = {
    result: Math.floor(budget / 4),
    unit: Math.floor(budget / 2),
    work: EXACT_BYTES,
    counted: { bytes: 1000, tokens: 400 },
  };
  const lastUser = units.findLastIndex((unit) => unit.kind === "user");
  const warnings: string[] = [];
  const kept: Unit[] = [];
  let left = room;
  if (lastUser >= 0) {
    // Never to nothing: when the system prompt alone fills the budget, the question is still asked.
    const question = shortenMessage(units[lastUser]!.messages[0]!, Math.max(room, limits.result));
    if (question !== units[lastUser]!.messages[0]) {
      warnings.push("The latest message is larger than the context window: its middle is left out");
    }
    units = units.with(lastUser, { kind: "user", messages: [question] });
    left -= countMessage(question);
  }
  let at = units.length - 1;
  for (; at >= 0; at--) {
    if (at === lastUser) {
      kept.push(units[at]!);
      continue;
    }
    let unit = capped(units[at]!, limits);
    let tokens = unitTokens(unit, limits);
    if (tokens > left && at === units.length - 1 && unit.messages.length > 1) {
      // Without the newest results the model would make the same calls again.
      unit = shrunk(unit, Math.max(left, MIN_NEWEST));
      tokens = unitTokens(unit, limits);
      if (tokens > left) warnings.push("The newest tool results do not fit into the context window");
    } else if (tokens > left) {
      break;
    }
    kept.push(unit);
    left -= tokens;
  }
  const trimmed = at >= 0;
  if (trimmed && at < lastUser) {
    while (kept.at(-1)!.kind !== "user") {
      left += unitTokens(kept.pop()!, limits);
    }
  }
  if (trimmed && at > lastUser && lastUser >= 0) kept.push(units[lastUser]!);
  return {
    messages: kept.reverse().flatMap((unit) => unit.messages),
    tokens: room - left,
    trimmed,
    warnings,
  };
}

/** Bytes of messages counted exactly in one call; the older ones beyond are estimated until a later call gets there. */
const EXACT_BYTES = 100_000;
/** Tokens the newest exchange gets in any case. */
const MIN_NEWEST = 512;

interface Limits {
  /** Tokens of one tool result, and of all results of one message. */
  result: number;
  unit: number;
  /** Bytes that may still be counted exactly; what was counted tells how long the rest may be. */
  work: number;
  counted: { bytes: number; tokens: number };
}

function unitTokens(unit: Unit, limits: Limits): number {
  let tokens = 0;
  for (const message of unit.messages) tokens += tokensOf(message, limits);
  return tokens;
}

function tokensOf(message: BaseMessage, limits: Limits): number {
  const known = knownCount(message);
  if (known !== undefined) return known;
  const bytes = messageBytes(message);
  const { counted } = limits;
  // A tenth more than what this conversation's other messages have by the byte: it is better to send a little less.
  if (limits.work <= 0) return Math.ceil(1.1 * bytes * (counted.tokens / counted.bytes)) + 4;
  const tokens = countMessage(message);
  limits.work -= bytes;
  counted.bytes += bytes;
  counted.tokens += tokens;
  return tokens;
}

/** The unit with too large results shortened; how much depends on the budget alone, so it is the same every time. */
function capped(unit: Unit, limits: Limits): Unit {
  if (unit.messages.length === 1) return unit;
  const [caller, ...results] = unit.messages as [BaseMessage, ...BaseMessage[]];
  let changed = false;
  const short = results.map((result) => {
    if (tokensOf(result, limits) <= limits.result) return result;
    changed = true;
    return shortenMessage(result, limits.result);
  });
  const whole = changed ? { ...unit, messages: [caller, ...short] } : unit;
  return results.length > 1 ? shrunk(whole, limits.unit + tokensOf(caller, limits), limits) : whole;
}

/** The unit in at most `max` tokens: the largest results give way first. */
function shrunk(unit: Unit, max: number, limits?: Limits): Unit {
  const [caller, ...results] = unit.messages as [BaseMessage, ...BaseMessage[]];
  const size = (message: BaseMessage) => limits ? tokensOf(message, limits) : countMessage(message);
  const level = levelFor(results.map(size), max - size(caller));
  if (level === Infinity) return unit;
  return { ...unit, messages: [caller, ...results.map((result) => shortenMessage(result, level))] };
}

/** The size to which the largest of `sizes` must shrink so that their sum is at most `max`. */
function levelFor(sizes: number[], max: number): number {
  const ascending = sizes.toSorted((a, b) => a - b);
  let left = max;
  for (const [at, size] of ascending.entries()) {
    const share = left / (ascending.length - at);
    if (size > share) return Math.max(64, Math.floor(share));
    left -= size;
  }
  return Infinity;
}
