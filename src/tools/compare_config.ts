// The tool that shows what has changed in a device's configuration: against what it starts with, or since the last time.
import { createTwoFilesPatch } from "diff";
import { z } from "zod";
import type { Remembered } from "../devices/config_memory.ts";
import type { Configurations } from "../devices/platform.ts";
import { secretMask } from "../devices/secrets.ts";
import { AppError } from "../domain/error.ts";
import { COPILOT_MODES } from "../domain/model_config.ts";
import { onEachDevice, type Target } from "./devices.ts";
import { defineTool, type ToolContext } from "./tool.ts";

const CONTEXT_LINES = 3;

export const compareDeviceConfig = defineTool({
  name: "compare_device_config",
  description:
    "Shows as a unified diff how the running configuration of devices differs from their startup configuration, or, " +
    "where there is none, from what it was when this tool ran last in this project. Passwords and keys are masked: " +
    "the same secret has the same number.",
  input: z.object({
    device_names: z.array(z.string().min(1)).min(1).max(50).describe("the nodes' names"),
    against: z.enum(["startup", "last_time"]).optional().describe(
      "startup when left out, as far as the device has one",
    ),
  }),
  risk: "read",
  modes: COPILOT_MODES,
  run({ device_names, against = "startup" }, context) {
    const mask = secretMask();
    const entries = device_names.map((device_name) => ({ device_name }));
    return onEachDevice(entries, context, async (_, target) => {
      const found = await readConfigs(target, against, context);
      return { device_name: target.node.name, ...compared(found, target.node.name, mask) };
    });
  },
});

interface Found {
  running: string;
  before?: { what: string; text: string };
  notes: string[];
}

async function readConfigs(
  { node, platform }: Target,
  against: "startup" | "last_time",
  { consoles, project, signal, now }: ToolContext,
): Promise<Found> {
  const { configurations } = platform;
  if (!configurations) {
    throw new AppError("conflict", `A ${platform.title} has no configuration that could be compared.`);
  }
  const { running, startup } = configurations;
  const commands = [running, ...(startup && against === "startup" ? [startup] : [])];
  const { results, notes, error } = await consoles.run(project.project_id, node, commands, signal, "reading");
  const [shown, saved] = results;
  if (!shown) throw error ?? new AppError("unavailable", `${node.name} showed no configuration.`);
  if (shown.failed) throw new AppError("conflict", `${node.name}: "${running}" failed: ${shown.failed}`);
  const config = { text: configuration(shown.output, configurations), at: now() };
  const last = consoles.recall(project.project_id, node.node_id);
  consoles.remember(project.project_id, node.node_id, config);
  if (saved && !saved.failed && !configurations.none?.test(saved.output)) {
    const before = { what: "startup configuration", text: configuration(saved.output, configurations) };
    return { running: config.text, before, notes };
  }
  if (saved) notes.push("It has no startup configuration: what is running now is lost when it restarts.");
  return { running: config.text, before: lastTime(last), notes };
}

function lastTime(last: Remembered | undefined): Found["before"] {
  return last && { what: `configuration at ${new Date(last.at).toISOString()}`, text: last.text };
}

/** Without what changes by itself: times, sizes, headings. */
function configuration(output: string, { noise }: Configurations): string {
  const lines = output.split("\n").map((line) => line.trimEnd());
  const kept = lines.filter((line) => !noise.some((pattern) => pattern.test(line)));
  return `${kept.join("\n").replace(/^\n+|\n+$/g, "").replace(/\n{2,}/g, "\n")}\n`;
}

function compared({ running, before, notes }: Found, name: string, mask: (text: string) => string) {
  const said = notes.length ? { notes } : {};
  if (!before) {
    return {
      compared_with: "nothing",
      ...said,
      note: "There is nothing to compare with yet; the next call shows what has changed since now.",
    };
  }
  const [old, now] = [mask(before.text), mask(running)];
  const equal = old === now;
  const options = { context: CONTEXT_LINES };
  const patch = createTwoFilesPatch(`${name} ${before.what}`, `${name} running`, old, now, "", "", options);
  const lines = patch.split("\n");
  return {
    compared_with: before.what,
    equal,
    ...(equal ? {} : {
      added: lines.filter((line) => /^\+(?!\+\+ )/.test(line)).length,
      removed: lines.filter((line) => /^-(?!-- )/.test(line)).length,
      diff: lines.slice(1).join("\n"),
    }),
    ...said,
  };
}
