// The tool that types commands on VPCS consoles.
import { z } from "zod";
import type { CallerConsoles, DeviceResult } from "../devices/consoles.ts";
import type { CommandResult } from "../devices/output.ts";
import { judge } from "../devices/platform.ts";
import { vpcs } from "../devices/platforms/vpcs.ts";
import { AppError } from "../domain/error.ts";
import { COPILOT_MODES } from "../domain/model_config.ts";
import type { Node } from "../domain/project.ts";
import { findNode } from "./names.ts";
import { forEach } from "./results.ts";
import { defineTool } from "./tool.ts";

const device = z.object({
  device_name: z.string().min(1).describe("the node's name"),
  commands: z.array(z.string().max(1_000)).min(1).max(50).describe(
    'one command each, as "show ip", "ping 10.0.0.2", "ip 10.0.0.1/24 10.0.0.254", "save"',
  ),
});

export const vpcsCommands = defineTool({
  name: "execute_vpcs_commands",
  description:
    "Runs commands on the consoles of VPCS nodes, several devices at once, and returns what they print. " +
    "show, ping, trace, arp and version only read or test; ip, set, save, clear, load and relay change the device. " +
    "A command that does not end (ping -t) is stopped.",
  input: z.object({ device_configs: z.array(device).min(1).max(100) }),
  // What the platform refuses never reaches the device: it gets its own answer and is no change.
  risk: ({ device_configs }) =>
    device_configs.some(({ commands }) => commands.some((one) => judge(vpcs, one).kind === "change"))
      ? "change"
      : "read",
  modes: COPILOT_MODES,
  async run({ device_configs }, context) {
    const { gns3, consoles, project, signal } = context;
    const nodes = await consoles.inOrder(() => gns3.nodes(project.project_id, signal));
    const label = (one: z.infer<typeof device>) => ({ device_name: one.device_name });
    // How many consoles really work at once is bounded where they are; here nothing waits for its neighbour.
    const options = { parallel: device_configs.length, signal, label };
    return await forEach(device_configs, options, async ({ device_name, commands }) => {
      const node = findNode(device_name, nodes);
      // Another platform would judge the commands by other rules than those that gave this call its risk.
      if (!isVpcs(node, consoles)) {
        throw new AppError("validation_error", `${node.name} is not a VPCS node but ${node.node_type}.`);
      }
      const result = await consoles.run(project.project_id, node, commands, signal);
      return onDevice(node.name, commands, result);
    });
  },
});

function isVpcs(node: Node, consoles: CallerConsoles): boolean {
  try {
    return consoles.platform(node) === vpcs;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

function onDevice(name: string, commands: string[], { results, notes, error }: DeviceResult) {
  if (error && results.length === 0) throw error;
  const said = results.map(outcome);
  for (const command of commands.slice(results.length)) {
    said.push({
      command,
      status: "error",
      error: `Not run: ${error?.message ?? "the call ended before it."}`,
    });
  }
  const good = said.filter(({ status }) => status === "success").length;
  return {
    device_name: name,
    status: good === said.length ? "success" : good === 0 ? "error" : "partial",
    commands: said,
    ...(notes.length ? { notes } : {}),
    ...(error ? { error: error.message, code: error.code } : {}),
  };
}

function outcome({ input, output, failed, notSent, elapsedMs }: CommandResult): Record<string, unknown> {
  return {
    command: input,
    status: failed ? "error" : "success",
    ...(notSent ? {} : { output, seconds: Math.round(elapsedMs / 100) / 10 }),
    ...(failed ? { error: failed } : {}),
  };
}
