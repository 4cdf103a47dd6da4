// Routes of links, with the packet filters that the simulation honours.
import { Hono } from "hono";
import { z } from "zod";
import { filterProblem } from "../filters.ts";
import { changeCable } from "../network.ts";
import { captureRoutes } from "./captures.ts";
import { FILTER_CATALOGUE } from "./filter_catalogue.ts";
import { conflict } from "./error.ts";
import { addLink, endOf, removeLink } from "./links.ts";
import { linkJson } from "./render.ts";
import { bodyOf, type Env, idOf, openedProjectFor, projectFor } from "./request.ts";
import { linkOf, publish, type ServerState } from "./state.ts";

const end = z.object({
  node_id: z.uuid(),
  adapter_number: z.int(),
  port_number: z.int(),
  label: z.record(z.string(), z.unknown()).optional(),
});

const filters = z.record(z.string(), z.array(z.union([z.number(), z.string()])));

const newLink = z.object({
  nodes: z.array(end).length(2),
  suspend: z.boolean().optional(),
  filters: filters.optional(),
  link_style: z.record(z.string(), z.unknown()).optional(),
});

const changes = z.object({
  suspend: z.boolean().optional(),
  filters: filters.optional(),
  link_style: z.record(z.string(), z.unknown()).optional(),
});

export function linkRoutes(state: ServerState): Hono<Env> {
  const app = new Hono<Env>();
  const at = "/v3/projects/:project_id/links";
  app.get(at, (c) => {
    const project = projectFor(state, c, "Link.Audit");
    return c.json([...project.links.values()].map((link) => linkJson(state, project, link)));
  });
  app.post(at, async (c) => {
    const project = openedProjectFor(state, c, "Link.Allocate");
    const wanted = await bodyOf(c, newLink);
    const [a, b] = wanted.nodes;
    const problem = filterProblem(wanted.filters ?? {});
    if (problem) throw conflict(problem);
    const link = addLink(state, project, [endOf(project, a!), endOf(project, b!)], [a!.label, b!.label]);
    link.style = wanted.link_style ?? {};
    if (wanted.suspend || wanted.filters) {
      const cable = project.net.cables.get(link.linkId)!;
      changeCable(project.net, cable, { suspended: wanted.suspend, filters: wanted.filters });
    }
    return c.json(linkJson(state, project, link), 201);
  });
  app.get(`${at}/:link_id`, (c) => {
    const project = projectFor(state, c, "Link.Audit");
    return c.json(linkJson(state, project, linkOf(project, idOf(c, "link_id"))));
  });
  app.get(`${at}/:link_id/available_filters`, (c) => {
    linkOf(projectFor(state, c, "Link.Audit"), idOf(c, "link_id"));
    return c.json(FILTER_CATALOGUE);
  });
  app.put(`${at}/:link_id`, async (c) => {
    const project = openedProjectFor(state, c, "Link.Modify");
    const link = linkOf(project, idOf(c, "link_id"));
    const wanted = await bodyOf(c, changes);
    const problem = filterProblem(wanted.filters ?? {});
    const cable = project.net.cables.get(link.linkId)!;
    if (problem) {
      // GNS3 notes a BPF expression before a node refuses it, and keeps it.
      if (wanted.filters?.bpf) changeCable(project.net, cable, { filters: wanted.filters });
      throw conflict(problem);
    }
    link.style = wanted.link_style ?? link.style;
    changeCable(project.net, cable, { suspended: wanted.suspend, filters: wanted.filters });
    publish(state, project.projectId, "link.updated", linkJson(state, project, link));
    return c.json(linkJson(state, project, link));
  });
  app.delete(`${at}/:link_id`, (c) => {
    const project = openedProjectFor(state, c, "Link.Allocate");
    removeLink(state, project, linkOf(project, idOf(c, "link_id")));
    return c.body(null, 204);
  });
  captureRoutes(app, state, at);
  return app;
}
