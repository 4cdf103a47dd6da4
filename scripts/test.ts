// `deno task test [paths or options of deno test | conformance]`: runs the tests, then LangGraph's saver suite, and sums up.
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

interface Counts {
  passed: number;
  failed: number;
  skipped: string[];
}

/** A program whose output says how many tests it ran. */
interface Suite {
  name: string;
  args: string[];
  /** Relative to the repository. */
  cwd: string;
  /** Reads the counts from the output, colours removed; null when it says nothing. */
  count(output: string): Counts | null;
}

const conformance: Suite = {
  name: "conformance",
  args: ["run", "-A", "main.ts"],
  cwd: "tests/conformance",
  count(output) {
    const [, run, passed, skipped] = /(\d+) run, (\d+) passed, (\d+) skipped/.exec(output) ?? [];
    if (run === undefined) return null;
    return {
      passed: Number(passed),
      failed: Number(run) - Number(passed),
      skipped: Array.from({ length: Number(skipped) }, () => "a conformance test"),
    };
  },
};

/** Our own tests; types are checked by `deno task ok`. */
function ownTests(args: readonly string[]): Suite {
  const named = args.some((arg) => !arg.startsWith("-") && exists(`${ROOT}${arg}`));
  const paths = named ? args : [...args, "tests"];
  return {
    name: "tests",
    args: ["test", "-A", "--no-check", "--ignore=tests/conformance", ...paths],
    cwd: ".",
    count(output) {
      const summary = /\| (\d+) passed.*?\| (\d+) failed/.exec(output);
      if (!summary) return null;
      let file = "";
      const skipped: string[] = [];
      for (const line of output.split("\n")) {
        file = /^running \d+ tests? from (\S+)/.exec(line)?.[1] ?? file;
        const name = /^\s*(.*) \.\.\. ignored/.exec(line)?.[1];
        if (name) skipped.push(`${file}: ${name}`);
      }
      return { passed: Number(summary[1]), failed: Number(summary[2]), skipped };
    },
  };
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile || Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** Runs a suite, shows its output as it comes, and counts; a suite that fails without saying how counts as one failure. */
async function run({ name, args, cwd, count }: Suite): Promise<Counts> {
  const child = new Deno.Command(Deno.execPath(), {
    args,
    cwd: `${ROOT}${cwd}`,
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let output = "";
  const show = async (stream: ReadableStream<Uint8Array>, to: typeof Deno.stdout) => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      output += decoder.decode(bytes, { stream: true });
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await to.write(rest));
    }
  };
  const [{ success }] = await Promise.all([
    child.status,
    show(child.stdout, Deno.stdout),
    show(child.stderr, Deno.stderr),
  ]);
  // deno-lint-ignore no-control-regex
  const counts = count(output.replace(/\x1b\[[0-9;]*m/g, "")) ?? { passed: 0, failed: 0, skipped: [] };
  if (!success && counts.failed === 0) {
    console.error(`${name}: the run failed without naming a test.`);
    counts.failed = 1;
  }
  return counts;
}

const wanted = Deno.args[0] === "conformance" ? [conformance] : [ownTests(Deno.args)];
if (Deno.args.length === 0) wanted.push(conformance);

let passed = 0;
let failed = 0;
const lines: string[] = [];
for (const suite of wanted) {
  const counts = await run(suite);
  const skippedE2e = counts.skipped.filter((name) => name.includes("tests/e2e/"));
  if (Deno.env.get("REQUIRE_E2E") === "1" && skippedE2e.length > 0) {
    lines.push(`REQUIRE_E2E is set: ${skippedE2e.length} skipped end-to-end tests count as failed`);
    counts.failed += skippedE2e.length;
  }
  passed += counts.passed;
  failed += counts.failed;
  lines.push(...counts.skipped.map((name) => `skipped: ${name}`));
  lines.push(
    `${suite.name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped.length} skipped`,
  );
}
console.log(`\n${lines.join("\n")}\n${passed} passed, ${failed} failed`);
Deno.exit(failed === 0 ? 0 : 1);
