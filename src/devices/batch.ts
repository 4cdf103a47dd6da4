// What is done at one console once it is at its prompt: a list of commands that read, or a list of configuration lines.
import type { Driver } from "./driver.ts";
import { judge, withoutPrefix } from "./judge.ts";
import type { CommandResult } from "./output.ts";
import type { Platform } from "./platform.ts";
import { unready } from "./unready.ts";
import { type Unit, unitsOf } from "./units.ts";

/** What may be sent: everything that the platform does not refuse, or only what reads. */
export type Allowed = "all" | "reading";

/** The answer to a command that must not be sent; undefined for one that may. */
export function refusalOf(platform: Platform, command: string, allowed: Allowed): CommandResult | undefined {
  const verdict = judge(platform, command);
  if (verdict.kind === "refused") return notSent(command, { failed: `Refused: ${verdict.why}.` });
  if (allowed === "all" || verdict.kind === "read") return undefined;
  return notSent(command, {
    failed: `Refused: on ${platform.title} this is not one of the commands that only read or test. ` +
      (platform.modes.length > 1
        ? "Changes go through execute_multiple_device_config_commands."
        : "Nothing was sent."),
  });
}

/** Runs the commands that may be sent, one after the other; a refused one does not stop the others. */
export async function runAll(
  driver: Driver,
  platform: Platform,
  commands: string[],
  options: { allowed: Allowed; signal: AbortSignal; results: CommandResult[] },
): Promise<void> {
  const { allowed, signal, results } = options;
  for (const command of commands) {
    const refusal = refusalOf(platform, command, allowed);
    results.push(
      refusal ?? {
        ...await driver.run(withoutPrefix(platform, command.trim()), { signal, agreed: allowed === "all" }),
        input: command,
      },
    );
  }
}

/** With a line that must not be sent: an answer for every line, because nothing is typed then. Else none. */
export function refusedLines(platform: Platform, lines: string[]): CommandResult[] {
  const units = unitsOf(platform, lines);
  const refusals = units.map((unit) => refusalOfUnit(platform, unit));
  if (refusals.every((refusal) => refusal === undefined)) return [];
  return units.map(({ text }, i) =>
    refusals[i] ?? notSent(text, { failed: "Not run: another line was refused, so nothing was sent." })
  );
}

/**
 * Types configuration lines in the configuration mode and leaves it again. Stops at the first line that the device does
 * not take: those behind it may belong to it. What the device has taken by then stays, and is committed where that is
 * needed. Throws what the driver throws; `results` holds what was done until then.
 */
export async function configure(
  driver: Driver,
  platform: Platform,
  lines: string[],
  options: { signal: AbortSignal; results: CommandResult[] },
): Promise<void> {
  const { signal, results } = options;
  const configMode = platform.configMode ?? platform.home;
  if (platform.commit?.pending.test(driver.prompt)) {
    throw unready(
      "it has changes of somebody else that are not committed: commit or discard them on its console",
    );
  }
  // The lines are meant for the top of the configuration, wherever the console was.
  if (configMode !== platform.home) await driver.goTo(platform.home, signal);
  let failed = false;
  for (const unit of unitsOf(platform, lines)) {
    const result: CommandResult = failed
      ? notSent(unit.text, { failed: "Not run: a line before it failed." })
      : await configureOne(driver, platform, unit, signal);
    results.push({ ...result, input: unit.text });
    failed ||= result.failed !== undefined;
  }
  if (!driver.busy) await finish(driver, platform, results, signal);
}

async function configureOne(
  driver: Driver,
  platform: Platform,
  unit: Unit,
  signal: AbortSignal,
): Promise<CommandResult> {
  const line = unit.text.includes("\n") ? unit.text : unit.text.trim();
  const { modeChanges, configMode, home, exec } = platform;
  const config = configMode ?? home;
  const atHome = driver.mode === home;
  if (modeChanges.in.test(line)) return notSent(line, { note: "Not sent: the mode is changed as needed." });
  if (modeChanges.out.test(line)) {
    if (!atHome) await driver.goTo(home, signal);
    return notSent(line, { note: "Left the configuration mode." });
  }
  if (modeChanges.back.test(line) && (atHome || config === home)) {
    return notSent(line, { note: "Not sent: it would log out." });
  }
  const command = withoutPrefix(platform, line);
  const isExec = command !== line || exec.some((pattern) => pattern.test(command));
  const run = { signal, agreed: true };
  if (!isExec) {
    if (atHome) await driver.goTo(config, signal);
    return await driver.run(line, { ...run, asTyped: true });
  }
  // Where the configuration mode has no way to run it, what was configured until then has to be committed first.
  if (driver.prefix === "" && !atHome) {
    const committed = await commit(driver, platform, signal);
    if (committed?.failed) return committed;
    await driver.goTo(home, signal);
  }
  return await driver.run(command, run);
}

/** Commits what waits for it, and goes back to the home mode. */
async function finish(
  driver: Driver,
  platform: Platform,
  results: CommandResult[],
  signal: AbortSignal,
): Promise<void> {
  const committed = await commit(driver, platform, signal);
  if (committed) results.push(committed);
  if (driver.gone || driver.mode === platform.home) return;
  await driver.goTo(platform.home, signal);
}

async function commit(
  driver: Driver,
  platform: Platform,
  signal: AbortSignal,
): Promise<CommandResult | undefined> {
  const { commit } = platform;
  if (!commit?.pending.test(driver.prompt)) return undefined;
  const result = await driver.run(commit.command, { signal, asTyped: true, agreed: true });
  if (!commit.pending.test(driver.prompt)) return result;
  await driver.run(commit.discard, { signal, asTyped: true, agreed: true });
  const why = result.failed ?? "the changes are still not committed";
  return { ...result, failed: `${why} Nothing was committed; the lines of this call were discarded.` };
}

function refusalOfUnit(platform: Platform, { text }: Unit): CommandResult | undefined {
  const [first = "", ...rest] = text.split("\n");
  if (rest.length === 0 || !platform.multiline?.test(first)) return refusalOf(platform, text, "all");
  // A banner's text is no command; it must only not hold keys that a device acts on.
  const odd = rest.find((line) =>
    /[\p{C}\p{Zl}\p{Zp}]|\?/u.test(line) || !platform.charset.test(line || " ")
  );
  if (odd === undefined) return refusalOf(platform, first, "all");
  return notSent(text, {
    failed: `Refused: the text holds characters that this device does not take: "${odd}".`,
  });
}

function notSent(input: string, more: { failed?: string; note?: string }): CommandResult {
  return { input, output: "", ...more, notSent: true, elapsedMs: 0 };
}
