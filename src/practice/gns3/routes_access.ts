// Routes about users, templates, computes and the server itself.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { Gns3Error, invalid } from "./error.ts";
import { bodyOf, type Env, idOf } from "./request.ts";
import type { ServerState } from "./state.ts";
import { templateJson } from "./templates.ts";
import { stampOf, type User, userJson } from "./users.ts";

const credentials = z.object({ username: z.string(), password: z.string() });

/** Routes that need no credential. */
export function openRoutes(state: ServerState): Hono<Env> {
  const app = new Hono<Env>();
  app.get(
    "/v3/version",
    (c) => c.json({ controller_host: "127.0.0.1", version: state.version, local: false }),
  );
  app.post("/v3/access/users/authenticate", async (c) => {
    const { username, password } = await bodyOf(c, credentials);
    return c.json(state.users.logIn(username, password));
  });
  app.post("/v3/access/users/login", async (c) => {
    const form = new URLSearchParams(await c.req.text());
    const username = form.get("username");
    if (username === null) throw invalid(["body", "username"], "Field required", "missing", null);
    return c.json(state.users.logIn(username, form.get("password") ?? ""));
  });
  return app;
}

export function accessRoutes(state: ServerState): Hono<Env> {
  const app = new Hono<Env>();
  const { users } = state;
  const groupJson = (name: string, id: string) => ({
    name,
    created_at: stampOf(0),
    updated_at: stampOf(0),
    user_group_id: id,
    is_builtin: name === "Administrators" || name === "Users",
  });
  const groupsOf = (user: User) => [...user.groups].map((name) => groupJson(name, users.groups.get(name)!));
  const userIn = (id: string) => {
    const user = users.byId(id);
    if (!user) throw new Gns3Error(404, `User '${id}' not found`, "not_found");
    return user;
  };

  app.get("/v3/access/users/me", (c) => c.json(userJson(c.get("user"))));
  app.get("/v3/access/users", (c) => {
    users.require(c.get("user"), "User.Audit", null);
    return c.json([...users.byName.values()].map(userJson));
  });
  app.get("/v3/access/users/:user_id", (c) => {
    users.require(c.get("user"), "User.Audit", null);
    return c.json(userJson(userIn(idOf(c, "user_id"))));
  });
  app.get("/v3/access/users/:user_id/groups", (c) => {
    users.require(c.get("user"), "Group.Audit", null);
    return c.json(groupsOf(userIn(idOf(c, "user_id"))));
  });
  app.get("/v3/access/groups", (c) => {
    users.require(c.get("user"), "Group.Audit", null);
    return c.json([...users.groups].map(([name, id]) => groupJson(name, id)));
  });
  // A right can be given on one group; it is looked at before the group is.
  const groupIn = (c: Context<Env>, privilege: string) => {
    const id = idOf(c, "group_id");
    users.require(c.get("user"), privilege, `/access/groups/${id}`);
    const found = [...users.groups].find(([, groupId]) => groupId === id);
    if (!found) throw new Gns3Error(404, `User group '${id}' not found`, "not_found");
    return found;
  };
  app.get("/v3/access/groups/:group_id", (c) => c.json(groupJson(...groupIn(c, "Group.Audit"))));
  app.get("/v3/access/groups/:group_id/members", (c) => {
    const [name] = groupIn(c, "Group.Audit");
    return c.json([...users.byName.values()].filter(({ groups }) => groups.has(name)).map(userJson));
  });
  app.post("/v3/access/groups", async (c) => {
    users.require(c.get("user"), "Group.Allocate", null);
    const { name } = await bodyOf(c, z.object({ name: z.string().min(1) }));
    const id = crypto.randomUUID();
    users.groups.set(name, id);
    return c.json(groupJson(name, id), 201);
  });
  for (const method of ["put", "delete"] as const) {
    app[method]("/v3/access/groups/:group_id/members/:user_id", (c) => {
      const [name] = groupIn(c, "Group.Modify");
      const { groups } = userIn(idOf(c, "user_id"));
      if (method === "put") groups.add(name);
      else groups.delete(name);
      return c.body(null, 204);
    });
  }
  // Without a right of their own users still see the built-in templates.
  app.get("/v3/templates", (c) => {
    const all = users.may(c.get("user"), "Template.Audit", null);
    return c.json(state.templates.filter((t) => all || t.builtin).map((t) => templateJson(t, state.version)));
  });
  app.get("/v3/computes", (c) => {
    if (!users.may(c.get("user"), "Compute.Audit", null)) return c.json([]);
    return c.json([{
      compute_id: "local",
      name: "practice",
      protocol: "http",
      host: "127.0.0.1",
      port: Number(new URL(c.req.url).port),
      user: null,
      connected: true,
      cpu_usage_percent: 1,
      memory_usage_percent: 1,
      disk_usage_percent: 1,
      last_error: null,
      capabilities: {
        version: state.version,
        node_types: ["vpcs", "dynamips", "ethernet_switch"],
        platform: "linux",
      },
    }]);
  });
  return app;
}
