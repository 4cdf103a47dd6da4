// What is made of a conversation's messages one after the other, so that it is not made anew for every question about a
// conversation that has only grown.
import type { BaseMessage } from "@langchain/core/messages";

/** Something that messages are added to, in their order. */
export interface Growing {
  add(message: BaseMessage): void;
}

/**
 * A function that gives what a conversation's messages make, from `begin` on. Where these are the same objects as last
 * time and some more, only those are added. What it gave before grows with it: it is for use at once, not to be kept.
 */
export function growing<T extends Growing>(begin: () => T): (messages: readonly BaseMessage[]) => T {
  // By the conversation's first message, so that it is forgotten when the conversation leaves memory.
  const known = new WeakMap<BaseMessage, { seen: BaseMessage[]; made: T }>();
  return (messages) => {
    const first = messages[0];
    if (first === undefined) return begin();
    let entry = known.get(first);
    if (!entry || !startsWith(messages, entry.seen)) known.set(first, entry = { seen: [], made: begin() });
    const { seen, made } = entry;
    for (let at = seen.length; at < messages.length; at++) {
      made.add(messages[at]!);
      seen.push(messages[at]!);
    }
    return made;
  };
}

/** Whether the first of `all` are the very objects in `first`. */
export function startsWith(all: readonly object[], first: readonly object[]): boolean {
  if (first.length > all.length) return false;
  // A plain loop: it compares two thousand in two microseconds.
  for (let at = 0; at < first.length; at++) if (first[at] !== all[at]) return false;
  return true;
}
