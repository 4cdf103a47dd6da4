// Tools that make, list and restore snapshots of the project.
import { z } from "zod";
import { AppError } from "../domain/error.ts";
import type { CopilotMode } from "../domain/model_config.ts";
import type { Snapshot } from "../domain/project.ts";
import { listed } from "./names.ts";
import { ALWAYS_ON } from "./nodes.ts";
import { defineTool, type ToolContext } from "./tool.ts";

const LAB: CopilotMode[] = ["lab_automation_assistant"];

/** GNS3 makes a file name of it and asks no questions. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,79}$/u;

export const createSnapshot = defineTool({
  name: "create_gns3_snapshot",
  description:
    "Makes a snapshot of the whole project, to which restore_gns3_snapshot returns. GNS3 makes one only while all " +
    "nodes are stopped.",
  input: z.object({
    name: z.string().trim().regex(
      NAME,
      "must be 1-80 letters, digits, spaces, . _ or -, and not begin with a sign",
    )
      .describe("a name that no other snapshot of the project has"),
  }),
  risk: "change",
  modes: LAB,
  restorePoint: false,
  async run({ name }, context) {
    const { gns3, project: { project_id }, signal } = context;
    const all = await gns3.snapshots.list(project_id, signal);
    if (all.some((one) => sameName(one.name, name))) {
      throw new AppError("conflict", `There is a snapshot "${name}" already. ${names(all)}`);
    }
    return view(await makeSnapshot(name, context));
  },
});

export const listSnapshots = defineTool({
  name: "list_gns3_snapshots",
  description: "Lists the snapshots of the project, oldest first.",
  input: z.object({}),
  risk: "read",
  modes: [...LAB, "troubleshooting_injection"],
  async run(_args, { gns3, project: { project_id }, signal }) {
    return { snapshots: (await gns3.snapshots.list(project_id, signal)).map(view) };
  },
});

export const restoreSnapshot = defineTool({
  name: "restore_gns3_snapshot",
  description:
    "Puts the whole project back to a snapshot: nodes, links, drawings and what is on disks. Everything made since is " +
    "gone, packet captures too, and all nodes are stopped. Chats stay. Call it alone, not beside other tools.",
  input: z.object({
    name: z.string().trim().min(1).describe("the snapshot's name, as list_gns3_snapshots shows it"),
  }),
  risk: "destroy",
  modes: LAB,
  async run({ name }, context) {
    const { gns3, project: { project_id }, signal, keepConversations } = context;
    const snapshot = find(name, await gns3.snapshots.list(project_id, signal));
    const restore = () => gns3.snapshots.restore(project_id, snapshot.snapshot_id);
    await (keepConversations ? keepConversations(restore) : restore());
    const { nodes, links } = await gns3.topology(project_id, signal);
    return {
      restored: view(snapshot),
      nodes: nodes.map((node) => `${node.name} (${node.status})`),
      links: links.length,
      note: "Ids may be new: read the topology before you use any. Nodes that shall run must be started.",
    };
  },
});

/** Makes a snapshot. Where nodes run, the failure names them: GNS3 only says that the project must be stopped. */
export async function makeSnapshot(
  name: string,
  { gns3, project: { project_id }, signal }: Pick<ToolContext, "gns3" | "project" | "signal">,
): Promise<Snapshot> {
  try {
    return await gns3.snapshots.create(project_id, name, signal);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "conflict") throw error;
    const running = (await gns3.nodes(project_id, signal)).filter((node) =>
      node.status !== "stopped" && !ALWAYS_ON.has(node.node_type)
    );
    if (running.length === 0) throw error;
    throw new AppError(
      "conflict",
      `GNS3 says: ${error.message}. ${listed("Running", running.map((node) => node.name))}`,
    );
  }
}

function find(reference: string, all: Snapshot[]): Snapshot {
  const found = all.find((one) => one.name === reference || one.snapshot_id === reference) ??
    all.find((one) => sameName(one.name, reference));
  if (found) return found;
  throw new AppError("not_found", `There is no snapshot "${reference.slice(0, 100)}". ${names(all)}`);
}

const sameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
const names = (all: Snapshot[]) => listed("Snapshots", all.map(({ name }) => name));
const view = ({ name, created_at }: Snapshot) => ({ name, created_at });
