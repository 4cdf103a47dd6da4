// What every route of the practice GNS3 server does first: who calls, may they, and is the body well formed.
import type { Context } from "hono";
import { z } from "zod";
import { invalid, projectNotOpened } from "./error.ts";
import { type LabProject, projectOf, type ServerState } from "./state.ts";
import type { User } from "./users.ts";

export interface Env {
  Variables: { user: User };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The id in the path. Throws GNS3's 422 for one that is not a UUID. */
export function idOf(c: Context<Env>, name: string): string {
  const id = c.req.param(name) ?? "";
  if (UUID.test(id)) return id.toLowerCase();
  throw invalid(
    ["path", name],
    `Input should be a valid UUID, invalid character: found \`${id[0] ?? ""}\` at 1`,
    "uuid_parsing",
    id,
  );
}

/** The project in the path, when the caller may do this there: else 403, also when it does not exist. 404 for who may all. */
export function projectFor(state: ServerState, c: Context<Env>, privilege: string): LabProject {
  const id = idOf(c, "project_id");
  state.users.require(c.get("user"), privilege, id);
  return projectOf(state, id);
}

/** The same, and the project must be opened. */
export function openedProjectFor(state: ServerState, c: Context<Env>, privilege: string): LabProject {
  const project = projectFor(state, c, privilege);
  if (project.status !== "opened") throw projectNotOpened();
  return project;
}

/** The body by a schema. Throws GNS3's 422 with the first field that is wrong. */
export async function bodyOf<T extends z.ZodType>(c: Context<Env>, schema: T): Promise<z.infer<T>> {
  const text = await c.req.text();
  let value: unknown;
  try {
    value = text === "" ? undefined : JSON.parse(text);
  } catch {
    throw invalid(["body", 0], "JSON decode error", "json_invalid", {});
  }
  if (value === undefined) throw invalid(["body"], "Field required", "missing", null);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const path = ["body", ...issue.path.filter((part) => typeof part !== "symbol")];
  const missing = issue.code === "invalid_type" && issue.message.includes("undefined");
  throw invalid(path, missing ? "Field required" : issue.message, missing ? "missing" : issue.code, value);
}

/** The credential of a request: after `Bearer`, or in the query. Other schemes do not count. */
export function tokenOf(headers: Headers, url: URL): string | null {
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(headers.get("authorization") ?? "");
  return bearer?.[1] ?? url.searchParams.get("token");
}

export const coordinates = z.object({ x: z.int(), y: z.int() });
