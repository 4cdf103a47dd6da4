// All consoles of the process: one writer for each, first come first served; what GNS3 refuses a caller is refused here.
import { AppError } from "../domain/error.ts";
import type { Node } from "../domain/project.ts";
import { Channel, ChannelClosed } from "./channel.ts";
import { Driver, type DriverLimits } from "./driver.ts";
import type { CommandResult } from "./output.ts";
import { judge, type Platform, platformOf } from "./platform.ts";
import { PLATFORMS } from "./platforms/mod.ts";
import { KeyedQueue, Turnstile } from "./queue.ts";
import { type ConsoleAccess, type ConsoleTransport, openConsole, requireConsole } from "./reach.ts";
import { overTelnet } from "./telnet.ts";
import { unlessAborted } from "./timing.ts";

/** Milliseconds (and characters of output): for connecting, each command, the whole call, and tidying up after it. */
export interface ConsoleLimits extends DriverLimits {
  connectMs: number;
  callMs: number;
}

export interface ConsolesOptions {
  transport?: ConsoleTransport;
  /** How many consoles one caller works on at once. */
  parallel?: number;
  limits?: Partial<ConsoleLimits>;
  platforms?: readonly Platform[];
  /** Told of faults of this program, which users only hear of in general terms. */
  onFault?: (error: unknown) => void;
}

/** What came of the commands on one device, in their order. `error`: why the rest of them was not sent. */
export interface DeviceResult {
  results: CommandResult[];
  notes: string[];
  error?: AppError;
}

/** The consoles as one caller may use them. */
export interface CallerConsoles {
  /**
   * Runs commands one after the other. What is refused by the platform is not sent and does not stop the others.
   * Throws only the signal's reason: an abort interrupts the running command and returns at once, while its prompt is
   * restored behind the scenes.
   */
  run(projectId: string, node: Node, commands: string[], signal: AbortSignal): Promise<DeviceResult>;
  /** Whether the device answers with a prompt within `limitMs`; else a sentence that says what is missing. */
  ready(projectId: string, node: Node, limitMs: number, signal: AbortSignal): Promise<true | string>;
  /**
   * Does `look` (finding out which nodes are meant) after that of all calls that came earlier, so that calls reach a
   * console in the order in which the model made them. Throws what `look` throws.
   */
  inOrder<T>(look: () => Promise<T>): Promise<T>;
  /** The platform of a node; throws as `platformOf`. */
  platform(node: Node): Platform;
}

const LIMITS: ConsoleLimits = {
  connectMs: 10_000,
  wakeMs: 15_000,
  commandMs: 30_000,
  callMs: 300_000,
  restoreMs: 5_000,
  outputChars: 4_000_000,
};

