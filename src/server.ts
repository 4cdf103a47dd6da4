// The composition root: builds everything once from the configuration and hands out what serves requests.
import { ProjectAgentManager } from "./agent/project_agent_manager.ts";
import type { Config } from "./config.ts";
import { Consoles } from "./devices/consoles.ts";
import { AppError, errorText } from "./domain/error.ts";
import { inTurn } from "./domain/in_turn.ts";
import { outsideScopes } from "./domain/scope.ts";
import { Access } from "./gns3/access.ts";
import { Gns3Client } from "./gns3/client.ts";
import { whenAnswered } from "./http/answered.ts";
import { createApp, ownPaths } from "./http/app.ts";
import { auditReader, credentialOf, enter, refusedNow } from "./http/auth.ts";
import { createGateway } from "./http/gateway/gateway.ts";
import { auditRoute } from "./http/routes/audit.ts";
import { chatRoutes, flatStreamRoute } from "./http/routes/chat.ts";
import { type ChatDeps, projectIdSchema } from "./http/routes/deps.ts";
import { healthRoutes } from "./http/routes/health.ts";
import { flatSessionRoutes, sessionRoutes } from "./http/routes/sessions.ts";
import { skillsRoutes } from "./http/routes/skills.ts";
import { HostClient } from "./host/client.ts";
import { Skills } from "./knowledge/skills.ts";
import type { Logger } from "./log.ts";
import { followProjects, isGone, letGoOfFiles, serviceAccount } from "./project_lifecycle.ts";
import { AuditLog } from "./storage/audit_log.ts";
import { storedModels } from "./stored_models.ts";
import { VERSION } from "./version.ts";
import type { Server } from "./worker_loop.ts";

/** How long an answer to "does GNS3 answer?" counts, in milliseconds. */
const READY_CACHE_MS = 1000;

const CHAT_PREFIXES = [
  ["/v3/projects/:project_id/chat", ""],
  ["/v3/copilot/projects/:project_id/chat", "Alias"],
] as const;

/** How often it is asked whether those who listen or have a turn running still may; a refusal counts within a minute. */
const RECHECK_MS = 40_000;

/**
 * Builds the server. Nothing listens yet; `fetch` answers requests. `recheckMs` is for tests. Throws `AppError` when its
 * state cannot be used.
 */
