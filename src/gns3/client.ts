// The GNS3 server's API, bound to one caller's credential: what GNS3 refuses the caller, it refuses here.
import { z } from "zod";
import { AppError } from "../domain/error.ts";
import type { Group } from "../domain/inheritance.ts";
import type { Link, LinkEnd, Node, Project, Topology } from "../domain/project.ts";
import { unavailable } from "./messages.ts";
import { type Call, listOf, nothing, SLOW_MS } from "./call.ts";
import { captureCalls } from "./captures.ts";
import { drawingCalls } from "./drawings.ts";
import { type Gns3Request, openStream, originOf, send, type Server } from "./request.ts";
import {
  type Compute,
  type ConsoleCredentials,
  type Gns3User,
  type LinkFilter,
  type Template,
  toCompute,
  toCredentials,
  toGroup,
  toLink,
  toLinkFilter,
  toNode,
  toProject,
  toTemplate,
  toUser,
  toVersion,
} from "./shapes.ts";
import { snapshotCalls } from "./snapshots.ts";

export interface Gns3ClientOptions {
  /** As `http://host:3080`. */
  baseUrl: string;
  /** A JWT or an API key of GNS3. */
  credential: string;
  /** Ends every request of this client, beside the signal of each call. */
  signal?: AbortSignal;
  /** Milliseconds for a request that only reads. */
  timeoutMs?: number;
  /** Told when GNS3 does not accept the credential (any more). */
  onUnauthorized?: () => void;
}

/** Where a new node goes and what it is called; coordinates are whole numbers. */
export interface NewNode {
  x: number;
  y: number;
  name?: string;
  compute_id?: string;
}

/**
 * Every method throws `AppError`: `unavailable` (GNS3 does not answer), `unauthorized` (sign in again), or what GNS3
 * itself says (`forbidden`, `not_found`, `conflict`, `validation_error`, …). An aborted call throws the signal's reason.
 */
export class Gns3Client {
  readonly #server: Server;
  readonly #signal?: AbortSignal;
  readonly #timeoutMs: number;
  readonly captures: ReturnType<typeof captureCalls>;
  readonly drawings: ReturnType<typeof drawingCalls>;
  readonly snapshots: ReturnType<typeof snapshotCalls>;
  readonly #onUnauthorized?: () => void;
  #version?: Promise<string>;

  constructor(options: Gns3ClientOptions) {
    this.#server = { baseUrl: options.baseUrl.replace(/\/+$/, ""), credential: options.credential };
    this.#signal = options.signal;
    this.#timeoutMs = options.timeoutMs ?? 15_000;
    const call: Call = (method, path, shape, more) => this.#call(method, path, shape, more);
    this.captures = captureCalls(call, (path, signal) => openStream(this.#server, path, signal));
    this.drawings = drawingCalls(call);
    this.snapshots = snapshotCalls(call);
    this.#onUnauthorized = options.onUnauthorized;
  }

  /** The GNS3 server's version, asked once; the answer is shared, so that no single call's signal ends it. */
  version(): Promise<string> {
    this.#version ??= this.#call("GET", "/v3/version", toVersion, {}).catch((error) => {
      this.#version = undefined;
      throw error;
    });
    return this.#version;
  }

  /** The address without path or credential, for messages and for consoles on `localhost`. */
  get origin(): string {
    return originOf(this.#server.baseUrl);
  }

  me(signal?: AbortSignal): Promise<Gns3User> {
    return this.#call("GET", "/v3/access/users/me", toUser, { signal });
  }

  /** Throws `not_found` for an unknown one, `forbidden` for a caller without the right `User.Audit`. */
  user(userId: string, signal?: AbortSignal): Promise<Gns3User> {
    return this.#call("GET", `/v3/access/users/${encodeURIComponent(userId)}`, toUser, { signal });
  }

  /** The groups of a user. GNS3 wants `Group.Audit` for it, also from the user: `forbidden`. None for an unknown user. */
  groupsOf(userId: string, signal?: AbortSignal): Promise<Group[]> {
    const path = `/v3/access/users/${encodeURIComponent(userId)}/groups`;
    return this.#call("GET", path, listOf(toGroup), { signal });
  }

  /** Throws `not_found` for an unknown one, `forbidden` for a caller without the right `Group.Audit`. */
  group(groupId: string, signal?: AbortSignal): Promise<Group> {
    return this.#call("GET", group(groupId), toGroup, { signal });
  }

  /**
   * Whether the caller has the right `Group.Modify` on a group. GNS3 tells nobody their rights, so it is asked to add a
   * user who cannot exist: who has the right is told that there is no such user.
   */
  async mayModifyGroup(groupId: string, signal?: AbortSignal): Promise<boolean> {
    const path = `${group(groupId)}/members/00000000-0000-0000-0000-000000000000`;
    try {
      await this.#call("PUT", path, () => undefined, { signal });
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === "not_found") return true;
      if (error instanceof AppError && error.code === "forbidden") return false;
      throw error;
    }
  }

