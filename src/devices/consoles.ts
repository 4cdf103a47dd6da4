// All consoles of the process: one writer for each, first come first served; what GNS3 refuses a caller is refused here.
import { AppError } from "../domain/error.ts";
import type { Node } from "../domain/project.ts";
import { joinSignals, unlessAborted } from "../domain/signals.ts";
import { type Allowed, configure, refusalOf, refusedLines, runAll } from "./batch.ts";
import { knowsItself, platformOf, type TemplateHints } from "./choose.ts";
import { ConfigMemory, type Remembered } from "./config_memory.ts";
import { type ConsoleLimits, LIMITS } from "./limits.ts";
import type { CommandResult } from "./output.ts";
import type { Platform } from "./platform.ts";
import { PLATFORMS } from "./platforms/mod.ts";
import { KeyedQueue, Turnstile } from "./queue.ts";
import { type ConsoleAccess, type ConsoleTransport, requireConsole } from "./reach.ts";
import { explain, tooLong, visit, type Work } from "./visit.ts";

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
  run(
    projectId: string,
    node: Node,
    commands: string[],
    signal: AbortSignal,
    allowed?: Allowed,
  ): Promise<DeviceResult>;
  /**
   * Types configuration lines, a result for each up to the first that fails; a commit that was needed is one more. With
   * a line that the platform refuses nothing is typed, and the results are the refusals. Throws as `run`.
   */
  configure(projectId: string, node: Node, lines: string[], signal: AbortSignal): Promise<DeviceResult>;
  /** Whether the device answers with a prompt within `limitMs`; else a sentence that says what is missing. */
  ready(projectId: string, node: Node, limitMs: number, signal: AbortSignal): Promise<true | string>;
  /**
   * Does `look` (finding out which nodes are meant) after that of all calls that came earlier, so that calls reach a
   * console in the order in which the model made them. Throws what `look` throws.
   */
  inOrder<T>(look: () => Promise<T>): Promise<T>;
  /**
   * The platform of a node, by its own data or its template's. Throws as `platformOf`, or `conflict` where a node of
   * unknown kind has no console that can be used now.
   */
  platform(node: Node, signal: AbortSignal): Promise<Platform>;
  /** The configuration that a device had when it was compared last. */
  recall(projectId: string, nodeId: string): Remembered | undefined;
  remember(projectId: string, nodeId: string, config: Remembered): void;
}

