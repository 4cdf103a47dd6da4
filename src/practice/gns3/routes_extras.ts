// Routes of drawings and snapshots.
import { Hono } from "hono";
import { z } from "zod";
import { restoreSnapshot, takeSnapshot } from "./copies.ts";
import { notFound } from "./error.ts";
import { projectJson } from "./render.ts";
import { bodyOf, type Env, idOf, openedProjectFor, projectFor } from "./request.ts";
import { type LabDrawing, type LabProject, type LabSnapshot, publish, type ServerState } from "./state.ts";

const drawingFields = z.object({
  x: z.int().optional(),
  y: z.int().optional(),
  z: z.int().optional(),
  locked: z.boolean().optional(),
  rotation: z.int().min(-359).max(360).optional(),
  svg: z.string().optional(),
});

export function drawingRoutes(state: ServerState): Hono<Env> {
  const app = new Hono<Env>();
  const at = "/v3/projects/:project_id/drawings";
  const find = (project: LabProject, id: string): LabDrawing => {
    const drawing = project.drawings.get(id);
    if (!drawing) throw notFound("drawing", id);
    return drawing;
  };
  app.get(at, (c) => c.json([...projectFor(state, c, "Drawing.Audit").drawings.values()]));
  app.post(at, async (c) => {
    const project = openedProjectFor(state, c, "Drawing.Allocate");
    const wanted = await bodyOf(c, drawingFields);
    const drawing: LabDrawing = {
      drawing_id: crypto.randomUUID(),
      project_id: project.projectId,
      x: wanted.x ?? 0,
      y: wanted.y ?? 0,
      z: wanted.z ?? 0,
      locked: wanted.locked ?? false,
      rotation: wanted.rotation ?? 0,
      svg: wanted.svg ?? "<svg></svg>",
    };
    project.drawings.set(drawing.drawing_id, drawing);
    publish(state, project.projectId, "drawing.created", { ...drawing });
    return c.json(drawing, 201);
  });
  app.get(`${at}/:drawing_id`, (c) => {
    const project = projectFor(state, c, "Drawing.Audit");
    return c.json(find(project, idOf(c, "drawing_id")));
  });
  app.put(`${at}/:drawing_id`, async (c) => {
    const project = openedProjectFor(state, c, "Drawing.Modify");
    const drawing = Object.assign(find(project, idOf(c, "drawing_id")), await bodyOf(c, drawingFields));
    publish(state, project.projectId, "drawing.updated", { ...drawing });
    return c.json(drawing);
  });
  app.delete(`${at}/:drawing_id`, (c) => {
    const project = openedProjectFor(state, c, "Drawing.Allocate");
    const drawing = find(project, idOf(c, "drawing_id"));
    project.drawings.delete(drawing.drawing_id);
    publish(state, project.projectId, "drawing.deleted", { ...drawing });
    return c.body(null, 204);
  });
  return app;
}

export function snapshotRoutes(state: ServerState): Hono<Env> {
  const app = new Hono<Env>();
  const at = "/v3/projects/:project_id/snapshots";
  const find = (project: LabProject, id: string): LabSnapshot => {
    const snapshot = project.snapshots.get(id);
    if (!snapshot) throw notFound("snapshot", id);
    return snapshot;
  };
  const json = (project: LabProject, { snapshot_id, name, createdAt }: LabSnapshot) => ({
    name,
    ...(state.version === "3.0.6" ? {} : { description: `Snapshot '${name}'` }),
    snapshot_id,
    project_id: project.projectId,
    filename: `${name}.gns3snapshot`,
    created_at: Math.floor(createdAt / 1000),
    ...(state.version === "3.0.6" ? {} : { created: `${new Date(createdAt).toISOString().slice(0, 19)}Z` }),
  });
  app.get(at, (c) => {
    const project = projectFor(state, c, "Snapshot.Audit");
    return c.json([...project.snapshots.values()].map((snapshot) => json(project, snapshot)));
  });
  app.post(at, async (c) => {
    const project = projectFor(state, c, "Snapshot.Allocate");
    const { name } = await bodyOf(c, z.object({ name: z.string().min(1) }));
    return c.json(json(project, await takeSnapshot(state, project, name)), 201);
  });
  app.delete(`${at}/:snapshot_id`, (c) => {
    const project = projectFor(state, c, "Snapshot.Allocate");
    project.snapshots.delete(find(project, idOf(c, "snapshot_id")).snapshot_id);
    return c.body(null, 204);
  });
  app.post(`${at}/:snapshot_id/restore`, async (c) => {
    const project = projectFor(state, c, "Snapshot.Restore");
    await restoreSnapshot(state, project, find(project, idOf(c, "snapshot_id")));
    return c.json(projectJson(project, state.version), state.version === "3.0.6" ? 201 : 200);
  });
  return app;
}
