// Entry of the program: the only code that runs with full rights. Everything else is in `src/`.
import { runCommand } from "./src/cli/mod.ts";

// In the executable this file and the Worker's are bundles; their places are those of the sources.
const ending = new URL(import.meta.url).pathname.endsWith(".ts") ? "ts" : "js";

Deno.exit(
  await runCommand(Deno.args, {
    env: Deno.env.toObject(),
    workerUrl: new URL(`./src/worker.${ending}`, import.meta.url),
    print: console.log,
    complain: console.error,
  }),
);
