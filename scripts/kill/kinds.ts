// What the model does in the turns of the kill rounds.
import type { PracticeModel } from "../../src/practice/model.ts";
import { type Step, text, toolCalls } from "../../src/practice/model_script.ts";

/** More than any request of the rounds has, so that the server does not wonder what the model has read. */
const use: [number, number] = [20_000, 10];
const words = (count: number, ms: number) =>
  text(Array.from({ length: count }, (_, i) => `word${i} `), { ms, use });
const calls = (list: Parameters<typeof toolCalls>[0]) => toolCalls(list, { use });
const read = { name: "gns3_topology_reader", args: {} };

const SCRIPTS: Record<string, Step[]> = {
  text: [text("It is up.", { use })],
  "slow text": [words(40, 10)],
  tools: [calls([read]), calls([read, read]), words(5, 10)],
  "a slow tool": [calls([{ name: "wait_seconds", args: { seconds: 1 } }, read]), text("Done.", { use })],
};

export const kinds = Object.keys(SCRIPTS);

/** A user's message that makes the model play a script of this kind. `key` is used once. */
export function sayWith(model: PracticeModel, kind: string, key: string): string {
  return `${kind} ${model.script(key, SCRIPTS[kind]!)}`;
}
