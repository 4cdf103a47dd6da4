// Which units of a conversation fit into the room that is left for them, and how large tool results give way.
import type { BaseMessage } from "@langchain/core/messages";
import type { Sized, Unit } from "./sendable.ts";
import { noteWhole, sentWhole } from "./sent_whole.ts";
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
    budget,
    result: Math.floor(budget / 4),
    unit: Math.floor(budget / 2),
    work: EXACT_BYTES,
    counted: { bytes: 1000, tokens: 400 },
  };
  const lastUser = units.findLastIndex((unit) => unit.kind === "user");
  const warnings: string[] = [];
  const kept: Sized[] = [];
  let left = room;
  let question: Sized | undefined;
  if (lastUser >= 0) {
    question = questionIn(units[lastUser]!, budget, Math.max(room, limits.result));
    if (question.unit !== units[lastUser]) {
      warnings.push("The latest message is larger than the context window: its middle is left out");
    }
    left -= question.tokens;
  }
  const whole = sentWhole(units, budget, lastUser);
  let before: readonly BaseMessage[] = [];
  let at = units.length - 1;
  for (; at >= 0; at--) {
    if (whole && at === whole.units.length - 1 && whole.tokens <= left) {
      before = whole.messages;
      left -= whole.tokens;
      at = -1;
      break;
    }
    if (at === lastUser) {
      kept.push(question!);
      continue;
    }
    let sized = sizedFor(units[at]!, limits);
    if (sized.tokens > left && at === units.length - 1 && sized.unit.messages.length > 1) {
      // Without the newest results the model would make the same calls again.
      const unit = shrunk(sized.unit, Math.max(left, MIN_NEWEST));
      sized = { unit, tokens: unitTokens(unit, limits), budget };
      if (sized.tokens > left) warnings.push("The newest tool results do not fit into the context window");
    } else if (sized.tokens > left) {
      break;
    }
    kept.push(sized);
    left -= sized.tokens;
  }
  const trimmed = at >= 0;
  if (trimmed && at < lastUser) {
    while (kept.at(-1)!.unit.kind !== "user") left += kept.pop()!.tokens;
  }
  if (trimmed && at > lastUser && question) kept.push(question);
  const messages = [...before, ...messagesOf(kept.reverse())];
  // Where work is left, every size is exact and remembered.
  if (!trimmed && limits.work > 0) noteWhole(units, budget, Math.max(0, lastUser), whole);
  return { messages, tokens: room - left, trimmed, warnings };
}

/** The latest question in at most `max` tokens: when the system prompt alone fills the budget, it is still asked. */
function questionIn(unit: Unit, budget: number, max: number): Sized {
  const message = unit.messages[0]!;
  const short = shortenMessage(message, max);
  const sent: Unit = short === message ? unit : { kind: "user", messages: [short] };
  return { unit: sent, tokens: countMessage(short), budget };
}

function messagesOf(kept: readonly Sized[]): BaseMessage[] {
  const messages: BaseMessage[] = [];
  for (const { unit } of kept) for (const message of unit.messages) messages.push(message);
  return messages;
}

/** Bytes of messages counted exactly in one call; the older ones beyond are estimated until a later call gets there. */
const EXACT_BYTES = 100_000;
/** Tokens the newest exchange gets in any case. */
const MIN_NEWEST = 512;

interface Limits {
  budget: number;
  /** Tokens of one tool result, and of all results of one message. */
  result: number;
  unit: number;
  /** Bytes that may still be counted exactly; what was counted tells how long the rest may be. */
  work: number;
  counted: { bytes: number; tokens: number };
}

/** The unit as it is sent. What was known exactly last time is the same again; only what is new is sized. */
function sizedFor(unit: Unit, limits: Limits): Sized {
  const { budget } = limits;
  if (unit.sized?.budget === budget) return unit.sized;
  const short = capped(unit, limits);
  const sized = { unit: short, tokens: unitTokens(short, limits), budget };
  // From then on everything that is not known is estimated.
  if (limits.work > 0) unit.sized = sized;
  return sized;
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
