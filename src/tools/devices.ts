// What the tools that type on consoles have in common: finding the devices, and saying what came of each command.
import { z } from "zod";
import type { DeviceResult } from "../devices/consoles.ts";
import type { CommandResult } from "../devices/output.ts";
import type { Platform } from "../devices/platform.ts";
import { secretMask } from "../devices/secrets.ts";
import { AppError } from "../domain/error.ts";
import type { Node } from "../domain/project.ts";
import { findNode } from "./names.ts";
import { forEach, type Report } from "./results.ts";
import type { ToolContext } from "./tool.ts";

export const deviceName = z.string().min(1).describe("the node's name");

/** A device that was found; `platform` tells which rules its commands are judged by. */
export interface Target {
  node: Node;
  platform: Platform;
}

type Named = { device_name: string };

/**
 * Does `work` for each entry on its device, all at once: how many consoles really work at a time is bounded where they
 * are. A name that does not fit, or a device of unknown kind, is that entry's outcome. Throws what looking up throws.
 */
export async function onEachDevice<T extends Named>(
  entries: T[],
  context: ToolContext,
  work: (entry: T, target: Target) => Promise<Record<string, unknown>>,
): Promise<Report> {
  const { consoles, gns3, project, signal } = context;
  // Names and kinds in the order of calls, so that what follows reaches the consoles in that order too.
  const targets = await consoles.inOrder(async () => {
    const nodes = await gns3.nodes(project.project_id, signal);
    return await Promise.all(entries.map(({ device_name }) => find(device_name, nodes, context)));
  });
  const label = ({ device_name }: Named) => ({ device_name });
  const indexed = entries.map((entry, i) => ({ ...entry, target: targets[i]! }));
  return await forEach(indexed, { parallel: indexed.length, signal, label }, async (entry) => {
    if (entry.target instanceof AppError) throw entry.target;
    return await work(entry, entry.target);
  });
}

async function find(
  name: string,
  nodes: Node[],
  { consoles, signal }: ToolContext,
): Promise<Target | AppError> {
  try {
    const node = findNode(name, nodes);
    return { node, platform: await consoles.platform(node, signal) };
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** One device's outcome: each command with its own; those that were never reached say why. */
export function deviceOutcome(
  name: string,
  commands: string[],
  { results, notes, error }: DeviceResult,
  mask = secretMask(),
): Record<string, unknown> {
  if (error && results.length === 0) throw error;
  const said = results.map((result) => commandOutcome(result, mask));
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

function commandOutcome(
  { input, output, failed, note, notSent, elapsedMs }: CommandResult,
  mask: (text: string) => string,
): Record<string, unknown> {
  return {
    command: input,
    status: failed ? "error" : "success",
    ...(notSent ? {} : { output: mask(output), seconds: Math.round(elapsedMs / 100) / 10 }),
    ...(failed ? { error: mask(failed) } : {}),
    ...(note ? { note } : {}),
  };
}
