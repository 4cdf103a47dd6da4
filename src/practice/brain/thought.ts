// What the practice model decides to say or do next.
import type { Call } from "../model_script.ts";
import type { CommandOutput, SeenCall } from "./evidence.ts";
import type { LabView } from "./lab_view.ts";

export interface Thought {
  text: string;
  calls: Call[];
}

/** What a plan has to go by. `seen` is empty before the first tool call. */
export interface Situation {
  question: string;
  /** Names of the tools that this request offers. */
  tools: Set<string>;
  seen: SeenCall[];
  lab: LabView | null;
  outputs: Map<string, CommandOutput[]>;
}

export const LABEL = "[practice model]";
export const VPCS_TOOL = "execute_vpcs_commands";
export const ROUTER_TOOL = "execute_multiple_device_commands";

/** A final answer, labelled. */
export function say(...lines: string[]): Thought {
  return { text: `${LABEL} ${lines.filter(Boolean).join("\n")}`, calls: [] };
}

/** Tool calls with a word about why. */
export function use(why: string, ...calls: Call[]): Thought {
  return { text: why ? `${LABEL} ${why}` : "", calls };
}

/** One call of a console tool. */
export function onDevices(tool: string, commands: Record<string, string[]>): Call {
  const device_configs = Object.entries(commands).map(([device_name, list]) => ({
    device_name,
    commands: list,
  }));
  return { name: tool, args: { device_configs } };
}

/** True when this tool was already used for this question. */
export function tried(situation: Situation, tool: string): boolean {
  return situation.seen.some((call) => call.name === tool);
}

/** True when the command was already sent to the device, or tried in vain. */
export function asked({ seen }: Situation, device: string, command: RegExp): boolean {
  return seen.some(({ args }) => {
    const configs = args.device_configs;
    return Array.isArray(configs) &&
      configs.some((one: { device_name?: string; commands?: string[] }) =>
        one.device_name === device && (one.commands ?? []).some((text) => command.test(text))
      );
  });
}

export function bullets(lines: string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}
