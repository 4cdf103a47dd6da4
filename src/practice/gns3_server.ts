// The practice GNS3 server: as much of GNS3's API as this program and its users need, over a simulated lab. Part of the
// product's demo and the fake of its tests, so what it shows is always the state of the simulation.
import { Hono } from "hono";
import { closeProject, createProject, fillWithDefaultLab } from "./gns3/projects.ts";
import { Gns3Error, type Gns3Version } from "./gns3/error.ts";
import { type Env, tokenOf } from "./gns3/request.ts";
import { accessRoutes, openRoutes } from "./gns3/routes_access.ts";
import { drawingRoutes, snapshotRoutes } from "./gns3/routes_extras.ts";
import { linkRoutes } from "./gns3/routes_links.ts";
import { nodeRoutes } from "./gns3/routes_nodes.ts";
import { projectRoutes } from "./gns3/routes_projects.ts";
import type { LabProject, ServerState } from "./gns3/state.ts";
import {
  capturePath,
  consolePath,
  serveCapture,
  serveConsole,
  serveNotifications,
  streamPath,
  type StreamTiming,
} from "./gns3/streams.ts";
import { TEMPLATES } from "./gns3/templates.ts";
import { type NewUser, type Role, Users } from "./gns3/users.ts";
import { type Exchange, type HttpServer, serveHttp } from "./http1.ts";
import type { Network } from "./network.ts";
import { QUICK_TIMING, sleep, type Timing } from "./timing.ts";
import { isUpgrade } from "./websocket_server.ts";

export interface PracticeGns3Options {
  /** 3.1.0a7 unless given. */
  version?: Gns3Version;
  /** Where projects get their folders; left out: a temporary folder that goes with the server. */
  projectsDir?: string;
  hostname?: string;
  port?: number;
  /** How fast the devices are; what is left out is quick. */
  timing?: Partial<Timing>;
  /** Left out: admin, alice (may use the lab), bob (may use the other project), carol (may only look at the lab). */
  users?: NewUser[];
  /** False starts without any project. */
  lab?: boolean;
  /** False keeps routers from printing their log on the console. */
  logMessages?: boolean;
  /** Milliseconds that every answer is held back. */
  latency?: number;
  /** Milliseconds between two pings of a notification stream (5000), and until an unwatched project closes (8000). */
  pingInterval?: number;
  autoCloseDelay?: number;
  now?: () => number;
  onRequest?: (request: RecordedRequest) => void;
}

/** One request as the server saw it. `username` is whose token it carried, whatever became of it; `status` 101 is a WebSocket. */
export interface RecordedRequest {
  at: number;
  method: string;
  path: string;
  username: string | null;
  /** 0 while it is being answered, and for good when it was cut. */
  status: number;
}

export interface PracticeGns3 {
  /** Without a slash at the end. */
  url: string;
  projectsDir: string;
  /** A valid token of each user, made at the start. */
  tokens: Record<string, string>;
  userIds: Record<string, string>;
  /** The default lab's project and an empty one; "" when there is none. */
  projectId: string;
  otherProjectId: string;
  /** The default lab's simulation. */
  network: Network;
  requests: RecordedRequest[];
  project(projectId: string): LabProject;
  /** The id of a node of the default lab, by its name. */
  nodeId(name: string): string;
  addUser(user: NewUser): string;
  /** Gives a role in a project or at a path such as `/access/groups/{id}`; null takes it away. */
  grant(username: string, where: string, role: Role | null): void;
  newToken(username: string): string;
  expire(token: string): void;
  revoke(username: string): void;
  setLatency(ms: number): void;
  /** True: nobody answers on the port, as when GNS3 is not running. */
  setDown(down: boolean): Promise<void>;
  close(): Promise<void>;
}

const KEPT_REQUESTS = 10_000;

const EVERYBODY: Record<string, Role> = { "/templates": "User", "/computes": "User" };

const DEFAULT_USERS: NewUser[] = [
  { username: "admin", password: "practice-admin", superadmin: true },
  { username: "alice", password: "practice-alice", roles: EVERYBODY },
  { username: "bob", password: "practice-bob", roles: EVERYBODY },
  { username: "carol", password: "practice-carol", roles: EVERYBODY },
];

