// Builds the agents of projects: everything that a turn needs, loaded with the first project that is used.
import { AgentService } from "./agent/agent_service.ts";
import type { ModelChoice } from "./agent/model_choice.ts";
import type { ProjectStorage } from "./agent/project_storage.ts";
import { warmUp } from "./agent/tokens.ts";
import type { TurnLimits } from "./agent/turn_limits.ts";
import { turnContexts } from "./agent/turn_contexts.ts";
import type { Config } from "./config.ts";
import type { Consoles } from "./devices/consoles.ts";
import { AppError } from "./domain/error.ts";
import type { Project } from "./domain/project.ts";
import type { Access } from "./gns3/access.ts";
import type { HostClient } from "./host/client.ts";
import type { Skills } from "./knowledge/skills.ts";
import type { Logger } from "./log.ts";
import { ApprovalsRepository } from "./storage/approvals.ts";
import type { AuditLog } from "./storage/audit_log.ts";
import {
  closeRestored,
  keepThrough,
  nodeFilesMark,
  openProjectDatabase,
  settled,
} from "./storage/database.ts";
import { FaultsRepository } from "./storage/faults.ts";
import { deleteOldRows } from "./storage/python/purge.ts";
import { matchSessions } from "./storage/python/sessions.ts";
import { ChatSessionsRepository } from "./storage/sessions.ts";
import { StepSaver } from "./storage/step_saver.ts";

/** Model calls in a turn; fault injection looks, breaks and verifies, so it gets more. */
const STEPS = { usual: 40, injection: 100 };
const PARALLEL_TOOLS = 8;

export interface ProjectAgentsOptions {
  config: Config;
  consoles: Consoles;
  access: Access;
  /** Milliseconds between two looks at whether a running turn's user may still use the project. */
  recheckMs: number;
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
  { config, consoles, access, recheckMs, models, limits, skills, audit, host, log }: ProjectAgentsOptions,
): (project: Project) => AgentService {
  const contextFor = turnContexts({
    gns3Url: config.gns3Url,
    onUnauthorized: (credential) => void access.forget(credential),
    consolesFor: (gns3) => consoles.forCaller(gns3),
    skills: () => skills.loaded,
    audit: (entry) => audit.append(entry),
    host,
    snapshotBeforeChanges: config.snapshotBeforeChanges,
    teachingCanBuild: config.teachingCanBuild,
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
      access: {
        check: (caller, signal) => access.project(caller, project.project_id, signal),
        everyMs: recheckMs,
      },
      modelFor: models.modelFor,
      limits,
      log: log.child({ project_id: project.project_id }),
      newId: () => crypto.randomUUID(),
      now: () => new Date(),
    });
}

function openStorage(project: Project, config: Config): ProjectStorage {
  if (!project.path) {
    throw new AppError(
      "forbidden",
      "GNS3 does not tell you where this project is stored, so its chats cannot be kept.",
    );
  }
  const { path } = project;
  const database = openProjectDatabase(path, config.projectsDir);
  try {
    matchSessions(database);
  } catch (error) {
    database.close();
    throw error;
  }
  let nodeFiles = nodeFilesMark(path);
  let restoring = false;
  return {
    sessions: new ChatSessionsRepository(database, project.project_id),
    saver: new StepSaver(database, { checkpointsKept: config.checkpointsKept }),
    approvals: new ApprovalsRepository(database),
    faults: new FaultsRepository(database),
    deleteOldRows: (threadId) => deleteOldRows(database, threadId),
    keepThrough: async (restore) => {
      restoring = true;
      try {
        return await keepThrough(database, restore);
      } finally {
        nodeFiles = nodeFilesMark(path);
        restoring = false;
      }
    },
    taken: () => {
      const change = database.changedOutside();
      // What one of this agent's own turns does is not behind its back.
      if (change || restoring) return change;
      const now = nodeFilesMark(path);
      // The first node makes the folder; only one that is another than before tells of a snapshot.
      const replaced = nodeFiles !== undefined && now !== undefined && now !== nodeFiles;
      nodeFiles ??= now;
      return replaced ? "restored" : undefined;
    },
    checkpoint: () => database.checkpoint(),
    close: async () => {
      if (database.changedOutside()) await settled(database.path);
      if (database.changedOutside()) closeRestored(database);
      else database.close();
    },
  };
}
