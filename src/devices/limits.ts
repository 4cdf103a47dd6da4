// How long a visit to a console may take, and how much may be printed.
import type { DriverLimits } from "./driver.ts";

/** Milliseconds (and characters of output): for connecting, each command, the whole call, and tidying up after it. */
export interface ConsoleLimits extends DriverLimits {
  connectMs: number;
  callMs: number;
}

export const LIMITS: ConsoleLimits = {
  connectMs: 10_000,
  wakeMs: 15_000,
  commandMs: 30_000,
  callMs: 300_000,
  restoreMs: 5_000,
  outputChars: 4_000_000,
};