/** Starts a practice server on a free port. `close()` must be called. */
export async function startPracticeGns3(options: PracticeGns3Options = {}): Promise<PracticeGns3> {
  const version = options.version ?? "3.1.0a7";
  const now = options.now ?? Date.now;
  const ownDir = options.projectsDir === undefined;
  const projectsDir = options.projectsDir ?? await Deno.makeTempDir({ prefix: "practice-gns3-" });
  const users = new Users(version, now);
  for (const user of options.users ?? DEFAULT_USERS) users.add(user);
  const state: ServerState = {
    version,
    users,
    projectsDir: await Deno.realPath(projectsDir),
    projects: new Map(),
    templates: [...TEMPLATES],
    timing: { ...QUICK_TIMING, ...options.timing },
    logMessages: options.logMessages ?? true,
    now,
    listeners: new Map(),
  };
  const labs = options.lab === false ? [] : await defaultProjects(state);
  if (!options.users) grantDefaults(users, labs);
  const requests: RecordedRequest[] = [];
  let latency = options.latency ?? 0;
  const app = routes(state);
  const closing = new AbortController();
  const streams = {
    ping: options.pingInterval ?? 5000,
    autoClose: options.autoCloseDelay ?? 8000,
    closing: closing.signal,
  };
  const handle = async (exchange: Exchange) => {
    const record: RecordedRequest = {
      at: now(),
      method: exchange.method,
      path: exchange.url.pathname,
      username: users.nameOf(tokenOf(exchange.headers, exchange.url)),
      status: 0,
    };
    requests.push(record);
    if (requests.length > KEPT_REQUESTS) requests.shift();
    options.onRequest?.(record);
    if (latency) await sleep(latency, exchange.signal);
    await answer(state, app, exchange, record, streams);
  };
  let server: HttpServer | null = serveHttp(handle, { hostname: options.hostname, port: options.port });
  const { url, port } = server;
  return {
    url,
    projectsDir: state.projectsDir,
    tokens: Object.fromEntries([...users.byName.keys()].map((name) => [name, users.issue(name)])),
    userIds: Object.fromEntries([...users.byName.values()].map((user) => [user.username, user.userId])),
    projectId: labs[0]?.projectId ?? "",
    otherProjectId: labs[1]?.projectId ?? "",
    get network() {
      return labs[0]!.net;
    },
    requests,
    project: (projectId) => state.projects.get(projectId)!,
    nodeId: (name) => [...labs[0]!.net.devices.values()].find((device) => device.name === name)!.id,
    addUser: (user) => users.add(user).userId,
    grant: (username, where, role) => {
      const { roles } = users.byName.get(username)!;
      if (role) roles.set(where, role);
      else roles.delete(where);
    },
    newToken: (username) => users.issue(username),
    expire: (token) => users.expire(token),
    revoke: (username) => users.revoke(username),
    setLatency: (ms) => void (latency = ms),
    async setDown(down) {
      if (down) await server?.close();
      server = down ? null : server ?? serveHttp(handle, { hostname: options.hostname, port });
    },
    async close() {
      closing.abort();
      await server?.close();
      for (const project of state.projects.values()) {
        closeProject(state, project);
        await project.consoles.close();
      }
      if (ownDir) await Deno.remove(projectsDir, { recursive: true });
    },
  };
}

async function defaultProjects(state: ServerState): Promise<LabProject[]> {
  const lab = await createProject(state, { name: "practice-lab", autoClose: false, createdBy: "admin" });
  fillWithDefaultLab(state, lab);
  const other = await createProject(state, { name: "other-lab", autoClose: false, createdBy: "admin" });
  return [lab, other];
}

function grantDefaults(users: Users, [lab, other]: LabProject[]): void {
  if (!lab || !other) return;
  users.byName.get("alice")!.roles.set(lab.projectId, "User");
  users.byName.get("bob")!.roles.set(other.projectId, "User");
  users.byName.get("carol")!.roles.set(lab.projectId, "Auditor");
}

/** The ordinary routes; streams and WebSockets are answered before them. */
function routes(state: ServerState): Hono<Env> {
  const app = new Hono<Env>();
  app.onError((error) => {
    if (error instanceof Gns3Error) return error.response(state.version);
    console.error("The practice GNS3 server failed:", error);
    return new Gns3Error(500, "Internal server error of the practice lab", "internal").response(
      state.version,
    );
  });
  app.notFound((c) => {
    if (state.version === "3.0.6") return c.json({ detail: "Not Found" }, 404);
    return new Gns3Error(404, `The practice lab has no route ${c.req.method} ${c.req.path}`, "not_found")
      .response(state.version);
  });
  app.route("/", openRoutes(state));
  app.use("/v3/*", async (c, next) => {
    c.set("user", state.users.authenticate(tokenOf(c.req.raw.headers, new URL(c.req.url))));
    await next();
  });
  for (const part of [accessRoutes, projectRoutes, nodeRoutes, linkRoutes, drawingRoutes, snapshotRoutes]) {
    app.route("/", part(state));
  }
  return app;
}

async function answer(
  state: ServerState,
  app: Hono<Env>,
  exchange: Exchange,
  record: RecordedRequest,
  streams: StreamTiming,
): Promise<void> {
  const { pathname } = exchange.url;
  const console = consolePath(pathname);
  if (console && isUpgrade(exchange.headers)) {
    record.status = 101;
    return await serveConsole(state, exchange, console);
  }
  const stream = streamPath(pathname);
  if (stream !== null && exchange.method === "GET") {
    record.status = 200;
    return await serveNotifications(state, exchange, stream, streams);
  }
  const capture = capturePath(pathname);
  if (capture && exchange.method === "GET") {
    record.status = 200;
    return await serveCapture(state, exchange, capture);
  }
  const withBody = exchange.method !== "GET" && exchange.method !== "HEAD" && exchange.body.length > 0;
  const response = await app.fetch(
    new Request(exchange.url, {
      method: exchange.method,
      headers: exchange.headers,
      body: withBody ? exchange.body : undefined,
    }),
  );
  record.status = response.status;
  await exchange.respond(response);
}
