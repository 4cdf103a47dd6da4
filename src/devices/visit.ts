// One visit to a console: connect, find the prompt, do the work, leave everything as it was, hang up.
import { AppError } from "../domain/error.ts";
import type { Node } from "../domain/project.ts";
import { Channel, ChannelClosed } from "./channel.ts";
import { Driver } from "./driver.ts";
import type { ConsoleLimits } from "./limits.ts";
import type { Platform } from "./platform.ts";
import { type ConsoleAccess, type ConsoleTransport, openConsole } from "./reach.ts";
import { overTelnet } from "./telnet.ts";

export interface Visit {
  access: ConsoleAccess;
  transport: ConsoleTransport;
  projectId: string;
  node: Node;
  platform: Platform;
  limits: ConsoleLimits;
}

export type Work = (driver: Driver, platform: Platform, signal: AbortSignal) => Promise<void>;

/** `work` gets a device at its prompt. Throws what it, the driver and the connection throw. */
export async function visit(
  { access, transport, projectId, node, platform, limits }: Visit,
  signal: AbortSignal,
  notes: Set<string>,
  work: Work,
): Promise<void> {
  const raw = await openConsole(access, projectId, node, { transport, connectMs: limits.connectMs, signal });
  const channel = new Channel(overTelnet(raw));
  let asked: ReturnType<ConsoleAccess["credentials"]> | undefined;
  const credentials = () => asked ??= access.credentials(projectId, node.node_id, signal);
  const driver = new Driver(channel, platform, limits, credentials);
  try {
    await driver.open(signal);
    await work(driver, platform, signal);
  } finally {
    await tidyUp(driver, limits.restoreMs);
    for (const note of driver.notes) notes.add(note);
    await channel.close();
  }
}

/** In its own time: the call's signal may have aborted, and the console must not be left with a running command. */
async function tidyUp(driver: Driver, limitMs: number): Promise<void> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  try {
    await driver.leave(limit.signal);
  } catch (error) {
    if (!limit.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Anything that a visit throws, as a sentence about the device. `onFault` hears of faults of this program. */
export function explain(error: unknown, node: Node, onFault: (error: unknown) => void): AppError {
  if (error instanceof ChannelClosed) {
    return new AppError("unavailable", `${node.name}: the console closed. Has the node stopped?`);
  }
  if (!(error instanceof AppError)) {
    onFault(error);
    return new AppError("internal", `The console of ${node.name} could not be used: an unexpected fault.`);
  }
  // What the driver says begins with "it" or "its": the device is named here.
  if (!/^its? /.test(error.message)) return error;
  const message = `${node.name} is not ready: ${error.message}.`;
  return new AppError(error.code, message, { retryAfter: error.retryAfter });
}

/** The whole call was longer than its limit. */
export function tooLong(node: Node, limits: ConsoleLimits): AppError {
  return new AppError(
    "unavailable",
    `${node.name}: the whole call took longer than ${Math.round(limits.callMs / 1_000)} s and was stopped.`,
  );
}
