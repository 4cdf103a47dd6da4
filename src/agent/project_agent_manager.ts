// One AgentService for each project: made once however many ask at the same time, released when the project closes or
// when it is not needed.
import { AppError, errorText } from "../domain/error.ts";
import type { Project } from "../domain/project.ts";
import type { Logger } from "../log.ts";
import { takenAway } from "../storage/errors.ts";
import type { AgentService, Closing } from "./agent_service.ts";

export interface ManagerOptions {
  /** Projects that may be open at the same time; idle ones beyond it are released, the longest unused first. */
  maxProjects: number;
  create(project: Project): Promise<AgentService> | AgentService;
  /**
   * Milliseconds between a project's end and letting go of its database's files. GNS3 closes a project before it
   * deletes its folder, and that fails when a file vanishes under its hands.
   */
  lingerMs?: number;
  log: Logger;
}

/** A moment between two things that GNS3 said: what was asked before it may be out of date after it. */
export type Moment = number;

interface Entry {
  agent: Promise<AgentService>;
  /** Once it is made. */
  service?: AgentService;
  /** When GNS3 was last asked and said that the project is open. */
  openAt: Moment;
}

const CLOSED = { reason: "project_closed" } as const;
const DELETED = {
  reason: "project_deleted",
  why: { code: "conflict", message: "The project was deleted, and this conversation with it." },
} as const;
/** Somebody has removed the files, or moved them: GNS3 has not said that the project is deleted. */
const FILES_GONE = {
  reason: "project_deleted",
  why: { code: "conflict", message: takenAway("deleted").message },
} as const;
const RESTORED = {
  reason: "project_restored",
  why: {
    code: "conflict",
    message: "The project was set back to a snapshot while the assistant was at work; it was stopped.",
  },
} as const;

/** Before it has happened: GNS3 may still refuse. */
const LEAVING = {
  deleted: {
    reason: "project_closed",
    why: { code: "conflict", message: "The project is being deleted: the assistant was stopped." },
  },
  restored: {
    reason: "project_restored",
    why: {
      code: "conflict",
      message: "The project is being set back to a snapshot: the assistant was stopped.",
    },
  },
} as const;

/** Only a bound: what is forgotten is at worst a folder that is looked for in vain. */
const MOST_CLOSED = 10_000;

/** Holds the agents of all projects that are in use. */
export class ProjectAgentManager {
  // A Map remembers insertion order: the first key is the one that was not used for the longest time.
  readonly #entries = new Map<string, Entry>();
  /** Agents that are being closed: a project's next one waits, so that it has one connection at a time. */
  readonly #closing = new Map<string, { done: Promise<void>; hurry(): void }>();
  readonly #closedAt = new Map<string, Moment>();
  /** Projects whose files are on their way out or in. */
  readonly #held = new Map<string, number>();
  #moment = 0;
  #closed = false;

  constructor(private readonly options: ManagerOptions) {}

  /** To be taken before GNS3 is asked about a project, and given to `get` or `projectClosed` with the answer. */
  now(): Moment {
    return ++this.#moment;
  }

