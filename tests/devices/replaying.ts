// Runs the engine on a recording: what was sent then must be sent again, byte for byte, and nothing else.
import assert from "node:assert/strict";
import { configure } from "../../src/devices/batch.ts";
import { Channel } from "../../src/devices/channel.ts";
import { Driver, type DriverLimits } from "../../src/devices/driver.ts";
import type { CommandResult } from "../../src/devices/output.ts";
import type { Platform } from "../../src/devices/platform.ts";
import { overTelnet } from "../../src/devices/telnet.ts";
import type { Credentials } from "../../src/devices/wake.ts";
import { parse, replay } from "./recording.ts";

export interface Script {
  limits?: Partial<DriverLimits>;
  credentials?: Credentials;
  commands?: string[];
  /** Configuration lines, typed after the commands. */
  lines?: string[];
}

export interface Replayed {
  results: CommandResult[];
  /** By what was typed; the last one where it was typed twice. */
  of(input: string): CommandResult;
  notes: string[];
  /** What opening the console or configuring threw. */
  error?: Error;
}

const LIMITS: DriverLimits = { wakeMs: 15_000, commandMs: 30_000, restoreMs: 5_000, outputChars: 1_000_000 };
const { signal } = new AbortController();

/** Replays `tests/testdata/consoles/<file>.txt` one byte at a time. */
export async function replayed(file: string, platform: Platform, script: Script): Promise<Replayed> {
  const url = new URL(`../testdata/consoles/${file}.txt`, import.meta.url);
  const recording = replay(parse(await Deno.readTextFile(url)));
  const channel = new Channel(overTelnet(recording));
  const driver = new Driver(
    channel,
    platform,
    { ...LIMITS, ...script.limits },
    () => Promise.resolve(script.credentials),
  );
  const results: CommandResult[] = [];
  let error: Error | undefined;
  try {
    await driver.open(signal);
    for (const command of script.commands ?? []) results.push(await driver.run(command, { signal }));
    if (script.lines) await configure(driver, platform, script.lines, { signal, results });
  } catch (thrown) {
    error = thrown as Error;
  }
  await driver.leave(signal);
  await channel.close();
  assert.deepEqual(recording.mismatches, [], `${file}: sent otherwise`);
  assert.equal(recording.left(), 0, `${file}: not reached`);
  const of = (input: string) => results.findLast((one) => one.input === input)!;
  return { results, of, notes: [...driver.notes], ...(error ? { error } : {}) };
}