  project(projectId: string, signal?: AbortSignal): Promise<Project> {
    return this.#call("GET", project(projectId), toProject, { signal });
  }

  /**
   * Whether the caller may delete the opened project: opening it takes the same privilege (Project.Allocate), and does
   * nothing to one that is open.
   */
  mayDelete(projectId: string, signal?: AbortSignal): Promise<boolean> {
    return permitted(this.#call("POST", `${project(projectId)}/open`, () => true, { signal }));
  }

  /** Whether the caller may restore snapshots of the project (Snapshot.Restore): tried on one that does not exist. */
  mayRestore(projectId: string, signal?: AbortSignal): Promise<boolean> {
    const path = `${project(projectId)}/snapshots/${crypto.randomUUID()}/restore`;
    return permitted(this.#call("POST", path, () => true, { signal }));
  }

  nodes(projectId: string, signal?: AbortSignal): Promise<Node[]> {
    return this.#call("GET", `${project(projectId)}/nodes`, listOf(toNode), { signal });
  }

  node(projectId: string, nodeId: string, signal?: AbortSignal): Promise<Node> {
    return this.#call("GET", node(projectId, nodeId), toNode, { signal });
  }

  /** What the node's console is logged in with: for the console itself and nothing else. */
  credentials(
    projectId: string,
    nodeId: string,
    signal?: AbortSignal,
  ): Promise<ConsoleCredentials | undefined> {
    return this.#call("GET", node(projectId, nodeId), toCredentials, { signal });
  }

  links(projectId: string, signal?: AbortSignal): Promise<Link[]> {
    return this.#call("GET", `${project(projectId)}/links`, listOf(toLink), { signal });
  }

  async topology(projectId: string, signal?: AbortSignal): Promise<Topology> {
    const [nodes, links] = await Promise.all([this.nodes(projectId, signal), this.links(projectId, signal)]);
    return { nodes, links };
  }

  /** All templates that the caller may use, built-in ones included. */
  templates(signal?: AbortSignal): Promise<Template[]> {
    return this.#call("GET", "/v3/templates", listOf(toTemplate), { signal });
  }

  computes(signal?: AbortSignal): Promise<Compute[]> {
    return this.#call("GET", "/v3/computes", listOf(toCompute), { signal });
  }

  createNodeFromTemplate(
    projectId: string,
    templateId: string,
    body: NewNode,
    signal?: AbortSignal,
  ): Promise<Node> {
    const path = `${project(projectId)}/templates/${encodeURIComponent(templateId)}`;
    return this.#call("POST", path, toNode, { body, signal, timeoutMs: SLOW_MS });
  }

  startNode(projectId: string, nodeId: string, signal?: AbortSignal): Promise<void> {
    return this.#act(projectId, nodeId, "start", signal);
  }

  stopNode(projectId: string, nodeId: string, signal?: AbortSignal): Promise<void> {
    return this.#act(projectId, nodeId, "stop", signal);
  }

  suspendNode(projectId: string, nodeId: string, signal?: AbortSignal): Promise<void> {
    return this.#act(projectId, nodeId, "suspend", signal);
  }

  /** The node as GNS3 has it afterwards: it changes names that are taken or have odd characters. */
  renameNode(projectId: string, nodeId: string, name: string, signal?: AbortSignal): Promise<Node> {
    return this.#call("PUT", node(projectId, nodeId), toNode, { body: { name }, signal });
  }

  createLink(projectId: string, ends: [LinkEnd, LinkEnd], signal?: AbortSignal): Promise<Link> {
    const nodes = ends.map(({ node_id, adapter_number, port_number }) => ({
      node_id,
      adapter_number,
      port_number,
    }));
    return this.#call("POST", `${project(projectId)}/links`, toLink, {
      body: { nodes },
      signal,
      timeoutMs: SLOW_MS,
    });
  }

