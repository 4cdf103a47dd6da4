// One AgentService for each project: made once however many ask at the same time, released when it is not needed.
import { AppError } from "../domain/error.ts";
import type { Project } from "../domain/project.ts";
import type { Logger } from "../log.ts";
import type { AgentService } from "./agent_service.ts";

export interface ManagerOptions {
  /** Projects that may be open at the same time; idle ones beyond it are released, the longest unused first. */
  maxProjects: number;
  create(project: Project): Promise<AgentService> | AgentService;
  log: Logger;
}

/** Holds the agents of all projects that are in use. */
export class ProjectAgentManager {
  // A Map remembers insertion order: the first key is the one that was not used for the longest time.
  readonly #agents = new Map<string, Promise<AgentService>>();
  readonly #open = new Map<string, AgentService>();
  #closed = false;

  constructor(private readonly options: ManagerOptions) {}

  /** The project's agent. Throws what opening its storage throws; a failed attempt is not remembered. */
  async get(project: Project): Promise<AgentService> {
    if (this.#closed) throw new AppError("unavailable", "The server is shutting down.", { retryAfter: 5 });
    const id = project.project_id;
    const known = this.#agents.get(id);
    const agent = known ?? this.#create(project);
    this.#agents.delete(id);
    this.#agents.set(id, agent);
    const service = await agent;
    service.project = project;
    this.#releaseIdle(id);
    return service;
  }

  /** The agents that are open now. */
  get open(): readonly AgentService[] {
    return [...this.#open.values()];
  }

  /** Whether one of the project's turns restores a snapshot right now. */
  isRestoring(projectId: string): boolean {
    return this.#open.get(projectId)?.restoring ?? false;
  }

  /** Ends the project's turns cleanly and closes its database; a project without an agent is left alone. */
  async release(projectId: string): Promise<void> {
    const agent = this.#agents.get(projectId);
    if (!agent) return;
    this.#agents.delete(projectId);
    this.#open.delete(projectId);
    try {
      await (await agent).close("project_closed");
    } catch (error) {
      this.options.log.warn("Closing a project's agent failed.", {
        project_id: projectId,
        error: String(error),
      });
    }
  }

  /** Closes all agents; no new one is made afterwards. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#agents.keys()].map((id) => this.release(id)));
  }

  #create(project: Project): Promise<AgentService> {
    const id = project.project_id;
    const agent = (async () => await this.options.create(project))();
    agent.then(
      (service) => {
        // A release that came while it was being made has taken it out of the map.
        if (this.#agents.get(id) === agent) this.#open.set(id, service);
      },
      () => {
        if (this.#agents.get(id) === agent) this.#agents.delete(id);
      },
    );
    return agent;
  }

  #releaseIdle(justUsed: string): void {
    for (const [id] of [...this.#agents]) {
      if (this.#agents.size <= this.options.maxProjects) return;
      const service = this.#open.get(id);
      if (id !== justUsed && service && !service.busy) void this.release(id);
    }
  }
}
