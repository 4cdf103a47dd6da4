// Tools that start, stop and list packet captures of links.
import { z } from "zod";
import { COPILOT_MODES, type CopilotMode } from "../domain/model_config.ts";
import type { Link, Node } from "../domain/project.ts";
import type { DataLinkType } from "../gns3/captures.ts";
import { DATA_LINK_TYPES } from "../gns3/captures.ts";
import { describeLink } from "../gns3/topology.ts";
import { findLink, LINK_HINT } from "./link_names.ts";
import { defineTool, type ToolContext } from "./tool.ts";

const MODES: CopilotMode[] = ["lab_automation_assistant", "troubleshooting_injection"];
const link_id = z.string().min(1).describe(LINK_HINT);

export const startCapture = defineTool({
  name: "start_gns3_capture",
  description:
    "Starts a packet capture on a link; one of its nodes must be running. Then make the traffic that is of interest, " +
    "and read it with packet_analysis. A new capture replaces the file of the link's last one.",
  input: z.object({
    link_id,
    data_link_type: z.enum(DATA_LINK_TYPES).optional().describe(
      "left out: Ethernet, or Cisco HDLC on a serial link; give it for a serial link with PPP or Frame Relay",
    ),
  }),
  risk: "change",
  modes: MODES,
  restorePoint: false,
  async run({ link_id, data_link_type }, context) {
    const { gns3, project: { project_id }, signal } = context;
    const { link, nodes } = await find(link_id, context);
    if (link.capturing) return { ...view(link, nodes), note: "It was already capturing; nothing was done." };
    const started = await gns3.captures.start(
      project_id,
      link.link_id,
      data_link_type ?? usualType(link, nodes),
      signal,
    );
    return view(started, nodes);
  },
});

export const stopCapture = defineTool({
  name: "stop_gns3_capture",
  description: "Stops the packet capture of a link. Its file stays and can be read with packet_analysis.",
  input: z.object({ link_id }),
  risk: "change",
  modes: MODES,
  restorePoint: false,
  async run({ link_id }, context) {
    const { link, nodes } = await find(link_id, context);
    if (!link.capturing) return { ...view(link, nodes), note: "It was not capturing; nothing was done." };
    await context.gns3.captures.stop(context.project.project_id, link.link_id, context.signal);
    return { ...view(link, nodes), capturing: false };
  },
});

export const listCaptures = defineTool({
  name: "list_gns3_captures",
  description:
    "Lists the packet captures of the lab: those that run, and those that ended since the project was opened.",
  input: z.object({ link_id: link_id.optional() }),
  risk: "read",
  modes: COPILOT_MODES,
  async run({ link_id }, { gns3, project: { project_id }, signal }) {
    const { nodes, links } = await gns3.topology(project_id, signal);
    const wanted = link_id === undefined ? links : [findLink(link_id, links, nodes)];
    const captures = wanted.filter((link) => link.capturing || link.capture).map((link) => view(link, nodes));
    if (captures.length) return { captures };
    return { captures, note: "There is none. start_gns3_capture starts one, where the mode has it." };
  },
});

async function find(reference: string, { gns3, project, signal }: ToolContext) {
  const { nodes, links } = await gns3.topology(project.project_id, signal);
  return { link: findLink(reference, links, nodes), nodes };
}

function view(link: Link, nodes: Node[]) {
  return {
    link_id: link.link_id,
    link: describeLink(link, nodes),
    capturing: link.capturing,
    ...(link.capture ? { file: link.capture.file_name } : {}),
  };
}

function usualType(link: Link, nodes: Node[]): DataLinkType {
  const serial = link.nodes.some((end) =>
    nodes.find(({ node_id }) => node_id === end.node_id)?.ports.some((port) =>
      port.adapter_number === end.adapter_number && port.port_number === end.port_number &&
      port.link_type === "serial"
    )
  );
  return serial ? "DLT_C_HDLC" : "DLT_EN10MB";
}
