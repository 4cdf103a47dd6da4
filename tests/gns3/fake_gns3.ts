// A small GNS3 server for tests: real HTTP on 127.0.0.1, answers in the shapes of GNS3 3.1.0a7 or 3.0.6.
import type { FakeConsole } from "../devices/fake_console.ts";

export const PROJECT_ID = "438ab39b-d78d-4c48-944c-a987cea63540";
export const CLOSED_ID = "750e7d02-c996-46e1-9977-e70497daef7f";
export const VPCS_TEMPLATE = "52136454-1f50-590a-94e4-816bd02d1062";

export interface Seen {
  method: string;
  path: string;
  body: unknown;
  authorization: string | null;
}

export interface FakeNode {
  node_id: string;
  name: string;
  node_type: string;
  status: string;
  console: number | null;
  console_type: string;
  console_host: string;
  compute_id: string;
  template_id: string | null;
  netmiko_device_type?: string | null;
  default_username?: string;
  default_password?: string;
  tags?: string[];
  x: number;
  y: number;
  ports: {
    name: string;
    short_name: string;
    adapter_number: number;
    port_number: number;
    link_type: string;
  }[];
}

type Answer = Response | Promise<Response>;

const json = (value: unknown, status = 200) => Response.json(value, { status });
const refuse = (status: number, code: string, message: string, details?: unknown) =>
  json({ message, code, ...(details ? { details } : {}) }, status);

/** Tokens: `alice` may do everything, `nobody` nothing, `looker` may read but has no consoles; others are 401. */
export class FakeGns3 {
  version = "3.1.0a7";
  readonly seen: Seen[] = [];
  readonly nodes: FakeNode[] = [];
  readonly links: { link_id: string; nodes: Record<string, unknown>[]; [field: string]: unknown }[] = [];
  readonly consoles = new Map<string, FakeConsole>();
  /** `METHOD /path`: answers instead of the fake. */
  readonly instead = new Map<string, (request: Request) => Answer>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #stop = new AbortController();
  #next = 1;