  /**
   * The agent of a project that GNS3, asked at `asOf`, says is open. Throws what opening its storage throws (a failed
   * attempt is not remembered), and `forbidden` when the project has closed since. With `hold` it is not released as
   * idle before its `leave()` was called.
   */
  async get(project: Project, asOf = this.now(), { hold = false } = {}): Promise<AgentService> {
    const id = project.project_id;
    for (;;) {
      if (this.#closed) throw new AppError("unavailable", "The server is shutting down.", { retryAfter: 5 });
      if ((this.#closedAt.get(id) ?? 0) > asOf) throw closedMeanwhile();
      if (this.#held.has(id)) {
        throw new AppError("unavailable", "The project is being changed.", { retryAfter: 2 });
      }
      const entry = this.#entries.get(id) ?? this.#create(project, asOf);
      this.#entries.delete(id);
      this.#entries.set(id, entry);
      entry.openAt = Math.max(entry.openAt, asOf);
      const service = await entry.agent;
      // Released while it was being made.
      if (this.#entries.get(id) !== entry) continue;
      const taken = service.taken;
      if (!taken) {
        Object.assign(service.project, project);
        if (hold) service.hold();
        this.#releaseIdle(id);
        return service;
      }
      // A snapshot's files have come, or the project was deleted and made anew: what is open here is of the past.
      await this.#end(id, taken === "deleted" ? FILES_GONE : RESTORED);
    }
  }

  /** The agents that are open now. */
  get open(): readonly AgentService[] {
    return [...this.#entries.values()].flatMap(({ service }) => service ?? []);
  }

  /** Whether one of the project's turns restores a snapshot right now. */
  isRestoring(projectId: string): boolean {
    return this.#entries.get(projectId)?.service?.restoring ?? false;
  }

  /** The project's agent if it is open now; nobody is asked whether the project still is. */
  peek(projectId: string): AgentService | undefined {
    return this.#entries.get(projectId)?.service;
  }

  /** Whether anything of the project is open here. */
  holds(projectId: string): boolean {
    return this.#entries.has(projectId) || this.#closing.has(projectId);
  }

  /**
   * Ends the project's turns and closes its database at once, because its files are about to be taken away. Nobody gets
   * an agent of it before what this resolves to is called. Never rejects.
   */
  async release(projectId: string, how: "deleted" | "restored"): Promise<() => void> {
    const count = (by: number) => {
      const left = (this.#held.get(projectId) ?? 0) + by;
      if (left > 0) this.#held.set(projectId, left);
      else this.#held.delete(projectId);
    };
    count(1);
    this.#closing.get(projectId)?.hurry();
    await this.#end(projectId, LEAVING[how]);
    return () => count(-1);
  }

  /** GNS3 has closed the project, or answered at `asOf` that it is closed or not there. */
  async projectClosed(projectId: string, asOf = this.now()): Promise<void> {
    if ((this.#entries.get(projectId)?.openAt ?? 0) > asOf) return;
    // For a moment, in the middle of a restore that one of its own turns asked for.
    if (this.isRestoring(projectId)) return;
    this.#noteClosed(projectId, asOf);
    await this.#end(projectId, CLOSED, this.options.lingerMs ?? 1_000);
  }

  /** GNS3 has deleted the project and its folder. */
  async projectDeleted(projectId: string): Promise<void> {
    this.#noteClosed(projectId, this.now());
    this.#closing.get(projectId)?.hurry();
    await this.#end(projectId, DELETED);
  }

  /** GNS3 has opened the project. One that is open here was set back to a snapshot, if its files say so too. */
  async projectOpened(projectId: string): Promise<void> {
    this.#closedAt.delete(projectId);
    this.#closing.get(projectId)?.hurry();
    await this.lookAtFiles(projectId);
  }

  /** Ends the project's agent if its files are not there any more, or are those of a snapshot. */
  async lookAtFiles(projectId: string): Promise<void> {
    const taken = this.#entries.get(projectId)?.service?.taken;
    if (taken) await this.#end(projectId, taken === "deleted" ? FILES_GONE : RESTORED);
  }

  /** GNS3 has changed the project; its running turns know it by its new name at once. */
  projectUpdated({ project_id, name }: Pick<Project, "project_id" | "name">): void {
    const service = this.#entries.get(project_id)?.service;
    if (service) service.project.name = name;
  }

  /** Closes all agents; no new one is made afterwards. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#entries.keys()].map((id) => this.#end(id, CLOSED)));
    for (const { hurry } of this.#closing.values()) hurry();
    await Promise.all([...this.#closing.values()].map(({ done }) => done));
  }

  #create(project: Project, openAt: Moment): Entry {
    const id = project.project_id;
    const before = this.#closing.get(id);
    before?.hurry();
    const agent = (async () => {
      await before?.done;
      return await this.options.create(project);
    })();
    const entry: Entry = { agent, openAt };
    agent.then(
      (service) => void (entry.service = service),
      () => {
        if (this.#entries.get(id) === entry) this.#entries.delete(id);
      },
    );
    return entry;
  }

  async #end(id: string, closing: Closing, lingerMs = 0): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry) return await this.#closing.get(id)?.done;
    this.#entries.delete(id);
    const { promise: until, resolve: hurry } = Promise.withResolvers<void>();
    const timer = lingerMs > 0 ? setTimeout(hurry, lingerMs) : undefined;
    const close = async () => {
      try {
        await (await entry.agent).close({ ...closing, ...(timer === undefined ? {} : { until }) });
      } catch (error) {
        this.options.log.warn("Closing a project's agent failed.", {
          project_id: id,
          error: errorText(error),
        });
      } finally {
        clearTimeout(timer);
        if (this.#closing.get(id) === mine) this.#closing.delete(id);
      }
    };
    const mine = { done: Promise.resolve(), hurry };
    this.#closing.set(id, mine);
    mine.done = close();
    await mine.done;
  }

  #noteClosed(id: string, at: Moment): void {
    const known = this.#closedAt.get(id) ?? 0;
    this.#closedAt.delete(id);
    this.#closedAt.set(id, Math.max(known, at));
    for (const oldest of this.#closedAt.keys()) {
      if (this.#closedAt.size <= MOST_CLOSED) break;
      this.#closedAt.delete(oldest);
    }
  }

  #releaseIdle(justUsed: string): void {
    for (const [id, { service }] of [...this.#entries]) {
      if (this.#entries.size <= this.options.maxProjects) return;
      if (id !== justUsed && service && !service.busy) void this.#end(id, CLOSED);
    }
  }
}

function closedMeanwhile(): AppError {
  return new AppError("forbidden", "Project must be opened to use chat. Current status: closed", {
    details: { project_status: "closed" },
  });
}
