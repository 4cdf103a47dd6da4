// Finds the commands of a call that the administrator does not want on any device.
import type { SkillSet } from "../knowledge/skill_set.ts";

/**
 * Why a call may not run, as the model is told it; undefined when nothing is against it. Every tool that types on devices
 * takes `device_configs`, whose lists hold the commands. Lines that a shell would cut into several commands are cut here.
 */
export function forbiddenIn(args: Record<string, unknown>, skills: SkillSet): string | undefined {
  if (skills.forbiddenCommands.length === 0) return undefined;
  const found: string[] = [];
  for (const command of commandsOf(args.device_configs)) {
    const why = command.split(/[\n\r;&|]+/).map((part) => skills.forbidden(part.trim())).find((one) => one);
    if (why) found.push(`"${command.slice(0, 100)}": ${why}`);
  }
  if (found.length === 0) return undefined;
  const shown = found.slice(0, 10).join("; ");
  return `not done: ${shown}. Nothing of this call was run; send it again without ${
    found.length > 1 ? "them" : "it"
  }.`;
}

function commandsOf(configs: unknown): string[] {
  if (!Array.isArray(configs)) return [];
  return configs.flatMap((config) => Object.values(config ?? {}))
    .flatMap((value) => Array.isArray(value) ? value : []).filter((one) => typeof one === "string");
}