  /** Deletes a node with its links, running or not. Throws `conflict` when it is locked. */
  deleteNode(projectId: string, nodeId: string, signal?: AbortSignal): Promise<void> {
    return this.#call("DELETE", node(projectId, nodeId), nothing, { signal, timeoutMs: SLOW_MS });
  }

  deleteLink(projectId: string, linkId: string, signal?: AbortSignal): Promise<void> {
    return this.#call("DELETE", link(projectId, linkId), nothing, { signal, timeoutMs: SLOW_MS });
  }

  /** The packet filters that GNS3 offers for a link: they differ by version and by the nodes at its ends. */
  linkFilters(projectId: string, linkId: string, signal?: AbortSignal): Promise<LinkFilter[]> {
    return this.#call("GET", `${link(projectId, linkId)}/available_filters`, listOf(toLinkFilter), {
      signal,
    });
  }

  /** Replaces all filters of a link; the answer is what GNS3 made of it. */
  setLinkFilters(
    projectId: string,
    linkId: string,
    filters: Record<string, (number | string)[]>,
    signal?: AbortSignal,
  ): Promise<Link> {
    return this.#call("PUT", link(projectId, linkId), toLink, {
      body: { filters },
      signal,
      timeoutMs: SLOW_MS,
    });
  }

  /** The console's WebSocket. The address holds the credential: it goes to `new WebSocket` and nowhere else. */
  consoleUrl(projectId: string, nodeId: string): string {
    const base = this.#server.baseUrl.replace(/^http/, "ws");
    return `${base}${node(projectId, nodeId)}/console/ws?token=${
      encodeURIComponent(this.#server.credential)
    }`;
  }

  // 3.0.6 refuses a start without a body; 3.1 answers with the node, 3.0.6 with nothing.
  #act(projectId: string, nodeId: string, action: string, signal?: AbortSignal): Promise<void> {
    const path = `${node(projectId, nodeId)}/${action}`;
    return this.#call("POST", path, nothing, { body: {}, signal, timeoutMs: SLOW_MS });
  }

  async #call<T>(
    method: Gns3Request["method"],
    path: string,
    shape: (value: unknown) => T,
    options: { body?: unknown; signal?: AbortSignal; timeoutMs?: number },
  ): Promise<T> {
    const timeoutMs = Math.max(options.timeoutMs ?? 0, this.#timeoutMs);
    const signals = [this.#signal, options.signal];
    const request = { method, path, body: options.body, timeoutMs, signals };
    const value = await send(this.#server, request).catch((error) => {
      if (error instanceof AppError && error.code === "unauthorized") this.#onUnauthorized?.();
      throw error;
    });
    try {
      return shape(value);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      const fields = error.issues.map((issue) => issue.path.join(".") || "the answer").slice(0, 5).join(", ");
      throw unavailable(`What answers at ${this.origin} is not a GNS3 3 server (unexpected ${fields}).`);
    }
  }
}

/** Nothing but a refusal of the caller is a no: that there is nothing there is found out after that. */
async function permitted(attempt: Promise<true>): Promise<boolean> {
  try {
    return await attempt;
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "unavailable") throw error;
    return error.code === "not_found" || error.code === "conflict";
  }
}

const project = (id: string) => `/v3/projects/${encodeURIComponent(id)}`;
const group = (id: string) => `/v3/access/groups/${encodeURIComponent(id)}`;
const node = (projectId: string, id: string) => `${project(projectId)}/nodes/${encodeURIComponent(id)}`;
const link = (projectId: string, id: string) => `${project(projectId)}/links/${encodeURIComponent(id)}`;
