// Tools that start, stop and suspend nodes.
import { z } from "zod";
import { AppError } from "../domain/error.ts";
import { sleep } from "../devices/timing.ts";
import type { CopilotMode } from "../domain/model_config.ts";
import type { Node } from "../domain/project.ts";
import { findNode } from "./names.ts";
import { forEach } from "./results.ts";
import { defineTool, type Tool, type ToolContext } from "./tool.ts";

const PARALLEL = 5;
/** A virtual PC answers within a second or two of its start, most routers within two minutes. */
const READY_MS = { pc: 10_000, router: 150_000 };
/** A key would stop a boot loader, so that a router is left alone at first. */
const BOOTING_MS = 5_000;

interface Action {
  verb: "start" | "stop" | "suspend";
  reached: Node["status"];
  description: string;
  modes: CopilotMode[];
}

const input = z.object({
  node_ids: z.array(z.string().min(1)).min(1).max(100).describe("ids or names of the nodes"),
});

function powerTool(action: Action): Tool {
  return defineTool({
    name: `${action.verb}_gns3_node`,
    description: action.description,
    input,
    risk: "change",
    modes: action.modes,
    async run({ node_ids }, context) {
      const nodes = await context.gns3.nodes(context.project.project_id, context.signal);
      const options = {
        parallel: PARALLEL,
        signal: context.signal,
        label: (id: string) => ({ node_id: id }),
      };
      const started = new Map<string, Node>();
      const report = await forEach(
        node_ids,
        options,
        (id) => act(action, findNode(id, nodes), context, started),
      );
      // All at once and after the last start: booting takes far longer than starting.
      await Promise.all(report.results.map(async (result) => {
        const node = started.get(String(result.node_id));
        if (node && !result.note) Object.assign(result, await readiness(node, context));
      }));
      return report;
    },
  });
}

/** `started` gets the nodes that were started, as they are then. */
async function act(
  action: Action,
  node: Node,
  context: ToolContext,
  started: Map<string, Node>,
): Promise<Record<string, unknown>> {
  const { gns3, signal, project: { project_id } } = context;
  const named = { node_id: node.node_id, name: node.name };
  if (node.status === action.reached) {
    return {
      ...named,
      node_status: node.status,
      note: `It was already ${action.reached}; nothing was done.`,
    };
  }
  const call = { start: gns3.startNode, stop: gns3.stopNode, suspend: gns3.suspendNode }[action.verb];
  await call.bind(gns3)(project_id, node.node_id, signal);
  // The answer to the request is not proof: some node types accept an action and do nothing.
  const after = await gns3.node(project_id, node.node_id, signal);
  if (after.status !== action.reached) {
    throw new AppError(
      "conflict",
      `GNS3 took the request, but ${node.name} is ${after.status}. A ${node.node_type} node may not support it.`,
    );
  }
  if (action.verb === "start") started.set(after.node_id, after);
  return { ...named, node_status: after.status };
}

/** Whether the console answers; a node without one, or of unknown kind, is not waited for. */
async function readiness(
  node: Node,
  { consoles, project, signal }: ToolContext,
): Promise<Record<string, string>> {
  if (!node.console_type || node.console_type === "none") return {};
  try {
    const platform = await consoles.platform(node, signal);
    const pc = platform.nodeTypes.includes("vpcs");
    if (!pc) await sleep(BOOTING_MS, signal);
    const ready = await consoles.ready(project.project_id, node, pc ? READY_MS.pc : READY_MS.router, signal);
    return ready === true ? { console: "ready" } : { console: "not ready", note: ready };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { note: `It is starting and may need minutes to boot. ${error.message}` };
  }
}

const LAB: CopilotMode[] = ["lab_automation_assistant"];

export const startNodes = powerTool({
  verb: "start",
  reached: "started",
  description:
    "Starts nodes and waits until their consoles answer, for routers up to two and a half minutes. A node whose kind " +
    "is not known is not waited for.",
  modes: LAB,
});

export const stopNodes = powerTool({
  verb: "stop",
  reached: "stopped",
  description: "Stops nodes. What was not saved on a device is lost.",
  modes: LAB,
});

export const suspendNodes = powerTool({
  verb: "suspend",
  reached: "suspended",
  description: "Suspends nodes, as far as their type supports it; start_gns3_node resumes them.",
  modes: LAB,
});
