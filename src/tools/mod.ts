// Every tool there is, and which of them a turn has.
import type { CopilotMode } from "../domain/model_config.ts";
import { listCaptures, startCapture, stopCapture } from "./captures.ts";
import { compareDeviceConfig } from "./compare_config.ts";
import { deleteLinks, deleteNodes } from "./delete.ts";
import { deviceCommands } from "./device_commands.ts";
import { deviceConfigCommands } from "./device_config.ts";
import { ellipseDrawing, rectangleDrawing, textDrawing } from "./drawings.ts";
import { templates, topologyReader } from "./lab.ts";
import { injectionSkills } from "./injection_skills.ts";
import { createLinks } from "./links.ts";
import { createNodes, renameNodes } from "./nodes.ts";
import { packetAnalysis } from "./packet_analysis.ts";
import { packetFilter } from "./packet_filter.ts";
import { startNodes, stopNodes, suspendNodes } from "./power.ts";
import { deviceSkills, packetAnalysisSkills } from "./skills.ts";
import { createSnapshot, listSnapshots, restoreSnapshot } from "./snapshots.ts";
import type { Tool } from "./tool.ts";
import { vpcsCommands } from "./vpcs_commands.ts";
import { waitSeconds } from "./wait.ts";

export const TOOLS: readonly Tool[] = [
  topologyReader,
  templates,
  createNodes,
  createLinks,
  startNodes,
  stopNodes,
  suspendNodes,
  renameNodes,
  textDrawing,
  rectangleDrawing,
  ellipseDrawing,
  deleteNodes,
  deleteLinks,
  createSnapshot,
  restoreSnapshot,
  listSnapshots,
  packetFilter,
  startCapture,
  stopCapture,
  listCaptures,
  packetAnalysis,
  waitSeconds,
  deviceCommands,
  deviceConfigCommands,
  compareDeviceConfig,
  vpcsCommands,
  packetAnalysisSkills,
  deviceSkills,
  injectionSkills,
];

/** What teaching mode may do besides reading where `--teaching-can-build` is on. */
const TEACHING_BUILDS = new Set([
  "create_gns3_node",
  "create_gns3_link",
  "create_gns3_text_drawing",
  "create_gns3_rectangle_drawing",
  "create_gns3_ellipse_drawing",
  "start_gns3_node",
  "update_gns3_node_name",
]);

/** Whether a tool only adds to the lab, starts or renames: what `--teaching-can-build` lets teaching mode do. */
export function buildsInTeaching(tool: Tool): boolean {
  return TEACHING_BUILDS.has(tool.name);
}

/** The tools of a mode; every other name is unknown to the turn, whatever the model says. */
export function toolsFor(mode: CopilotMode, teachingCanBuild = false): Tool[] {
  const builds = teachingCanBuild && mode === "teaching_assistant";
  return TOOLS.filter((tool) => tool.modes.includes(mode) || (builds && buildsInTeaching(tool)));
}
