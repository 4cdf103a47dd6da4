// Tests that need programs or builds which a machine may lack: they are skipped with a printed reason, or fail under
// REQUIRE_E2E=1.
import assert from "node:assert/strict";

/** Why a test cannot run here; null when it can. */
export type Missing = string | null;

/**
 * Declares a test that is skipped when `missing` gives a reason. The reason is part of the test's name, so that every
 * reporter prints it; with REQUIRE_E2E=1 the test fails with it instead.
 */
export function testWhere(missing: Missing, name: string, run: (t: Deno.TestContext) => Promise<void>): void {
  if (missing === null) Deno.test(name, run);
  else if (Deno.env.get("REQUIRE_E2E") === "1") {
    Deno.test(name, () => assert.fail(`REQUIRE_E2E is set, but ${missing}`));
  } else Deno.test({ name: `${name} (skipped: ${missing})`, ignore: true, fn: run });
}

/** Whether a program is on PATH. */
export function hasProgram(name: string): boolean {
  return (Deno.env.get("PATH") ?? "").split(":").some((dir) => isFile(`${dir}/${name}`));
}

/** Whether there is a file at this path. */
export function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** The compiled program. */
export const EXECUTABLE = new URL("../../dist/gns3-copilot", import.meta.url).pathname;

/** Why it cannot be tested. */
export const NO_EXECUTABLE: Missing = isFile(EXECUTABLE)
  ? null
  : "dist/gns3-copilot is not built (deno task compile, see scripts/denort.sh)";
