// The tool that reads from devices: it sends nothing that is not known to be harmless on that kind of device.
import { z } from "zod";
import { secretMask } from "../devices/secrets.ts";
import { COPILOT_MODES } from "../domain/model_config.ts";
import { deviceName, deviceOutcome, onEachDevice } from "./devices.ts";
import { defineTool } from "./tool.ts";

const device = z.object({
  device_name: deviceName,
  commands: z.array(z.string().max(2_000)).min(1).max(50).describe(
    'one reading command each, as "show ip interface brief", "display ip routing-table", "ping 10.0.0.2", "ip route"',
  ),
});

export const deviceCommands = defineTool({
  name: "execute_multiple_device_commands",
  description:
    "Runs commands that only read or test (show, display, ping, traceroute, and on Linux ip, ss, ping, cat of known " +
    "files) on the consoles of routers, switches, hosts and VPCS, several devices at once, and returns what they print. " +
    "Shortened commands and filters such as | include are fine; anything that would change a device is refused.",
  input: z.object({ device_configs: z.array(device).min(1).max(100) }),
  risk: "read",
  modes: COPILOT_MODES,
  run({ device_configs }, context) {
    const { consoles, project, signal } = context;
    const mask = secretMask();
    return onEachDevice(device_configs, context, async ({ commands }, { node }) => {
      const result = await consoles.run(project.project_id, node, commands, signal, "reading");
      return deviceOutcome(node.name, commands, result, mask);
    });
  },
});
