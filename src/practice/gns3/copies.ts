// Copies of a project: duplicates with new ids, and snapshots that are restored by overwriting files in place.
import type { Device } from "../device.ts";
import { addDevice, type Cable, connect, disconnect, removeDevice } from "../network.ts";
import { setPower } from "../power.ts";
import { conflict } from "./error.ts";
import { createProject, tellProject } from "./projects.ts";
import type { LabDrawing, LabLink, LabNode, LabProject, LabSnapshot, ServerState } from "./state.ts";

interface Image {
  devices: Device[];
  cables: Omit<Cable, "tap">[];
  nodes: LabNode[];
  links: LabLink[];
  drawings: LabDrawing[];
}

function imageOf(project: LabProject): Image {
  return structuredClone({
    devices: [...project.net.devices.values()],
    cables: [...project.net.cables.values()].map(({ tap: _, ...cable }) => cable),
    nodes: [...project.nodes.values()],
    links: [...project.links.values()].map((link) => ({ ...link, capture: null })),
    drawings: [...project.drawings.values()],
  });
}

/** Puts an image into a project that is empty. */
function load(project: LabProject, image: Image): void {
  const copy = structuredClone(image);
  for (const node of copy.nodes) project.nodes.set(node.nodeId, node);
  for (const device of copy.devices) addDevice(project.net, device);
  for (const link of copy.links) project.links.set(link.linkId, link);
  for (const { id, ends, suspended, filters } of copy.cables) {
    Object.assign(connect(project.net, id, ends[0], ends[1]), { suspended, filters });
  }
  for (const drawing of copy.drawings) project.drawings.set(drawing.drawing_id, drawing);
}

function empty(project: LabProject): void {
  for (const id of [...project.net.cables.keys()]) disconnect(project.net, id);
  for (const id of [...project.net.devices.keys()]) removeDevice(project.net, id);
  for (const map of [project.nodes, project.links, project.drawings]) map.clear();
}

function refuseRunning(project: LabProject): void {
  const running = [...project.net.devices.values()].some((d) => d.kind !== "switch" && d.power !== "stopped");
  if (running) throw conflict("Project must be stopped in order to export it");
}

/** All files below a folder except captures and temporary ones; paths relative to it. */
async function filesBelow(folder: string, at = ""): Promise<{ path: string; bytes: Uint8Array }[]> {
  const found: { path: string; bytes: Uint8Array }[] = [];
  for await (const entry of Deno.readDir(`${folder}/${at}`)) {
    const path = at ? `${at}/${entry.name}` : entry.name;
    if (["snapshots", "tmp", "project-files/captures"].includes(path)) continue;
    if (entry.isDirectory) found.push(...await filesBelow(folder, path));
    else if (entry.isFile) found.push({ path, bytes: await Deno.readFile(`${folder}/${path}`) });
  }
  return found;
}

// Writing into the file that is there keeps its inode: whoever has it open sees the old content come back.
async function writeBelow(folder: string, files: { path: string; bytes: Uint8Array }[]): Promise<void> {
  for (const { path, bytes } of files) {
    await Deno.mkdir(`${folder}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeFile(`${folder}/${path}`, bytes);
  }
}

/** A copy under a new name, closed, with all files of the folder and new ids for its nodes. Throws 409 while nodes run. */
export async function duplicateProject(
  state: ServerState,
  project: LabProject,
  name: string,
  createdBy: string,
): Promise<LabProject> {
  refuseRunning(project);
  let text = JSON.stringify(imageOf(project), replacer);
  for (const id of [...project.nodes.keys(), ...project.links.keys(), ...project.drawings.keys()]) {
    text = text.replaceAll(id, crypto.randomUUID());
  }
  const copy = await createProject(state, { name, autoClose: project.autoClose, createdBy });
  await writeBelow(copy.path, (await filesBelow(project.path)).filter(({ path }) => !path.endsWith(".gns3")));
  load(copy, JSON.parse(text, reviver));
  copy.made = project.made;
  copy.status = "closed";
  tellProject(state, copy, "closed");
  return copy;
}

const replacer = (_: string, value: unknown) =>
  value instanceof Map ? { $map: [...value] } : value instanceof Set ? { $set: [...value] } : value;

const reviver = (_: string, value: unknown) => {
  const boxed = value as { $map?: [unknown, unknown][]; $set?: unknown[] } | null;
  return boxed?.$map ? new Map(boxed.$map) : boxed?.$set ? new Set(boxed.$set) : value;
};

/** Keeps the lab and the folder as they are. Throws 409 while nodes run. */
export async function takeSnapshot(
  state: ServerState,
  project: LabProject,
  name: string,
): Promise<LabSnapshot> {
  refuseRunning(project);
  if ([...project.snapshots.values()].some((one) => one.name === name)) {
    throw conflict(`The snapshot name ${name} already exists`);
  }
  const snapshot: LabSnapshot = {
    snapshot_id: crypto.randomUUID(),
    name,
    createdAt: state.now(),
    image: imageOf(project),
    files: await filesBelow(project.path),
  };
  project.snapshots.set(snapshot.snapshot_id, snapshot);
  return snapshot;
}

/**
 * Puts a snapshot back: files are overwritten in place with what they held, newer ones stay, and the controller's stream
 * shows nothing but `project.opened`.
 */
export async function restoreSnapshot(
  state: ServerState,
  project: LabProject,
  snapshot: LabSnapshot,
): Promise<void> {
  for (const id of project.nodes.keys()) setPower(project.net, id, "stopped");
  // GNS3 closes and opens it without telling anybody of the closing.
  project.status = "closed";
  empty(project);
  await writeBelow(project.path, snapshot.files);
  load(project, snapshot.image as Image);
  project.status = "opened";
  tellProject(state, project, "opened");
}
