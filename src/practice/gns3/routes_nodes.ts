// Routes of nodes: create, change, power, files.
import { type Context, Hono } from "hono";
import { z } from "zod";
import type { Power } from "../device.ts";
import { restart, setPower } from "../power.ts";
import { conflict, Gns3Error, invalid } from "./error.ts";
import { addNode, filesOf, readFile, removeNode, renameNode, writeFile } from "./nodes.ts";
import { linkJson, nodeJson } from "./render.ts";
import { bodyOf, coordinates, type Env, idOf, openedProjectFor, projectFor } from "./request.ts";
import { type LabNode, type LabProject, nodeOf, publish, type ServerState } from "./state.ts";
import { stampOf } from "./users.ts";

const place = { x: z.int().optional(), y: z.int().optional(), z: z.int().optional() };
const properties = z.looseObject({ startup_script: z.string().nullish() });

const newNode = z.object({
  name: z.string().min(1),
  node_type: z.string(),
  node_id: z.uuid().optional(),
  compute_id: z.string().optional(),
  symbol: z.string().optional(),
  label: z.record(z.string(), z.unknown()).optional(),
  tags: z.array(z.string()).optional(),
  properties: properties.optional(),
  ...place,
});

const changes = z.object({
  name: z.string().min(1).optional(),
  symbol: z.string().optional(),
  locked: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
  label: z.record(z.string(), z.unknown()).optional(),
  netmiko_device_type: z.string().nullish(),
  default_username: z.string().nullish(),
  default_password: z.string().nullish(),
  properties: properties.optional(),
  ...place,
});

const fromTemplate = coordinates.extend({ name: z.string().nullish(), compute_id: z.string().nullish() });

const KINDS = ["vpcs", "dynamips", "ethernet_switch"] as const;

export function nodeRoutes(state: ServerState): Hono<Env> {
  const app = new Hono<Env>();
  const at = "/v3/projects/:project_id/nodes";
  const answer = (project: LabProject, node: LabNode) => nodeJson(state, project, node);
  const find = (c: Context<Env>, project: LabProject) => nodeOf(project, idOf(c, "node_id"));

  app.get(at, (c) => {
    const project = projectFor(state, c, "Node.Audit");
    return c.json([...project.nodes.values()].map((node) => answer(project, node)));
  });
  app.post(at, async (c) => {
    const project = openedProjectFor(state, c, "Node.Allocate");
    const wanted = await bodyOf(c, newNode);
    const nodeType = KINDS.find((kind) => kind === wanted.node_type);
    if (!nodeType) throw conflict(`The practice lab cannot simulate nodes of type '${wanted.node_type}'`);
    const node = addNode(state, project, {
      nodeId: wanted.node_id,
      name: wanted.name,
      nodeType,
      template: null,
      x: wanted.x ?? 0,
      y: wanted.y ?? 0,
      z: wanted.z,
      symbol: wanted.symbol,
      label: wanted.label,
      tags: wanted.tags ?? [],
      startup: wanted.properties?.startup_script ?? undefined,
    });
    return c.json(answer(project, node), 201);
  });
  app.post("/v3/projects/:project_id/templates/:template_id", async (c) => {
    const project = openedProjectFor(state, c, "Node.Allocate");
    const id = idOf(c, "template_id");
    const { x, y, name } = await bodyOf(c, fromTemplate);
    const template = state.templates.find((one) => one.id === id);
    if (!template) throw new Gns3Error(404, `Template '${id}' not found`, "not_found");
    // 3.0 does not look at the name.
    const given = state.version === "3.0.6" ? null : name;
    const node = addNode(state, project, {
      name: given ?? template.nameFormat,
      nodeType: template.type,
      template,
      x,
      y,
    });
    return c.json(answer(project, node), 201);
  });
  for (const [action, change] of Object.entries(ACTIONS)) {
    app.post(`${at}/${action}`, (c) => {
      const project = openedProjectFor(state, c, "Node.PowerMgmt");
      for (const node of project.nodes.values()) {
        if (node.nodeType === "dynamips" || action !== "suspend") change(project, node);
      }
      return c.body(null, 204);
    });
    app.post(`${at}/:node_id/${action}`, async (c) => {
      const project = openedProjectFor(state, c, "Node.PowerMgmt");
      const node = find(c, project);
      if (state.version === "3.0.6" && action === "start" && await c.req.text() === "") {
        throw invalid(["body"], "Field required", "missing", null);
      }
      act(state, project, node, action, change);
      return state.version === "3.0.6" ? c.body(null, 204) : c.json(answer(project, node));
    });
  }
  app.get(`${at}/:node_id`, (c) => {
    const project = projectFor(state, c, "Node.Audit");
    return c.json(answer(project, find(c, project)));
  });
  app.put(`${at}/:node_id`, async (c) => {
    const project = openedProjectFor(state, c, "Node.Modify");
    const node = find(c, project);
    applyChanges(state, project, node, await bodyOf(c, changes));
    publish(state, project.projectId, "node.updated", answer(project, node));
    return c.json(answer(project, node));
  });
  app.delete(`${at}/:node_id`, (c) => {
    const project = openedProjectFor(state, c, "Node.Allocate");
    removeNode(state, project, find(c, project));
    return c.body(null, 204);
  });
  app.get(`${at}/:node_id/links`, (c) => {
    const project = projectFor(state, c, "Link.Audit");
    const { nodeId } = find(c, project);
    const own = [...project.links.values()].filter((link) =>
      project.net.cables.get(link.linkId)!.ends.some((end) => end.device === nodeId)
    );
    return c.json(own.map((link) => linkJson(state, project, link)));
  });
  app.post(`${at}/:node_id/console/reset`, (c) => {
    const project = openedProjectFor(state, c, "Node.Console");
    project.consoles.of(find(c, project).nodeId)?.dropClients();
    return c.body(null, 204);
  });
  fileRoutes(app, state, at, find);
  return app;
}

