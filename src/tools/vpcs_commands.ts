// The tool that types commands on VPCS consoles.
import { z } from "zod";
import { judge } from "../devices/judge.ts";
import { vpcs } from "../devices/platforms/vpcs.ts";
import { AppError } from "../domain/error.ts";
import { COPILOT_MODES } from "../domain/model_config.ts";
import { deviceName, deviceOutcome, onEachDevice } from "./devices.ts";
import { defineTool } from "./tool.ts";

const device = z.object({
  device_name: deviceName,
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
  run({ device_configs }, context) {
    const { consoles, project, signal } = context;
    return onEachDevice(device_configs, context, async ({ commands }, { node, platform }) => {
      // Another platform would judge the commands by other rules than those that gave this call its risk.
      if (platform !== vpcs) {
        throw new AppError("validation_error", `${node.name} is not a VPCS node but ${node.node_type}.`);
      }
      return deviceOutcome(
        node.name,
        commands,
        await consoles.run(project.project_id, node, commands, signal),
      );
    });
  },
});