export class Consoles {
  readonly #options: Required<ConsolesOptions> & { limits: ConsoleLimits };
  readonly #queue = new KeyedQueue();
  readonly #memory = new ConfigMemory();
  readonly #visits = new Set<Promise<unknown>>();
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
    const { limits } = this.#options;
    const caller: Caller = { access, slots: new Turnstile(this.#options.parallel) };
    let earlier: Promise<unknown> = Promise.resolve();
    return {
      inOrder: (look) => {
        const mine = earlier.then(look);
        earlier = mine.catch(() => {});
        return mine;
      },
      recall: (projectId, nodeId) => this.#memory.recall(projectId, nodeId),
      remember: (projectId, nodeId, config) => this.#memory.remember(projectId, nodeId, config),
      platform: (node, signal) => this.#platform(caller, node, signal),
      run: async (projectId, node, commands, signal, allowed = "all") => {
        const refused = (platform: Platform) =>
          commands.flatMap((command) => refusalOf(platform, command, allowed) ?? []);
        return await this.#work({ caller, projectId, node, limits, signal }, {
          // When every command is refused the console is left alone.
          before: (platform) =>
            commands.length > 0 && refused(platform).length === commands.length ? refused(platform) : [],
          during: (driver, platform, signal, results) =>
            runAll(driver, platform, commands, { allowed, signal, results }),
        });
      },
      configure: (projectId, node, lines, signal) =>
        this.#work({ caller, projectId, node, limits, signal }, {
          before: (platform) => refusedLines(platform, lines),
          during: (driver, platform, signal, results) =>
            configure(driver, platform, lines, { signal, results }),
        }),
      ready: async (projectId, node, limitMs, signal) => {
        const short = { ...limits, callMs: limitMs, wakeMs: limitMs, connectMs: limitMs };
        const result = await this.#work({ caller, projectId, node, limits: short, signal }, {
          before: () => [],
          during: async () => {},
        });
        return result.error ? result.error.message : true;
      },
    };
  }

  /** Interrupts what runs, waits until every console is given back. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError("unavailable", "The server is shutting down."));
    await Promise.allSettled(this.#visits);
  }

  /** `before` tells what needs no console; its results end the call. Throws only the signal's reason. */
  async #work(call: Call, { before, during }: Job): Promise<DeviceResult> {
    const { node, limits, signal } = call;
    const results: CommandResult[] = [];
    const joined = joinSignals([signal, this.#closing.signal], {
      ms: limits.callMs,
      reason: () => tooLong(node, limits),
    });
    const limited = joined.signal;
    const notes = new Set<string>();
    const visiting = this.#visit(call, limited, notes, {
      before: (platform) => results.push(...before(platform)) > 0,
      during: (driver, platform, signal) => during(driver, platform, signal, results),
    });
    this.#visits.add(visiting);
    visiting.catch(() => {}).finally(() => this.#visits.delete(visiting));
    try {
      await unlessAborted(limited, visiting);
      return { results: [...results], notes: [...notes] };
    } catch (error) {
      signal.throwIfAborted();
      const said = explain(error, node, this.#options.onFault);
      return { results: [...results], notes: [...notes], error: said };
    } finally {
      joined[Symbol.dispose]();
    }
  }

  async #visit(
    call: Call,
    signal: AbortSignal,
    notes: Set<string>,
    { before, during }: { before(platform: Platform): boolean; during: Work },
  ): Promise<void> {
    const { caller, projectId, node, limits } = call;
    const { transport } = this.#options;
    const platform = await this.#platform(caller, node, signal);
    if (before(platform)) return;
    requireConsole(node, transport);
    // The slot first: waiting for a busy console then delays only this caller, not those behind it on other consoles.
    const leaveSlot = await caller.slots.enter(signal);
    try {
      const leaveQueue = await this.#queue.enter(`${projectId}/${node.node_id}`, signal);
      try {
        const { access } = caller;
        await visit({ access, transport, projectId, node, platform, limits }, signal, notes, during);
      } finally {
        leaveQueue();
      }
    } finally {
      leaveSlot();
    }
  }

  async #platform(caller: Caller, node: Node, signal: AbortSignal): Promise<Platform> {
    const { platforms } = this.#options;
    const template = knowsItself(node, platforms) ? undefined : await templateOf(caller, node, signal);
    try {
      return platformOf(node, platforms, template);
    } catch (error) {
      // A switch is of no known kind either, but that it has no console is what helps.
      requireConsole(node, this.#options.transport);
      throw error;
    }
  }
}

interface Caller {
  access: ConsoleAccess;
  slots: Turnstile;
  /** Asked once for all nodes of a turn. */
  templates?: Promise<(TemplateHints & { template_id: string })[]>;
}

interface Call {
  caller: Caller;
  projectId: string;
  node: Node;
  limits: ConsoleLimits;
  signal: AbortSignal;
}

interface Job {
  before(platform: Platform): CommandResult[];
  during(...args: [...Parameters<Work>, CommandResult[]]): Promise<void>;
}

/** A caller who may not list templates just has no hints from them. */
async function templateOf(
  caller: Caller,
  node: Node,
  signal: AbortSignal,
): Promise<TemplateHints | undefined> {
  if (!node.template_id) return undefined;
  caller.templates ??= caller.access.templates().catch((error) => {
    if (error instanceof AppError) return [];
    throw error;
  });
  const templates = await unlessAborted(signal, caller.templates);
  return templates.find(({ template_id }) => template_id === node.template_id);
}
