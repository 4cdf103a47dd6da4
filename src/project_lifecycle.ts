// What GNS3 says about projects, and what it means for their agents.
import type { ProjectAgentManager } from "./agent/project_agent_manager.ts";
import type { Config } from "./config.ts";
import { AppError } from "./domain/error.ts";
import type { Access } from "./gns3/access.ts";
import { Gns3Client } from "./gns3/client.ts";
import { Notifications, type ProjectEvent } from "./gns3/notifications.ts";
import { ServiceAccount } from "./gns3/service_account.ts";
import type { FilesTaken } from "./http/gateway/gateway.ts";
import type { Logger } from "./log.ts";

export interface ProjectLifecycleOptions {
  gns3Url: string;
  account?: ServiceAccount;
  manager: ProjectAgentManager;
  access: Access;
  log: Logger;
}

/** The account that an administrator has given this server, if any. */
export function serviceAccount(
  { gns3Url: baseUrl, gns3User: username, gns3Password: password }: Config,
  log: Logger,
): ServiceAccount | undefined {
  if (!username || password === null) return undefined;
  return new ServiceAccount({ baseUrl, username, password, onToken: (token) => log.secret(token) });
}

/** Follows GNS3's controller stream until it is closed, and keeps the agents in step with it. */
export function followProjects(
  { gns3Url: baseUrl, account, manager, access, log }: ProjectLifecycleOptions,
): Notifications {
  // None of the manager's methods rejects.
  const onEvent = (event: ProjectEvent) => {
    log.debug(`GNS3: project ${event.action}.`, { project_id: event.project_id });
    if (event.action === "opened") void manager.projectOpened(event.project_id);
    if (event.action === "closed") void manager.projectClosed(event.project_id);
    if (event.action === "deleted") void manager.projectDeleted(event.project_id);
    if (event.action === "updated") manager.projectUpdated(event);
  };
  const catchUp = async (credential: string) => {
    for (const { project: { project_id } } of manager.open) {
      void manager.lookAtFiles(project_id);
      const asOf = manager.now();
      await access.project(credential, project_id).catch((error) => {
        if (isGone(error)) void manager.projectClosed(project_id, asOf);
      });
    }
  };
  return new Notifications({
    baseUrl,
    account,
    onEvent,
    onOpen: (credential) => void catchUp(credential),
    log,
  });
}

/** GNS3 says that the project is closed or not there: its agent has nothing to do any more. */
export function isGone(error: unknown): boolean {
  return error instanceof AppError &&
    (error.code === "project_not_found" || error.details?.project_status === "closed");
}

/**
 * Closes a project's agent before GNS3 is asked to delete the project or to set it back to a snapshot, if the caller may
 * do that: otherwise anybody could end other people's turns. Resolves to what is to be called when GNS3 has answered.
 */
export async function letGoOfFiles(
  { manager, gns3Url: baseUrl }: { manager: ProjectAgentManager; gns3Url: string },
  { projectId, how, credential }: FilesTaken,
): Promise<() => void> {
  const nothing = () => {};
  if (!manager.holds(projectId)) return nothing;
  const gns3 = new Gns3Client({ baseUrl, credential });
  const may = how === "deleted" ? gns3.mayDelete(projectId) : gns3.mayRestore(projectId);
  return await may.catch(() => false) ? await manager.release(projectId, how) : nothing;
}
