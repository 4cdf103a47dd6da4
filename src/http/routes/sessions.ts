// Sessions: list, create, read, rename, pin, delete, history, export.
import type { Context } from "hono";
import { z } from "zod";
import { AppError } from "../../domain/error.ts";
import {
  chatSessionSchema,
  conversationHistorySchema,
  createSessionSchema,
  renameSchema,
} from "../../domain/session.ts";
import { readBody, readQuery } from "../input.ts";
import { markdownOf } from "../markdown.ts";
import { type ChatDeps, sessionIdOf, type Visit } from "./deps.ts";
import type { Answer, Route } from "./route.ts";
import { exportQuery, historyQuery, listQuery } from "./schemas.ts";

const SESSION: Answer = { description: "The session", schema: chatSessionSchema };
const HISTORY: Answer = {
  description: "The conversation, oldest message first",
  schema: conversationHistorySchema,
};
const GONE: Answer = { description: "The session, its messages and checkpoints are gone" };

const found = <T>(value: T | undefined): T => {
  if (value === undefined) throw new AppError("not_found", "Session not found.");
  return value;
};

// One function for each action, so that the flat routes of seed 001 are the same code.
const list = (c: Context, { service, caller }: Visit) => {
  const { sessions, total } = service.sessions.list(caller.userId, readQuery(c, listQuery));
  return c.json(sessions, 200, { "X-Total-Count": String(total) });
};
const create = async (c: Context, { service, caller }: Visit) => {
  const { title } = await readBody(c, createSessionSchema, { optional: true });
  return c.json(service.createSession(caller.userId, title ?? undefined), 201);
};
const history = (c: Context, { service, caller }: Visit) =>
  c.json(service.history(caller.userId, sessionIdOf(c), readQuery(c, historyQuery)));
const remove = async (c: Context, { service, caller }: Visit) => {
  if (!await service.deleteSession(caller.userId, sessionIdOf(c))) found(undefined);
  return c.body(null, 204);
};

/** Routes under a project's chat prefix. */
export function sessionRoutes(prefix: string, suffix: string, deps: ChatDeps): Route[] {
  const at = (handle: (c: Context, visit: Visit) => Response | Promise<Response>) => async (c: Context) =>
    await handle(c, await deps.visit(c));
  const tag = "sessions";
  const one = `${prefix}/sessions/:session_id`;
  return [
    {
      method: "get",
      path: `${prefix}/sessions`,
      id: `listSessions${suffix}`,
      tag,
      summary:
        "Your sessions in this project, pinned first, then the newest; X-Total-Count tells how many there are",
      query: listQuery,
      answers: { 200: { description: "One page of sessions", schema: z.array(chatSessionSchema) } },
      handle: at(list),
    },
    {
      method: "post",
      path: `${prefix}/sessions`,
      id: `createSession${suffix}`,
      tag,
      summary: "Create an empty session",
      body: createSessionSchema,
      bodyOptional: true,
      answers: { 201: SESSION },
      handle: at(create),
    },
    {
      method: "get",
      path: one,
      id: `getSession${suffix}`,
      tag,
      summary: "One session",
      answers: { 200: SESSION },
      handle: at((c, { service, caller }) =>
        c.json(found(service.sessions.get(caller.userId, sessionIdOf(c))))
      ),
    },
    {
      method: "patch",
      path: one,
      id: `renameSession${suffix}`,
      tag,
      summary: "Give a session a title of your own",
      body: renameSchema,
      answers: { 200: SESSION },
      handle: at(async (c, { service, caller }) => {
        const id = sessionIdOf(c);
        found(service.sessions.get(caller.userId, id));
        const { title } = await readBody(c, renameSchema);
        return c.json(found(service.sessions.rename(caller.userId, id, title)));
      }),
    },
    {
      method: "delete",
      path: one,
      id: `deleteSession${suffix}`,
      tag,
      summary: "Delete a session and everything in it",
      answers: { 204: GONE },
      handle: at(remove),
    },
    ...(["put", "delete"] as const).map((method): Route => ({
      method,
      path: `${one}/pin`,
      id: `${method === "put" ? "pin" : "unpin"}Session${suffix}`,
      tag,
      summary: method === "put" ? "Keep a session at the top of the list" : "Stop keeping it there",
      answers: { 200: SESSION },
      handle: at((c, { service, caller }) =>
        c.json(found(service.sessions.setPinned(caller.userId, sessionIdOf(c), method === "put")))
      ),
    })),
    {
      method: "get",
      path: `${one}/history`,
      id: `getHistory${suffix}`,
      tag,
      summary: "The newest messages, or those before one of them",
      query: historyQuery,
      answers: { 200: HISTORY },
      handle: at(history),
    },
    {
      method: "get",
      path: `${one}/export`,
      id: `exportSession${suffix}`,
      tag,
      summary: "Download the whole conversation",
      query: exportQuery,
      answers: {
        200: {
          ...HISTORY,
          description: "The conversation as a file, JSON or Markdown",
          also: { "text/markdown": z.string() },
        },
      },
      handle: at((c, { service, caller }) => {
        const id = sessionIdOf(c);
        const { format } = readQuery(c, exportQuery);
        const whole = service.history(caller.userId, id, {});
        const markdown = format === "markdown";
        return c.body(markdown ? markdownOf(whole) : JSON.stringify(whole, null, 2), 200, {
          "Content-Type": markdown ? "text/markdown; charset=utf-8" : "application/json; charset=utf-8",
          "Content-Disposition": `attachment; filename="${fileName(id)}.${markdown ? "md" : "json"}"`,
        });
      }),
    },
  ];
}

/** Seed 001's flat routes: the project stands in the query. */
export function flatSessionRoutes(deps: ChatDeps): Route[] {
  const query = z.object({ project_id: deps.projectIdSchema });
  const at = (handle: (c: Context, visit: Visit) => Response | Promise<Response>) => async (c: Context) => {
    deps.requireCredential(c);
    return await handle(c, await deps.visit(c, readQuery(c, query).project_id));
  };
  const tag = "sessions";
  return [
    {
      method: "get",
      path: "/v3/chat/sessions",
      id: "listSessionsFlat",
      tag,
      summary: "Your sessions in a project",
      query: listQuery.extend(query.shape),
      answers: { 200: { description: "One page of sessions", schema: z.array(chatSessionSchema) } },
      handle: at(list),
    },
    {
      method: "post",
      path: "/v3/chat/sessions",
      id: "createSessionFlat",
      tag,
      summary: "Create an empty session in a project",
      query,
      body: createSessionSchema,
      bodyOptional: true,
      answers: { 201: SESSION },
      handle: at(create),
    },
    {
      method: "delete",
      path: "/v3/chat/sessions/:session_id",
      id: "deleteSessionFlat",
      tag,
      summary: "Delete a session of a project",
      query,
      answers: { 204: GONE },
      handle: at(remove),
    },
    {
      method: "get",
      path: "/v3/chat/history/:session_id",
      id: "getHistoryFlat",
      tag,
      summary: "The newest messages of a session of a project",
      query: historyQuery.extend(query.shape),
      answers: { 200: HISTORY },
      handle: at(history),
    },
  ];
}

/** Ids may hold characters that file systems do not take. */
function fileName(id: string): string {
  return `conversation-${id.replace(/[^A-Za-z0-9_-]/g, "_")}`;
}
