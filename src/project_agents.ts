// Builds the agents of projects: everything that a turn needs, loaded with the first project that is used.
import { AgentService } from "./agent/agent_service.ts";
import type { ModelChoice } from "./agent/model_choice.ts";
import { warmUp } from "./agent/tokens.ts";
import type { TurnLimits } from "./agent/turn_limits.ts";
import { turnContexts } from "./agent/turn_contexts.ts";
import type { Config } from "./config.ts";
import type { Consoles } from "./devices/consoles.ts";
import { AppError } from "./domain/error.ts";
import type { Project } from "./domain/project.ts";
import type { HostClient } from "./host/client.ts";
import type { Skills } from "./knowledge/skills.ts";
import type { Logger } from "./log.ts";
import { ApprovalsRepository } from "./storage/approvals.ts";
import type { AuditLog } from "./storage/audit_log.ts";
import { keepThrough, openProjectDatabase } from "./storage/database.ts";
import { FaultsRepository } from "./storage/faults.ts";
import { ChatSessionsRepository } from "./storage/sessions.ts";
import { StepSaver } from "./storage/step_saver.ts";

/** Model calls in a turn; fault injection looks, breaks and verifies, so it gets more. */
const STEPS = { usual: 40, injection: 100 };
const PARALLEL_TOOLS = 8;

export interface ProjectAgentsOptions {
  config: Config;
  consoles: Consoles;
  models: ModelChoice;
  limits: TurnLimits;
  /** Read already. */
  skills: Skills;
  audit: AuditLog;
  /** Programs outside of the sandbox; undefined where there is no helper. */
  host: HostClient | undefined;
  log: Logger;
}

/** A maker of agents. Opening a project's storage throws `AppError` when that cannot be read or lies elsewhere. */
export function projectAgents(
  { config, consoles, models, limits, skills, audit, host, log }: ProjectAgentsOptions,
): (project: Project) => AgentService {
  const contextFor = turnContexts({
    gns3Url: config.gns3Url,
    consolesFor: (gns3) => consoles.forCaller(gns3),
    skills: () => skills.loaded,
    audit: (entry) => audit.append(entry),
    host,
    snapshotBeforeChanges: config.snapshotBeforeChanges,
    limits: {
      modelTimeoutMs: config.modelTimeout * 1000,
      titleTimeoutMs: config.titleTimeout * 1000,
      parallelTools: PARALLEL_TOOLS,
    },
    steps: STEPS,
    log,
  });
  // The tokenizer's table takes a moment to load: now, rather than in the first answer.
  void warmUp().catch((error) => log.error("The tokenizer did not load.", { error }));
  return (project) =>
    new AgentService({
      project,
      storage: openStorage(project, config),
      contextFor,
      modelFor: models.modelFor,
      limits,
      log: log.child({ project_id: project.project_id }),
      newId: () => crypto.randomUUID(),
      now: () => new Date(),
    });
}

function openStorage(project: Project, config: Config) {
  if (!project.path) {
    throw new AppError(
      "forbidden",
      "GNS3 does not tell you where this project is stored, so its chats cannot be kept.",
    );
  }
  const database = openProjectDatabase(project.path, config.projectsDir);
  return {
    sessions: new ChatSessionsRepository(database, project.project_id),
    saver: new StepSaver(database, { checkpointsKept: config.checkpointsKept }),
    approvals: new ApprovalsRepository(database),
    faults: new FaultsRepository(database),
    keepThrough: <T>(restore: () => Promise<T>) => keepThrough(database, restore),
    close: () => database.close(),
  };
}
