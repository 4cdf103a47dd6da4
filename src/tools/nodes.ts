// Tools that create and rename nodes.
import { z } from "zod";
import { AppError } from "../domain/error.ts";
import type { Node } from "../domain/project.ts";
import type { Template } from "../gns3/shapes.ts";
import { findNode, listed } from "./names.ts";
import { freePosition } from "./positions.ts";
import { forEach } from "./results.ts";
import { defineTool, type ToolContext } from "./tool.ts";

const coordinate = z.int().min(-100_000).max(100_000).optional();

export const createNodes = defineTool({
  name: "create_gns3_node",
  description:
    "Creates nodes from templates (see get_gns3_templates). Leave x and y out to have a free place chosen. " +
    "New nodes are stopped and not linked.",
  input: z.object({
    nodes: z.array(z.object({
      template_id: z.string().min(1).describe("the template's id or its exact name"),
      x: coordinate,
      y: coordinate,
      name: z.string().trim().min(1).max(100).optional().describe(
        "left out: GNS3 numbers the template's name",
      ),
    })).min(1).max(50),
  }),
  risk: "change",
  modes: ["lab_automation_assistant"],
  async run({ nodes }, context) {
    const { gns3, project, signal } = context;
    const [templates, existing] = await Promise.all([
      gns3.templates(signal),
      gns3.nodes(project.project_id, signal),
    ]);
    const taken = existing.map(({ x, y }) => ({ x, y }));
    const label = ({ template_id, name }: (typeof nodes)[number]) => ({
      template_id,
      ...(name ? { name } : {}),
    });
    // One after the other: GNS3 numbers names, and every place depends on those before it.
    return await forEach(nodes, { parallel: 1, signal, label }, async (wanted) => {
      const template = findTemplate(wanted.template_id, templates);
      const free = freePosition(taken);
      const place = { x: wanted.x ?? free.x, y: wanted.y ?? free.y };
      const body = { ...place, name: wanted.name, compute_id: template.compute_id ?? "local" };
      const made = await gns3.createNodeFromTemplate(project.project_id, template.template_id, body, signal);
      taken.push({ x: made.x, y: made.y });
      const node = await named(made, wanted.name, existing, context);
      existing.push(node);
      return {
        template_id: template.template_id,
        node_id: node.node_id,
        name: node.name,
        type: node.node_type,
        x: node.x,
        y: node.y,
        ports: node.ports.slice(0, 16).map((port) => port.name),
        ...note(wanted, place, node),
      };
    });
  },
});

/** GNS3 3.0 ignores the name that it is given here: then the new node is renamed, unless the name is taken. */
async function named(
  node: Node,
  wanted: string | undefined,
  existing: Node[],
  context: ToolContext,
): Promise<Node> {
  const plain = wanted?.replaceAll(" ", "");
  if (!plain || node.name === plain || existing.some(({ name }) => name === plain)) return node;
  try {
    return await context.gns3.renameNode(context.project.project_id, node.node_id, plain, context.signal);
  } catch (error) {
    // The node exists; that its name is another one is told as a note.
    if (error instanceof AppError && error.code !== "unauthorized") return node;
    throw error;
  }
}

function findTemplate(reference: string, templates: Template[]): Template {
  const wanted = reference.trim().toLowerCase();
  const byId = templates.find(({ template_id }) => template_id.toLowerCase() === wanted);
  if (byId) return byId;
  const named = templates.filter(({ name }) => name.toLowerCase() === wanted);
  if (named.length === 1) return named[0]!;
  const names = (named.length ? named : templates).map((one) => `${one.name} (${one.template_id})`);
  const why = named.length
    ? `"${reference}" is the name of several templates.`
    : `There is no template "${reference}".`;
  throw new AppError("not_found", `${why} ${listed("Templates", names)}`);
}

/** What GNS3 did otherwise than it was asked. */
function note(wanted: { name?: string }, place: { x: number; y: number }, node: Node): { note?: string } {
  const said: string[] = [];
  if (wanted.name && wanted.name !== node.name) {
    said.push(
      `GNS3 named it "${node.name}": "${wanted.name}" is taken or holds characters that it does not keep.`,
    );
  }
  if (node.x !== place.x || node.y !== place.y) said.push(`GNS3 moved it from ${place.x}, ${place.y}.`);
  return said.length ? { note: said.join(" ") } : {};
}

/** GNS3 counts these as started from the beginning; a rename is not refused for it. */
export const ALWAYS_ON: ReadonlySet<string> = new Set([
  "ethernet_switch",
  "ethernet_hub",
  "cloud",
  "nat",
  "frame_relay_switch",
  "atm_switch",
]);

export const renameNodes = defineTool({
  name: "update_gns3_node_name",
  description:
    "Renames nodes in the lab. A node must be stopped first. The host name inside the device is another " +
    "thing and stays as it is.",
  input: z.object({
    nodes: z.array(z.object({
      node_id: z.string().min(1).describe("the node's id or name"),
      new_name: z.string().trim().min(1).max(100),
    })).min(1).max(50),
  }),
  risk: "change",
  modes: ["lab_automation_assistant"],
  async run({ nodes }, { gns3, project, signal }) {
    const existing = await gns3.nodes(project.project_id, signal);
    const label = (item: (typeof nodes)[number]) => ({ node_id: item.node_id, new_name: item.new_name });
    return await forEach(nodes, { parallel: 1, signal, label }, async ({ node_id, new_name }) => {
      const node = findNode(node_id, existing);
      const before = node.name;
      if (before === new_name) return { node_id: node.node_id, note: "It already has this name." };
      // GNS3 would not refuse a taken name but choose another one by itself.
      if (existing.some(({ name }) => name === new_name)) {
        throw new AppError(
          "conflict",
          `The name "${new_name}" is taken; ${freeName(new_name, existing)} is free.`,
        );
      }
      if (node.status === "started" && !ALWAYS_ON.has(node.node_type)) {
        throw new AppError(
          "conflict",
          `${before} is running: stop it first (stop_gns3_node), then rename it.`,
        );
      }
      const { name } = await gns3.renameNode(project.project_id, node.node_id, new_name, signal);
      node.name = name;
      const changed = name === new_name
        ? []
        : [`GNS3 made it "${name}": "${new_name}" holds characters that it does not keep.`];
      return {
        node_id: node.node_id,
        old_name: before,
        new_name: name,
        note: [...changed, node.node_type === "vpcs" ? PC_NAME : HOST_NAME].join(" "),
      };
    });
  },
});

function freeName(base: string, nodes: Node[]): string {
  let number = 2;
  while (nodes.some(({ name }) => name === `${base}-${number}`)) number++;
  return `${base}-${number}`;
}

const HOST_NAME =
  "Only the name in the lab changed; the device's own host name is unchanged and must be set on it.";
// GNS3 rewrites the name in a virtual PC's startup file; what runs, or was saved elsewhere, it does not touch.
const PC_NAME =
  "Only the name in the lab changed; the PC takes it over as its own host name at its next start.";
