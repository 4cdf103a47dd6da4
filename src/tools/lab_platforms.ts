// Which devices of a lab a fault can be put on.
import type { Platform } from "../devices/platform.ts";
import { AppError } from "../domain/error.ts";
import type { Issue } from "../knowledge/kinds.ts";
import type { ToolContext } from "./tool.ts";

/** The key that a fault has among its platforms when it is put on a link instead of a device. */
export const LINK = "gns3_link";

/** The lab's devices by every name that their kind has. */
export interface Lab {
  /** Device type → names of nodes, as the model is told. */
  byType: Map<string, string[]>;
  /** Every device type of each node. */
  nodes: { name: string; types: readonly string[] }[];
}

/** The lab as it is now; undefined when GNS3 could not be asked. Throws when it no longer takes the sign-in. */
export async function labOf({ gns3, consoles, project, signal }: ToolContext): Promise<Lab | undefined> {
  const lab: Lab = { byType: new Map(), nodes: [] };
  try {
    for (const node of await gns3.nodes(project.project_id, signal)) {
      const types = await typesOf(consoles.platform(node, signal));
      const first = types[0];
      if (!first) continue;
      lab.nodes.push({ name: node.name, types });
      lab.byType.set(first, [...lab.byType.get(first) ?? [], node.name].slice(0, 50));
    }
  } catch (error) {
    if (error instanceof AppError && error.code !== "unauthorized") return undefined;
    throw error;
  }
  return lab;
}

/** Names of the devices that a fault has commands for. */
export function fits({ platforms }: Issue, { nodes }: Lab): string[] {
  const names = nodes.filter(({ types }) => types.some((type) => platforms.includes(type))).map(({ name }) =>
    name
  );
  return [...names.slice(0, 30), ...(platforms.includes(LINK) && nodes.length > 1 ? ["any link"] : [])];
}

/** Switches, clouds and untagged devices are of no kind that is known. */
async function typesOf(platform: Promise<Platform>): Promise<readonly string[]> {
  try {
    return (await platform).deviceTypes;
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}
