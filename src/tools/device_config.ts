// The tool that configures devices.
import { z } from "zod";
import { judge } from "../devices/judge.ts";
import { PLATFORMS } from "../devices/platforms/mod.ts";
import { secretMask } from "../devices/secrets.ts";
import { unitsOf } from "../devices/units.ts";
import { deviceName, deviceOutcome, onEachDevice } from "./devices.ts";
import { defineTool } from "./tool.ts";

const device = z.object({
  device_name: deviceName,
  config_commands: z.array(z.string().max(10_000)).min(1).max(500).describe(
    'configuration lines in order, as "interface Gi0/1", "ip address 10.0.0.1 255.255.255.0", "no shutdown"',
  ),
});

export const deviceConfigCommands = defineTool({
  name: "execute_multiple_device_config_commands",
  description:
    "Configures devices on their consoles, several at once: enters and leaves configuration mode by itself, commits " +
    "where the device needs it, and stops at the first line that a device does not take. The startup configuration is " +
    'written only when a line says so ("write memory", "save"). On Linux the lines are shell commands.',
  input: z.object({ device_configs: z.array(device).min(1).max(100) }),
  // The kind of device is not known yet: what would take something away on any of them counts.
  risk: ({ device_configs }) =>
    device_configs.some(({ config_commands }) => config_commands.some(destroys)) ? "destroy" : "change",
  modes: ["lab_automation_assistant", "troubleshooting_injection"],
  run({ device_configs }, context) {
    const { consoles, project, signal } = context;
    const mask = secretMask();
    return onEachDevice(device_configs, context, async ({ config_commands }, { node, platform }) => {
      const result = await consoles.configure(project.project_id, node, config_commands, signal);
      const units = unitsOf(platform, config_commands);
      const outcome = deviceOutcome(node.name, units.map(({ text }) => text), result, mask);
      // What was not run because of another line is not the reason.
      const at = result.results.findIndex(({ failed }) => failed && !failed.startsWith("Not run:"));
      if (at < 0 || result.error) return outcome;
      const { input, failed } = result.results[at]!;
      const line = units[at] ? `Line ${units[at].line}` : "The commit";
      return { ...outcome, error: `${line} ("${input.split("\n")[0]}"): ${mask(failed!)}` };
    });
  },
});

function destroys(line: string): boolean {
  return line.split("\n").some((one) =>
    PLATFORMS.some((platform) => judge(platform, one.trim()).kind === "destroy")
  );
}
