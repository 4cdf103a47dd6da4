// `deno task kill [--rounds N] [--seed S] [--executable PATH]`: kills the server again and again in the middle of turns, and
// tells whether anything was lost. The executable is taken when there is one, else the source.
import { parseArgs } from "node:util";
import { killRounds } from "./kill/rounds.ts";

const { values: flags } = parseArgs({
  args: Deno.args,
  options: {
    rounds: { type: "string", default: "200" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    executable: { type: "string" },
  },
});
const [rounds, seed] = [Number(flags.rounds), Number(flags.seed)];
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed)) {
  console.error("--rounds and --seed must be whole numbers.");
  Deno.exit(2);
}
const built = new URL("../dist/gns3-copilot", import.meta.url).pathname;
const executable = flags.executable ?? (exists(built) ? built : undefined);
const command = executable ? [executable] : [Deno.execPath(), "run", "-A", "main.ts"];
console.log(`${rounds} rounds with ${executable ?? "the source"}; --seed ${seed} runs them again`);

const { faults, moments, ...counts } = await killRounds({
  rounds,
  seed,
  command,
  log: console.log,
});
for (const [what, count] of Object.entries(counts)) console.log(`${what.padEnd(24)} ${count}`);
for (const [moment, count] of Object.entries(moments)) {
  console.log(`  killed at ${moment.padEnd(14)} ${count}`);
}
for (const fault of faults) console.log(fault);
console.log(faults.length === 0 ? "Nothing was lost." : `${faults.length} faults`);
Deno.exit(faults.length === 0 ? 0 : 1);

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
