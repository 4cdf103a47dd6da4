// Packet captures of links: a pcap file in the project's folder that fills with the frames of the simulation.
import type { Hono } from "hono";
import { z } from "zod";
import { pcapHeader, pcapPacket } from "../frames.ts";
import { conflict, Gns3Error } from "./error.ts";
import { linkJson } from "./render.ts";
import { bodyOf, type Env, idOf, openedProjectFor } from "./request.ts";
import { type Capture, type LabLink, type LabProject, linkOf, publish, type ServerState } from "./state.ts";

const options = z.object({ data_link_type: z.string().optional(), capture_file_name: z.string().nullish() });

/** The capture that runs on a link. Throws 409 when there is none. */
export function runningCapture(link: LabLink): Capture {
  if (!link.capture?.active) throw conflict("This link has no active packet capture");
  return link.capture;
}

function defaultName(project: LabProject, link: LabLink): string {
  const ends = project.net.cables.get(link.linkId)!.ends.map(({ device, socket }) => {
    const { name, sockets } = project.net.devices.get(device)!;
    return `${name}_${sockets[socket]!.adapter}-${sockets[socket]!.port}`;
  });
  return `${ends.join("_to_")}.pcap`;
}

/** Starts writing; frames are appended as they pass, synchronously, so that a reader always finds whole packets. */
async function start(
  state: ServerState,
  project: LabProject,
  link: LabLink,
  wanted: string | null,
): Promise<void> {
  if (link.capture?.active) {
    throw new Gns3Error(409, "Packet capture is already active on port 0", "compute_conflict");
  }
  const name = (wanted ?? defaultName(project, link)).replaceAll(/[^\w.-]/g, "_");
  const folder = `${project.path}/project-files/captures`;
  await Deno.mkdir(folder, { recursive: true });
  const path = `${folder}/${name}`;
  await Deno.writeFile(path, pcapHeader());
  const capture: Capture = { name, path, active: true, readers: new Set() };
  link.capture = capture;
  project.net.cables.get(link.linkId)!.tap = (frame) => {
    const packet = pcapPacket(frame, state.now());
    Deno.writeFileSync(path, packet, { append: true });
    for (const reader of capture.readers) reader.packet(packet);
  };
}

export function stopCapture(project: LabProject, link: LabLink): void {
  if (link.capture) link.capture.active = false;
  for (const reader of link.capture?.readers ?? []) reader.end();
  const cable = project.net.cables.get(link.linkId);
  if (cable) cable.tap = null;
}

/** Adds the routes under `at`, the path of a project's links. */
export function captureRoutes(app: Hono<Env>, state: ServerState, at: string): void {
  const tell = (project: LabProject, link: LabLink) =>
    publish(state, project.projectId, "link.updated", linkJson(state, project, link));
  app.post(`${at}/:link_id/capture/start`, async (c) => {
    const project = openedProjectFor(state, c, "Link.Capture");
    const link = linkOf(project, idOf(c, "link_id"));
    await start(state, project, link, (await bodyOf(c, options)).capture_file_name ?? null);
    tell(project, link);
    return c.json(linkJson(state, project, link), 201);
  });
  app.post(`${at}/:link_id/capture/stop`, (c) => {
    const project = openedProjectFor(state, c, "Link.Capture");
    const link = linkOf(project, idOf(c, "link_id"));
    stopCapture(project, link);
    tell(project, link);
    return c.body(null, 204);
  });
  app.get(`${at}/:link_id/capture/file`, async (c) => {
    const project = openedProjectFor(state, c, "Link.Capture");
    const { capture } = linkOf(project, idOf(c, "link_id"));
    if (!capture) throw new Gns3Error(404, "There is no capture file of this link", "not_found");
    return c.body(await Deno.readFile(capture.path), 200, { "content-type": "application/vnd.tcpdump.pcap" });
  });
}