  constructor() {
    this.#server = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      signal: this.#stop.signal,
      onListen() {},
    }, (request) => this.#answer(request));
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose]() {
    this.#stop.abort();
    await this.#server.finished;
  }

  /** A node with ports `Ethernet0`… (or those named), of any type. */
  add(name: string, more: Partial<FakeNode> = {}, ports: string[] = ["Ethernet0"]): FakeNode {
    const number = this.#next++;
    const node: FakeNode = {
      node_id: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
      name,
      node_type: "vpcs",
      status: "stopped",
      console: 5000 + number,
      console_type: "telnet",
      console_host: "127.0.0.1",
      compute_id: "local",
      template_id: VPCS_TEMPLATE,
      x: 0,
      y: 0,
      ports: ports.map((port, i) => ({
        name: port,
        short_name: port.replace(/^([A-Za-z])[A-Za-z]*/, (_, letter) => letter.toLowerCase()),
        adapter_number: 0,
        port_number: i,
        link_type: "ethernet",
      })),
      ...more,
    };
    this.nodes.push(node);
    return node;
  }

  paths(): string[] {
    return this.seen.map(({ method, path }) => `${method} ${path}`);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const text = await request.text();
    this.seen.push({
      method: request.method,
      path: pathname,
      body: text ? JSON.parse(text) : undefined,
      authorization: request.headers.get("authorization"),
    });
    const instead = this.instead.get(`${request.method} ${pathname}`);
    if (instead) return await instead(request);
    const token = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? searchParams.get("token");
    if (request.headers.get("upgrade") === "websocket") return this.#console(request, pathname, token);
    if (pathname === "/v3/version") return json({ version: this.version });
    if (!["alice", "nobody", "looker"].includes(token ?? "")) {
      return refuse(401, "unauthorized", "Could not validate credentials");
    }
    if (pathname === "/v3/access/users/me") {
      return json({
        user_id: `id-of-${token}`,
        username: token,
        is_superadmin: false,
        email: "x@example.com",
      });
    }
    if (token === "nobody") {
      return refuse(403, "forbidden", "Permission denied (privilege Project.Audit is required)");
    }
    return this.#lab(request.method, pathname.split("/").slice(2), text ? JSON.parse(text) : {});
  }

  #lab(method: string, path: string[], body: Record<string, unknown>): Response {
    if (path[0] === "templates") return json(TEMPLATES);
    if (path[0] === "computes") return json([{ compute_id: "far", name: "far", host: "192.0.2.7" }]);
    const [, projectId, kind, id, action] = path;
    if (projectId !== PROJECT_ID && projectId !== CLOSED_ID) {
      return refuse(404, "project_not_found", `Project ID ${projectId} doesn't exist`, {
        project_id: projectId,
      });
    }
    if (!kind) {
      const status = projectId === CLOSED_ID ? "closed" : "opened";
      return json({ project_id: projectId, name: "lab", path: `/lab/projects/${projectId}`, status });
    }
    if (kind === "templates") return this.#create(id!, body);
    if (kind === "links") return method === "GET" ? json(this.links) : this.#link(body);
    if (!id) return json(this.nodes);
    const node = this.nodes.find((one) => one.node_id === id);
    if (!node) return refuse(404, "node_not_found", `Node ID ${id} doesn't exist`);
    if (method === "PUT") return this.#rename(node, String(body.name));
    if (action) return this.#act(node, action);
    return json(node);
  }

  #create(templateId: string, body: Record<string, unknown>): Response {
    const template = TEMPLATES.find((one) => one.template_id === templateId);
    if (!template) return refuse(404, "not_found", `Template '${templateId}' not found`);
    if (!template.compute_id && !body.compute_id) return refuse(409, "conflict", "Compute is missing");
    const given = this.version.startsWith("3.0") ? undefined : body.name as string | undefined;
    const name = given && !this.#taken(given) ? given.replaceAll(" ", "") : this.#numbered();
    const more = { node_type: template.template_type, template_id: templateId };
    return json(this.add(name, { x: Number(body.x), y: Number(body.y), ...more }), 201);
  }

  #taken = (name: string) => this.nodes.some((node) => node.name === name);

  #numbered(): string {
    let number = 1;
    while (this.#taken(`PC${number}`)) number++;
    return `PC${number}`;
  }

  #rename(node: FakeNode, name: string): Response {
    if (node.status === "started") {
      return refuse(409, "conflict", "Sorry, it is not possible to rename a node that is already powered on");
    }
    node.name = this.#taken(name) ? this.#numbered() : name.replaceAll(" ", "");
    return json(node);
  }

  #act(node: FakeNode, action: string): Response {
    const old = this.version.startsWith("3.0");
    if (action === "suspend" && node.node_type === "vpcs") {
      return old ? new Response(null, { status: 204 }) : refuse(
        405,
        "method_not_allowed",
        `HTTP error 405 received from compute 'lab' for request POST /projects/${PROJECT_ID}/vpcs/nodes/` +
          `${node.node_id}/suspend: Suspend is not supported for VPCS nodes`,
      );
    }
    node.status =
      ({ start: "started", stop: "stopped", suspend: "suspended" } as Record<string, string>)[action]!;
    return old ? new Response(null, { status: 204 }) : json(node);
  }

  #link(body: Record<string, unknown>): Response {
    const ends = body.nodes as { node_id: string; adapter_number: number; port_number: number }[];
    const link = {
      link_id: `link-${this.links.length + 1}`,
      nodes: ends,
      suspend: false,
      capturing: false,
      filters: {},
    };
    this.links.push(link);
    return json(link, 201);
  }

  // As GNS3 does: a bad token gets a text frame and 1008, a caller without the right is dropped without a close frame.
  #console(request: Request, path: string, token: string | null): Response {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.binaryType = "arraybuffer";
    const node = this.nodes.find((one) => path.includes(one.node_id));
    if (token === "looker" || token === "alice" && node && !this.consoles.has(node.node_id)) {
      // No way to drop a TCP connection here; a close without status is what the client sees as not clean enough.
      socket.onopen = () => socket.close(token === "looker" ? 4403 : 1000);
      return response;
    }
    if (token !== "alice" || !node) {
      socket.onopen = () => {
        socket.send('{"action": "log.error", "event": {"message": "Could not authenticate"}}');
        socket.close(1008);
      };
      return response;
    }
    this.consoles.get(node.node_id)!.serveWebSocket(socket, this.version.startsWith("3.0"));
    return response;
  }
}

const TEMPLATES: {
  template_id: string;
  name: string;
  template_type: string;
  category: string;
  compute_id: string | null;
  builtin: boolean;
  tags?: string[];
}[] = [
  {
    template_id: VPCS_TEMPLATE,
    name: "VPCS",
    template_type: "vpcs",
    category: "guest",
    compute_id: null,
    builtin: true,
    tags: ["device_type:gns3_vpcs_telnet"],
  },
  {
    template_id: "92a43283-9c7e-5a68-9695-1f05a2e8dd05",
    name: "Ethernet switch",
    template_type: "ethernet_switch",
    category: "switch",
    compute_id: null,
    builtin: true,
  },
];
