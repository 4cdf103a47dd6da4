// For tests of what must survive a garbage collection: runs a program that may ask for one, and asks for them in it.
import assert from "node:assert/strict";

const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

/**
 * Code is optimized after a few runs instead of after some thousand: only optimized code lets go of what a suspended
 * function does not need any more.
 */
const FLAGS = [
  "--expose-gc",
  "--invocation-count-for-maglev=10",
  "--invocation-count-for-maglev-osr=10",
  "--invocation-count-for-turbofan=20",
  "--invocation-count-for-osr=10",
  "--minimum-invocations-after-ic-update=5",
];

/** Runs a program of the tests so that it may collect garbage. Returns the JSON that it prints last. */
export async function runCollecting(program: URL): Promise<unknown> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--no-lock",
      `--v8-flags=${FLAGS}`,
      "--config",
      CONFIG,
      program.pathname,
    ],
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.equal(code, 0, `${out}\n${err}`);
  return JSON.parse(out!.trimEnd().split("\n").at(-1)!);
}

type Collect = (options?: { type: "major"; execution: "async" }) => Promise<void> | void;

/**
 * Collects garbage until nothing is left that can be collected. The second kind of collection runs when no JavaScript does,
 * so that the stack holds nothing either.
 */
export async function collectGarbage(): Promise<void> {
  const { gc } = globalThis as unknown as { gc: Collect };
  for (let round = 0; round < 4; round++) {
    gc();
    // Not awaited: on Deno 2.6 it only comes about when the event loop is woken by something else.
    void gc({ type: "major", execution: "async" });
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}

/** What `work` comes to, as text; "still waiting" when that takes too long. */
export async function outcome(work: Promise<unknown>, ms = 3000): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<string>((resolve) => timer = setTimeout(() => resolve("still waiting"), ms));
  const said = work.then((value) => String(value), (error) => `failed: ${error?.message ?? error}`);
  try {
    return await Promise.race([said, late]);
  } finally {
    clearTimeout(timer);
  }
}
