// The HTTP application: request ids, logging, errors, and the mounting of every route.
import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import { AppError } from "../domain/error.ts";
import type { Logger } from "../log.ts";
import { answered } from "./answered.ts";
import { asAppError, gns3Error } from "./errors.ts";
import { openApiDocument } from "./openapi.ts";
import { docsPage } from "./docs_page.ts";
import type { Method, Route } from "./routes/route.ts";

export interface AppOptions {
  routes: Route[];
  version: string;
  corsOrigins: readonly string[];
  log: Logger;
}

/** Mounts `routes`, the OpenAPI document about them, and one answer for whatever is not there. */
export function createApp(options: AppOptions): Hono {
  const { log } = options;
  const app = new Hono();
  const routes = [...options.routes, ...documentRoutes(options)];

  app.use(async (c, next) => {
    const given = c.req.header("x-request-id");
    const requestId = given && /^[\w.:-]{1,64}$/.test(given) ? given : crypto.randomUUID();
    const began = performance.now();
    await next();
    answered(c);
    // HEAD is answered by GET's handler and its body dropped: what would have filled that body must hear of it.
    if (c.req.method === "HEAD") await c.res.body?.cancel();
    c.res.headers.set("X-Request-Id", requestId);
    // The path only: a query may carry what must not be logged.
    log.debug(`${c.req.method} ${c.req.path} ${c.res.status}`, {
      request_id: requestId,
      ms: Math.round(performance.now() - began),
    });
  });
  if (options.corsOrigins.length) {
    app.use(cors({
      origin: options.corsOrigins.includes("*") ? "*" : [...options.corsOrigins],
      allowHeaders: ["Authorization", "Content-Type", "Last-Event-ID"],
      exposeHeaders: ["X-Session-Id", "X-Total-Count", "X-Request-Id"],
    }));
  }

  const methods = new Map<string, Method[]>();
  for (const route of routes) {
    app.on(route.method, route.path, (c) => route.handle(c));
    methods.set(route.path, [...methods.get(route.path) ?? [], route.method]);
  }
  for (const [path, allowed] of methods) app.all(path, (c) => wrongMethod(c, allowed));
  app.notFound((c) =>
    gns3Error(new AppError("not_found", `Nothing is served at ${c.req.path.slice(0, 200)}.`))
  );
  app.onError((error) => gns3Error(asAppError(error, log)));
  return app;
}

/** Whether a path is one that `routes` or the documents about them answer, with whatever method. */
export function ownPaths(routes: readonly Pick<Route, "path">[]): (path: string) => boolean {
  const paths = new Set([...routes.map(({ path }) => path), "/openapi.json", "/docs"]);
  const patterns = [...paths].map((path) => {
    const plain = path.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
    return new RegExp(`^${plain.replace(/:\w+/g, "[^/]+").replace(/\*/g, ".*")}$`);
  });
  return (path) => patterns.some((pattern) => pattern.test(path));
}

function wrongMethod(c: Context, allowed: Method[]): Response {
  const names = allowed.map((method) => method.toUpperCase());
  const all = names.includes("GET") ? [...names, "HEAD"] : names;
  const message = `${c.req.method} is not allowed here; ${all.join(", ")} ${all.length > 1 ? "are" : "is"}.`;
  return gns3Error(new AppError("method_not_allowed", message), { Allow: all.join(", ") });
}

function documentRoutes(options: AppOptions): Route[] {
  let document: ReturnType<typeof openApiDocument> | undefined;
  const openapi = () => document ??= openApiDocument([...options.routes, ...routes], options.version);
  const routes: Route[] = [
    {
      method: "get",
      path: "/openapi.json",
      id: "openapi",
      tag: "process",
      summary: "This document",
      open: true,
      answers: { 200: { description: "OpenAPI 3.1" } },
      handle: (c) => c.json(openapi()),
    },
    {
      method: "get",
      path: "/docs",
      id: "docs",
      tag: "process",
      summary: "This document as a page",
      open: true,
      answers: { 200: { description: "HTML", contentType: "text/html" } },
      handle: (c) => c.html(docsPage(openapi())),
    },
  ];
  return routes;
}