function fileRoutes(
  app: Hono<Env>,
  state: ServerState,
  at: string,
  find: (c: Context<Env>, project: LabProject) => LabNode,
): void {
  const pathOf = (c: Context<Env>) =>
    decodeURIComponent(new URL(c.req.url).pathname.split("/files/")[1] ?? "");
  const device = (project: LabProject, node: LabNode) => project.net.devices.get(node.nodeId)!;
  app.get(`${at}/:node_id/files`, (c) => {
    const project = openedProjectFor(state, c, "Node.Audit");
    const time = stampOf(state.now());
    return c.json(
      filesOf(device(project, find(c, project))).map(({ path, text }) => ({
        path,
        size: text.length,
        created_at: time,
        modified_at: time,
        file_type: "ASCII text",
      })),
    );
  });
  app.get(`${at}/:node_id/files/*`, (c) => {
    const project = openedProjectFor(state, c, "Node.Audit");
    const text = readFile(device(project, find(c, project)), pathOf(c));
    return c.body(text, 200, { "content-type": "application/octet-stream" });
  });
  app.post(`${at}/:node_id/files/*`, async (c) => {
    const project = openedProjectFor(state, c, "Node.Modify");
    writeFile(device(project, find(c, project)), pathOf(c), await c.req.text());
    return c.json(null, 201);
  });
}

type Change = (project: LabProject, node: LabNode) => void;

const switchTo = (power: Power): Change => (project, node) => setPower(project.net, node.nodeId, power);

const ACTIONS: Record<string, Change> = {
  start: switchTo("started"),
  stop: switchTo("stopped"),
  suspend: (project, node) => {
    if (project.net.devices.get(node.nodeId)?.power === "started") switchTo("suspended")(project, node);
  },
  reload: (project, node) => {
    if (project.net.devices.get(node.nodeId)?.power !== "stopped") restart(project.net, node.nodeId);
  },
};

function act(state: ServerState, project: LabProject, node: LabNode, action: string, change: Change): void {
  if (action === "suspend" && node.nodeType !== "dynamips") {
    // 3.0 answers as if it had done something.
    if (state.version === "3.0.6") return;
    const path = `/projects/${project.projectId}/${node.nodeType}/nodes/${node.nodeId}/suspend`;
    const why = node.nodeType === "vpcs" ? "Suspend is not supported for VPCS nodes" : "Method Not Allowed";
    throw new Gns3Error(
      405,
      `HTTP error 405 received from compute 'practice' for request POST ${path}: ${why}`,
      "method_not_allowed",
    );
  }
  change(project, node);
}

function applyChanges(
  state: ServerState,
  project: LabProject,
  node: LabNode,
  wanted: z.infer<typeof changes>,
): void {
  const device = project.net.devices.get(node.nodeId)!;
  if (wanted.name !== undefined && wanted.name !== device.name) renameNode(project, node, wanted.name);
  node.x = wanted.x ?? node.x;
  node.y = wanted.y ?? node.y;
  node.z = wanted.z ?? node.z;
  node.symbol = wanted.symbol ?? node.symbol;
  node.label = wanted.label ?? node.label;
  node.locked = wanted.locked ?? node.locked;
  if (state.version !== "3.0.6") {
    node.tags = wanted.tags ?? node.tags;
    if (wanted.netmiko_device_type !== undefined) node.netmikoDeviceType = wanted.netmiko_device_type;
    if (wanted.default_username !== undefined) node.username = wanted.default_username;
    if (wanted.default_password !== undefined) node.password = wanted.default_password;
  }
  const script = wanted.properties?.startup_script;
  if (device.kind === "pc" && typeof script === "string") {
    device.startup = script.replaceAll("%h", device.name);
  }
}
