// Turns whose model makes given calls, one after the other, whatever they answer.
import assert from "node:assert/strict";
import type { PracticeModel } from "../../src/practice/model.ts";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import type { Chat } from "../fakes/chat.ts";

/** A tool and its arguments. */
export type Call = [name: string, args?: unknown];

// deno-lint-ignore no-explicit-any -- what tools answer is what the tests are about
type Json = any;

/** Turns of one session for each chat; each answers what the tools answered, in the order of the calls. */
export function asking(model: PracticeModel, sessionId: string) {
  let count = 0;
  return async (chat: Chat, calls: Call[], path?: string): Promise<Json[]> => {
    const steps = calls.map(([name, args = {}]) => toolCalls([{ name, args }]));
    const script = model.script(`${sessionId}${count++}`, [...steps, text("Done.")]);
    const turn = await chat.send(script, { session_id: `${sessionId}-${chat.token.slice(-6)}` }, path);
    assert.equal(turn.text, "Done.", JSON.stringify(turn.last));
    return turn.of("tool_end").map(({ tool_output }) => JSON.parse(tool_output));
  };
}
