// `deno task chaos [--executable PATH] [--only TEXT] [--short]`: every fault of the table on a real server, with what came of it.
// Exits with 1 when anything came out that should not. See `scripts/chaos/README.md`.
import { parseArgs } from "node:util";
import { handlesOf } from "./chaos/handles.ts";
import { finalRow, type Result, rowsOf, show } from "./chaos/table.ts";
import { text } from "../src/practice/model_script.ts";
import { startStage } from "./chaos/stage.ts";

const { values: flags } = parseArgs({
  args: Deno.args,
  options: {
    executable: { type: "string" },
    only: { type: "string", default: "" },
    seed: { type: "string", default: "1" },
    short: { type: "boolean", default: false },
  },
});

const stage = await startStage({ executable: flags.executable });
const results: Result[] = [];
const rows = rowsOf({ short: flags.short, only: flags.only, seed: Number(flags.seed) });
// What a server opens with its first conversation, it keeps.
await stage.chat("alice").send(stage.model.script("first", [text("hello")]));
await stage.chat("bob", stage.gns3.otherProjectId).send(stage.model.script("first", [text("hello")]));
const before = handlesOf(stage);
for (const row of rows) {
  const began = performance.now();
  const errors = stage.errors().length;
  let result: Result;
  try {
    const outcome = await row.play(stage);
    const logged = [
      ...new Set(stage.errors().slice(errors).map((line) => line.replace(/"time":"[^"]*",/, ""))),
    ];
    result = { row, outcome, ok: logged.length === 0, why: logged.join("\n"), ms: 0 };
  } catch (error) {
    result = { row, outcome: "", ok: false, why: String((error as Error).message), ms: 0 };
  }
  result.ms = performance.now() - began;
  results.push(result);
  show(result);
}
results.push(await finalRow(stage, before));
show(results.at(-1)!);
const failed = results.filter(({ ok }) => !ok);
console.log(
  `\n${results.length} faults, ${failed.length} with another outcome than they must have; nothing that was shown was lost in the others`,
);
const code = await stage.stop();
if (code !== 0) console.log(`The server ended with ${code}.`);
Deno.exit(failed.length === 0 && code === 0 ? 0 : 1);
