// Routes of projects themselves.
import { Hono } from "hono";
import { z } from "zod";
import { duplicateProject } from "./copies.ts";
import { conflict } from "./error.ts";
import {
  closeProject,
  createProject,
  deleteProject,
  openProject,
  tellProject,
  writeProjectFile,
} from "./projects.ts";
import { projectJson } from "./render.ts";
import { bodyOf, type Env, projectFor } from "./request.ts";
import type { ServerState } from "./state.ts";

const newProject = z.object({
  name: z.string().min(1),
  project_id: z.uuid().optional(),
  auto_close: z.boolean().optional(),
});

const changes = z.object({
  name: z.string().min(1).optional(),
  auto_close: z.boolean().optional(),
  auto_open: z.boolean().optional(),
  auto_start: z.boolean().optional(),
  scene_width: z.int().optional(),
  scene_height: z.int().optional(),
  variables: z.unknown().optional(),
});

export function projectRoutes(state: ServerState): Hono<Env> {
  const app = new Hono<Env>();
  app.get("/v3/projects", (c) => {
    const { users } = state;
    const seen = [...state.projects.values()].filter((p) =>
      users.may(c.get("user"), "Project.Audit", p.projectId)
    );
    return c.json(seen.map((project) => projectJson(project, state.version)));
  });
  app.post("/v3/projects", async (c) => {
    const user = c.get("user");
    state.users.require(user, "Project.Allocate", null);
    const { name, project_id, auto_close } = await bodyOf(c, newProject);
    const project = await createProject(state, {
      name,
      projectId: project_id,
      autoClose: auto_close,
      createdBy: user.username,
    });
    return c.json(projectJson(project, state.version), 201);
  });
  app.get(
    "/v3/projects/:project_id",
    (c) => c.json(projectJson(projectFor(state, c, "Project.Audit"), state.version)),
  );
  app.put("/v3/projects/:project_id", async (c) => {
    const project = projectFor(state, c, "Project.Modify");
    const wanted = await bodyOf(c, changes);
    const others = [...state.projects.values()].filter((other) => other !== project);
    if (wanted.name && others.some((other) => other.name === wanted.name)) {
      throw conflict(`Project '${wanted.name}' already exists`);
    }
    project.name = wanted.name ?? project.name;
    project.autoClose = wanted.auto_close ?? project.autoClose;
    project.autoOpen = wanted.auto_open ?? project.autoOpen;
    project.autoStart = wanted.auto_start ?? project.autoStart;
    project.sceneWidth = wanted.scene_width ?? project.sceneWidth;
    project.sceneHeight = wanted.scene_height ?? project.sceneHeight;
    if (wanted.variables !== undefined) project.variables = wanted.variables;
    await writeProjectFile(state, project);
    tellProject(state, project, "updated");
    return c.json(projectJson(project, state.version));
  });
  app.delete("/v3/projects/:project_id", async (c) => {
    await deleteProject(state, projectFor(state, c, "Project.Allocate"));
    return c.body(null, 204);
  });
  app.post("/v3/projects/:project_id/open", (c) => {
    const project = projectFor(state, c, "Project.Allocate");
    openProject(state, project);
    return c.json(projectJson(project, state.version), state.version === "3.0.6" ? 201 : 200);
  });
  app.post("/v3/projects/:project_id/close", (c) => {
    closeProject(state, projectFor(state, c, "Project.Allocate"));
    return c.body(null, 204);
  });
  app.post("/v3/projects/:project_id/duplicate", async (c) => {
    const project = projectFor(state, c, "Project.Audit");
    const { name } = await bodyOf(c, newProject);
    const copy = await duplicateProject(state, project, name, c.get("user").username);
    return c.json(projectJson(copy, state.version), 201);
  });
  return app;
}
