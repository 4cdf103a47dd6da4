// Runs LangGraph's own saver suite, unmodified and whole, on our saver; exits with 1 unless every test ran and passed.
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph-checkpoint";
import { expect } from "expect";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { type Database, openDatabase } from "../../src/storage/database.ts";
import { type Outcome, runSuite } from "./runner.ts";

// What the suite has at version 1.1.1: a run of fewer tests has lost some.
const EXPECTED = 726;

// The suite takes these from vitest's globals; `soft` would go on after a failure, which ends a test here.
Object.assign(globalThis, { expect: Object.assign(expect, { soft: expect }) });

/** Runs both parts of the suite on the savers that `create` makes. */
function runOn(
  checkpointerName: string,
  create: () => BaseCheckpointSaver,
  destroy: (saver: BaseCheckpointSaver) => void,
): Promise<Outcome> {
  return runSuite(async () => {
    // Imported here because the suite expects its globals to exist by now.
    const suite = await import("@langchain/langgraph-checkpoint-validation");
    const initializer = { checkpointerName, createCheckpointer: create, destroyCheckpointer: destroy };
    suite.validate(initializer);
    suite.deltaChannelHistoryTests(initializer);
  });
}

const databases = new Map<BaseCheckpointSaver, Database>();
const ours = await runOn(
  "gns3-copilot-sqlite",
  () => {
    const db = openDatabase(":memory:");
    const saver = new SqliteSaver(db);
    databases.set(saver, db);
    return saver;
  },
  (saver) => databases.get(saver)?.close(),
);
for (const { name, message } of ours.failed) console.error(`FAILED ${name}\n${message}\n`);
const passed = ours.run - ours.failed.length;
console.log(`LangGraph saver conformance: ${ours.run} run, ${passed} passed, ${ours.skipped} skipped`);

// The proof that this runner can fail: LangGraph's MemorySaver is known not to store only what has changed.
const stock = await runOn("stock-memory-saver", () => new MemorySaver(), () => {});
const caught = stock.failed.map(({ name }) => name.split(" > ").at(-1));
const bites = caught.length === 1 &&
  caught[0]!.startsWith("should only store channel_values that have changed");
if (!bites) {
  console.error(`The suite should fail MemorySaver in one known test; it failed it in: ${caught.join(", ")}`);
}

if (passed !== ours.run || ours.run < EXPECTED || ours.skipped !== 0 || !bites) Deno.exit(1);