export class Consoles {
  readonly #options: Required<ConsolesOptions> & { limits: ConsoleLimits };
  readonly #queue = new KeyedQueue();
  readonly #sessions = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  constructor(options: ConsolesOptions = {}) {
    this.#options = {
      transport: options.transport ?? "websocket",
      parallel: options.parallel ?? 10,
      platforms: options.platforms ?? PLATFORMS,
      onFault: options.onFault ?? (() => {}),
      limits: { ...LIMITS, ...options.limits },
    };
  }

  /** A view bound to a caller, with a bound of its own on how many consoles work at once; one for each turn. */
  forCaller(access: ConsoleAccess): CallerConsoles {
    const slots = new Turnstile(this.#options.parallel);
    let earlier: Promise<unknown> = Promise.resolve();
    return {
      inOrder: (look) => {
        const mine = earlier.then(look);
        earlier = mine.catch(() => {});
        return mine;
      },
      platform: (node) => platformOf(node, this.#options.platforms),
      run: (projectId, node, commands, signal) => this.#run(access, slots, projectId, node, commands, signal),
      ready: async (projectId, node, limitMs, signal) => {
        const limits = { ...this.#options.limits, callMs: limitMs, wakeMs: limitMs, connectMs: limitMs };
        const result = await this.#attend({ access, slots, projectId, node, limits, signal }, async () => {});
        return result.error ? result.error.message : true;
      },
    };
  }

  /** Interrupts what runs, waits until every console is given back. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError("unavailable", "The server is shutting down."));
    await Promise.allSettled(this.#sessions);
  }

  async #run(
    access: ConsoleAccess,
    slots: Turnstile,
    projectId: string,
    node: Node,
    commands: string[],
    signal: AbortSignal,
  ): Promise<DeviceResult> {
    const nothingToSend = this.#allRefused(node, commands);
    if (nothingToSend) return { results: nothingToSend, notes: [] };
    const results: CommandResult[] = [];
    const session = { access, slots, projectId, node, limits: this.#options.limits, signal };
    const { notes, error } = await this.#attend(session, async (driver, platform, limited) => {
      for (const command of commands) {
        results.push(refusal(platform, command) ?? await driver.run(command.trim(), limited));
      }
    });
    return { results: [...results], notes, ...(error ? { error } : {}) };
  }

  /** The answers when the platform refuses every command: the console is then left alone. */
  #allRefused(node: Node, commands: string[]): CommandResult[] | undefined {
    if (commands.length === 0) return undefined;
    let platform: Platform;
    try {
      platform = platformOf(node, this.#options.platforms);
    } catch {
      return undefined; // Why there is no platform is told by the visit.
    }
    const refusals = commands.flatMap((command) => refusal(platform, command) ?? []);
    return refusals.length === commands.length ? refusals : undefined;
  }

  /** One visit to a console, from the queue to the closed connection; `work` gets a device at its prompt. */
  async #attend(session: Session, work: Work): Promise<{ notes: string[]; error?: AppError }> {
    const { signal } = session;
    const call = new AbortController();
    const timer = setTimeout(() => call.abort(tooLong(session)), session.limits.callMs);
    const limited = AbortSignal.any([signal, call.signal, this.#closing.signal]);
    const notes = new Set<string>();
    const visit = this.#visit(session, limited, notes, work);
    this.#sessions.add(visit);
    visit.catch(() => {}).finally(() => this.#sessions.delete(visit));
    try {
      await unlessAborted(limited, visit);
      return { notes: [...notes] };
    } catch (error) {
      signal.throwIfAborted();
      return { notes: [...notes], error: this.#explain(error, session.node) };
    } finally {
      clearTimeout(timer);
    }
  }

  #explain(error: unknown, node: Node): AppError {
    if (error instanceof ChannelClosed) {
      return new AppError("unavailable", `${node.name}: the console closed. Has the node stopped?`);
    }
    if (!(error instanceof AppError)) {
      this.#options.onFault(error);
      return new AppError("internal", `The console of ${node.name} could not be used: an unexpected fault.`);
    }
    // What the driver says begins with "it" or "its": the device is named here.
    if (!/^its? /.test(error.message)) return error;
    const message = `${node.name} is not ready: ${error.message}.`;
    return new AppError(error.code, message, { retryAfter: error.retryAfter });
  }

  async #visit(session: Session, signal: AbortSignal, notes: Set<string>, work: Work): Promise<void> {
    const { access, projectId, node, limits } = session;
    requireConsole(node, this.#options.transport);
    const platform = platformOf(node, this.#options.platforms);
    // The slot first: waiting for a busy console then delays only this caller, not those behind it on other consoles.
    const leaveSlot = await session.slots.enter(signal);
    try {
      const leaveQueue = await this.#queue.enter(`${projectId}/${node.node_id}`, signal);
      try {
        const { transport } = this.#options;
        const { connectMs } = limits;
        const raw = await openConsole(access, projectId, node, { transport, connectMs, signal });
        const channel = new Channel(overTelnet(raw));
        const driver = new Driver(channel, platform, limits);
        try {
          await driver.open(signal);
          await work(driver, platform, signal);
        } finally {
          await tidyUp(driver, limits.restoreMs);
          for (const note of driver.notes) notes.add(note);
          await channel.close();
        }
      } finally {
        leaveQueue();
      }
    } finally {
      leaveSlot();
    }
  }
}

/** The answer to a command that the platform refuses, which is never sent. */
function refusal(platform: Platform, command: string): CommandResult | undefined {
  const verdict = judge(platform, command);
  return verdict.kind === "refused" ? refused(command, `Refused: ${verdict.why}.`) : undefined;
}

interface Session {
  access: ConsoleAccess;
  slots: Turnstile;
  projectId: string;
  node: Node;
  limits: ConsoleLimits;
  signal: AbortSignal;
}

type Work = (driver: Driver, platform: Platform, signal: AbortSignal) => Promise<void>;

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

function refused(input: string, failed: string): CommandResult {
  return { input, output: "", failed, notSent: true, elapsedMs: 0 };
}

function tooLong({ node, limits }: Session): AppError {
  return new AppError(
    "unavailable",
    `${node.name}: the whole call took longer than ${Math.round(limits.callMs / 1_000)} s and was stopped.`,
  );
}