// deno-lint-ignore require-await -- what it throws must reject
export async function createServer(
  config: Config,
  { log, helper, recheckMs = RECHECK_MS }: { log: Logger; helper?: MessagePort; recheckMs?: number },
): Promise<Server> {
  const startedAt = performance.now();
  const access = new Access({ baseUrl: config.gns3Url });
  const account = serviceAccount(config, log);
  const models = storedModels(config, { access, account, log });
  const consoles = new Consoles({
    transport: config.consoleTransport,
    onFault: (error) => log.error("A console failed unexpectedly.", { error }),
  });
  const host = helper && new HostClient(helper);
  const audit = new AuditLog({ stateDir: config.stateDir, log });
  const skills = new Skills({
    dir: config.skillsDir,
    builtin: async () => (await import("./knowledge/builtin/mod.ts")).BUILTIN,
    log,
  });
  // What is wrong with the folder is told at the start, and not when a student first needs it.
  if (config.skillsDir) {
    skills.current().then((set) => set.knowledge())
      .catch((error) => log.error("The skills could not be read.", { error }));
  }
  // LangGraph, the model's client and the tokenizer are half of the memory and of the start: they come with the first
  // request that needs a project, which is usually a list of sessions, a moment before the first message.
  const agents = once(async () => {
    const [{ projectAgents }] = await Promise.all([import("./project_agents.ts"), skills.current()]);
    return projectAgents({
      config,
      consoles,
      access,
      recheckMs,
      models: models.choice,
      limits: models.limits,
      skills,
      audit,
      host,
      log,
    });
  });
  const manager = new ProjectAgentManager({
    maxProjects: config.maxProjects,
    log,
    create: async (project) => (await agents())(project),
  });

  const notifications = followProjects({ gns3Url: config.gns3Url, account, manager, access, log });

  let draining = false;
  const mayStart = () => {
    if (draining) throw new AppError("unavailable", "The server is shutting down.", { retryAfter: 5 });
  };
  const deps: ChatDeps = {
    log,
    mayStart,
    heartbeatMs: config.heartbeatInterval * 1000,
    projectIdSchema,
    requireCredential: (c) => void credentialOf(c),
    peek: async (c) => {
      const caller = await access.known(credentialOf(c));
      const service = manager.peek((c.req.param("project_id") ?? "").toLowerCase());
      const confirm = () => access.confirm(credentialOf(c));
      return caller && service && { caller, service, confirm };
    },
    visit: async (c, projectId = c.req.param("project_id") ?? "") => {
      mayStart();
      await inTurn("start");
      const asOf = manager.now();
      const { caller, project } = await enter(access, c, projectId).catch((error) => {
        if (!isGone(error)) throw error;
        if (manager.isRestoring(projectId.toLowerCase())) throw restoring();
        void manager.projectClosed(projectId.toLowerCase(), asOf);
        throw error;
      });
      await inTurn("further");
      notifications.use(caller.credential);
      models.memberships.met(caller);
      const refused = () => refusedNow(access, caller, project.project_id);
      const service = await manager.get(project, asOf, { hold: true });
      whenAnswered(c, () => service.leave());
      return { caller, service, recheck: { everyMs: recheckMs, refused } };
    },
  };
  const routes = [
    ...CHAT_PREFIXES.flatMap(([prefix, suffix]) => [
      ...chatRoutes(prefix, suffix, deps),
      ...sessionRoutes(prefix, suffix, deps),
      auditRoute(prefix, suffix, { audit, reader: (c, projectId) => auditReader(access, c, projectId) }),
    ]),
    flatStreamRoute(deps),
    ...flatSessionRoutes(deps),
    ...models.routes,
    ...skillsRoutes({
      skills,
      me: (credential, signal) => new Gns3Client({ baseUrl: config.gns3Url, credential }).me(signal),
    }),
    ...healthRoutes({
      version: VERSION,
      startedAt,
      draining: () => draining,
      activeTurns: () => manager.open.reduce((sum, agent) => sum + agent.runningTurns.length, 0),
      gns3Fault: remembered(READY_CACHE_MS, () => faultOf(config.gns3Url)),
    }),
  ];

  const app = createApp({ version: VERSION, corsOrigins: config.corsOrigins, log, routes });
  const isOurs = ownPaths(routes);
  const gateway = config.gateway
    ? createGateway({
      gns3Url: config.gns3Url,
      beforeFilesAreTaken: (request) => letGoOfFiles({ manager, gns3Url: config.gns3Url }, request),
      log,
    })
    : undefined;

  return {
    listening: ({ port }) => models.listening(port),
    fetch: (request, { remoteAddr }) =>
      outsideScopes(() => {
        if (!gateway || isOurs(new URL(request.url).pathname)) return app.fetch(request);
        return gateway.fetch(request, { address: remoteAddr.hostname });
      }),
    mounted: [
      ...CHAT_PREFIXES.map(([prefix]) => `chat at ${prefix.replace(/:(\w+)/g, "{$1}")}`),
      "model configurations at /v3/access/users/{user_id}/llm-model-configs and /v3/access/groups/…",
      "API description at /docs and /openapi.json",
      ...(gateway ? [`everything else is GNS3's, its Web UI at /`] : []),
    ],
    drain: async () => {
      draining = true;
      const running = manager.open.flatMap((agent) => agent.runningTurns);
      if (running.length) log.info(`Waiting for ${running.length} running answer(s).`);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise((resolve) => timer = setTimeout(resolve, config.drainTimeout * 1000));
      await Promise.race([Promise.all(running.map((turn) => turn.finished)), late]);
      clearTimeout(timer);
      for (const turn of running) turn.abort("shutdown");
      await Promise.all(running.map((turn) => turn.finished));
      gateway?.close();
    },
    close: async () => {
      await notifications.close();
      await manager.close();
      await consoles.close();
      models.close();
      host?.close();
    },
  };
}

/** While a turn restores a snapshot, GNS3 shows the project as closed. */
function restoring(): AppError {
  return new AppError("unavailable", "A snapshot of this project is being restored. Try again in a moment.", {
    retryAfter: 2,
  });
}

/** Why the GNS3 server cannot be asked anything; undefined when it answers, whatever it says. */
async function faultOf(gns3Url: string): Promise<string | undefined> {
  try {
    await new Gns3Client({ baseUrl: gns3Url, credential: "none", timeoutMs: 3000 }).version();
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "unavailable") return errorText(error);
  }
}

/** Asks at most once in `ms`, however many want to know. */
function remembered<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let until = 0;
  return () => {
    if (!answer || performance.now() > until) {
      answer = ask();
      until = performance.now() + ms;
    }
    return answer;
  };
}

/** The result of `make`, made when it is first asked for; a failure is not remembered. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
