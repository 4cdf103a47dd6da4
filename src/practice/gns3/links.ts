// Links of a practice project: a cable in the simulation, with what GNS3 draws around it.
import { type Cable, cableAt, connect, disconnect, type End } from "../network.ts";
import { stopCapture } from "./captures.ts";
import { conflict, Gns3Error } from "./error.ts";
import { linkJson } from "./render.ts";
import { type LabLink, type LabProject, nodeOf, publish, type ServerState } from "./state.ts";

const LABEL_STYLE =
  "font-family: TypeWriter;font-size: 10.0;font-weight: bold;fill: #000000;fill-opacity: 1.0;";

/** The socket that GNS3's numbers mean. Throws 404 for a node or port that does not exist. */
export function endOf(
  project: LabProject,
  end: { node_id: string; adapter_number: number; port_number: number },
): End {
  nodeOf(project, end.node_id);
  const device = project.net.devices.get(end.node_id)!;
  const socket = device.sockets.findIndex((s) =>
    s.adapter === end.adapter_number && s.port === end.port_number
  );
  if (socket >= 0) return { device: device.id, socket };
  const { adapter_number, port_number } = end;
  const message = `Port ${adapter_number}/${port_number} for ${device.name} not found`;
  throw new Gns3Error(404, message, "port_not_found", { node_id: device.id, adapter_number, port_number });
}

/** Connects two sockets. Throws 409 when one is in use or both are of one node. */
export function addLink(
  state: ServerState,
  project: LabProject,
  ends: [End, End],
  labels?: (Record<string, unknown> | undefined)[],
): LabLink {
  if (ends[0].device === ends[1].device) throw conflict("Cannot connect to itself");
  for (const end of ends) refuseUsed(project, end);
  const linkId = crypto.randomUUID();
  connect(project.net, linkId, ends[0], ends[1]);
  const label = (index: 0 | 1) =>
    labels?.[index] ?? { text: portText(project, ends[index]), style: LABEL_STYLE };
  const link: LabLink = { linkId, labels: [label(0), label(1)], style: {}, capture: null };
  project.links.set(linkId, link);
  publish(state, project.projectId, "link.created", linkJson(state, project, link));
  return link;
}

function portText(project: LabProject, end: End): string {
  const socket = project.net.devices.get(end.device)!.sockets[end.socket]!;
  return `${socket.adapter}/${socket.port}`;
}

function refuseUsed(project: LabProject, end: End): void {
  const cable: Cable | undefined = cableAt(project.net, end.device, end.socket);
  if (!cable) return;
  const socket = project.net.devices.get(end.device)!.sockets[end.socket]!;
  throw new Gns3Error(409, "Port is already used", "port_in_use", {
    node_id: end.device,
    adapter_number: socket.adapter,
    port_number: socket.port,
    link_id: cable.id,
  });
}

export function removeLink(state: ServerState, project: LabProject, link: LabLink): void {
  stopCapture(project, link);
  const event = linkJson(state, project, link);
  disconnect(project.net, link.linkId);
  project.links.delete(link.linkId);
  publish(state, project.projectId, "link.deleted", event);
}
