// The life of a project on the practice server: created with a folder, opened, closed, deleted with everything in it.
import { createLab, DEFAULT_CABLES, DEFAULT_LAB } from "../default_lab.ts";
import { LabConsoles } from "../lab_consoles.ts";
import { removeDevice } from "../network.ts";
import { setPower } from "../power.ts";
import { stopCapture } from "./captures.ts";
import { conflict } from "./error.ts";
import { addLink } from "./links.ts";
import { addNode } from "./nodes.ts";
import { nodeJson, projectJson } from "./render.ts";
import { type LabProject, publish, type ServerState } from "./state.ts";

/** Tells the controller's stream about a project; GNS3 shows it to every user. */
export function tellProject(
  state: ServerState,
  project: LabProject,
  what: "created" | "opened" | "closed" | "updated" | "deleted",
): void {
  publish(state, "", `project.${what}`, projectJson(project, state.version));
}

/** Creates a project, opened, with its folder. Throws 409 when the name or the id is taken. */
export async function createProject(
  state: ServerState,
  options: { name: string; projectId?: string; autoClose?: boolean; createdBy: string },
): Promise<LabProject> {
  const projectId = options.projectId ?? crypto.randomUUID();
  if (state.projects.has(projectId)) throw conflict(`Project ID '${projectId}' already exists`);
  if ([...state.projects.values()].some((project) => project.name === options.name)) {
    throw conflict(`Project '${options.name}' already exists`);
  }
  const path = `${state.projectsDir}/${projectId}`;
  await Deno.mkdir(`${path}/project-files`, { recursive: true });
  const net = createLab({ now: state.now });
  const consoles = new LabConsoles(net, state.timing, { logMessages: state.logMessages });
  const project: LabProject = {
    projectId,
    name: options.name,
    path,
    status: "opened",
    autoClose: options.autoClose ?? true,
    autoOpen: false,
    autoStart: false,
    createdBy: options.createdBy,
    sceneWidth: 2000,
    sceneHeight: 1000,
    variables: null,
    net,
    consoles,
    nodes: new Map(),
    links: new Map(),
    drawings: new Map(),
    snapshots: new Map(),
    made: 0,
  };
  state.projects.set(projectId, project);
  net.listeners.add((change) => {
    if (change.type !== "power" || project.status !== "opened") return;
    const node = project.nodes.get(change.device);
    // The real server says it two or three times an action.
    for (let i = 0; node && i < 2; i++) {
      publish(state, projectId, "node.updated", nodeJson(state, project, node));
    }
  });
  await writeProjectFile(state, project);
  tellProject(state, project, "created");
  tellProject(state, project, "opened");
  return project;
}

/** Writes the `.gns3` file, as far as somebody who looks into the folder would expect one. */
export async function writeProjectFile(state: ServerState, project: LabProject): Promise<void> {
  const { name, projectId } = project;
  const text = JSON.stringify({
    name,
    project_id: projectId,
    type: "topology",
    version: state.version,
    revision: 10,
  });
  await Deno.writeTextFile(`${project.path}/${name.replaceAll("/", "_")}.gns3`, text);
}

/** Puts the default lab into an opened project and switches it on. */
export function fillWithDefaultLab(state: ServerState, project: LabProject): void {
  for (const plan of DEFAULT_LAB) {
    const type = plan.kind === "pc" ? "vpcs" : "dynamips";
    const template = state.templates.find((one) => one.type === type)!;
    addNode(state, project, { ...plan, nodeType: type, template });
  }
  const idOf = (name: string) => [...project.net.devices.values()].find((device) => device.name === name)!.id;
  for (const [[a, as], [b, bs]] of DEFAULT_CABLES) {
    addLink(state, project, [{ device: idOf(a), socket: as }, { device: idOf(b), socket: bs }]);
  }
  for (const node of project.nodes.keys()) setPower(project.net, node, "started");
}

export function openProject(state: ServerState, project: LabProject): void {
  if (project.status === "opened") return;
  project.status = "opened";
  tellProject(state, project, "opened");
  if (project.autoStart) { for (const node of project.nodes.keys()) setPower(project.net, node, "started"); }
}

/** Stops all nodes; what was not saved on them is lost. */
export function closeProject(state: ServerState, project: LabProject): void {
  if (project.status === "closed") return;
  for (const link of project.links.values()) stopCapture(project, link);
  for (const node of project.nodes.keys()) setPower(project.net, node, "stopped");
  project.status = "closed";
  tellProject(state, project, "closed");
}

/** Closes the project and removes it with its folder. */
export async function deleteProject(state: ServerState, project: LabProject): Promise<void> {
  closeProject(state, project);
  state.projects.delete(project.projectId);
  for (const id of [...project.nodes.keys()]) removeDevice(project.net, id);
  await project.consoles.close();
  await Deno.remove(project.path, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  tellProject(state, project, "deleted");
}
