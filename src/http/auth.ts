// Who is calling, and may they use this project: both are GNS3's to answer, with the caller's own credential.
import type { Context } from "hono";
import { AppError } from "../domain/error.ts";
import type { Project } from "../domain/project.ts";
import type { Caller } from "../domain/scope.ts";
import type { Access } from "../gns3/access.ts";
import { expiryOf } from "../gns3/service_account.ts";

/** The credential after `Bearer`. Throws 401 for none and for any other scheme (GNS3 refuses Basic too). */
export function credentialOf(c: Context): string {
  const header = c.req.header("authorization") ?? "";
  const match = /^bearer +(\S+)$/i.exec(header.trim());
  if (!match) {
    throw new AppError(
      "unauthorized",
      header
        ? "The Authorization header must be 'Bearer <token>' with a token from GNS3."
        : "Not authenticated",
    );
  }
  return match[1]!;
}

/** Asks GNS3 both questions at once. The identity's answer wins, so that a bad token is 401 and not 403. */
export async function enter(
  access: Access,
  c: Context,
  projectId: string,
): Promise<{ caller: Caller; project: Project }> {
  const credential = credentialOf(c);
  const signal = c.req.raw.signal;
  const [caller, project] = await Promise.allSettled([
    access.identify(credential, signal),
    access.project(credential, projectId, signal),
  ]);
  if (caller.status === "rejected") throw caller.reason;
  if (project.status === "rejected") throw project.reason;
  return { caller: caller.value, project: project.value };
}

/** Who wants to read a project's audit log, which is there also while the project is closed. Throws as `enter`. */
export async function auditReader(
  access: Access,
  c: Context,
  projectId: string,
): Promise<{ userId: string; seesAll: boolean }> {
  const credential = credentialOf(c);
  const [user, project] = await Promise.allSettled([
    access.user(credential, c.req.raw.signal),
    access.visible(credential, projectId, c.req.raw.signal),
  ]);
  if (user.status === "rejected") throw user.reason;
  if (project.status === "rejected") throw project.reason;
  return { userId: user.value.user_id, seesAll: user.value.is_superadmin };
}

/**
 * Why a caller who was let in may not listen any longer; undefined while they may. A sign-in that has only run out in
 * the meantime takes no permission away, and neither does a GNS3 that cannot be asked. Never rejects.
 */
export async function refusedNow(
  access: Access,
  caller: Caller,
  projectId: string,
  now = Date.now(),
): Promise<AppError | undefined> {
  try {
    await access.project(caller, projectId);
  } catch (error) {
    if (!(error instanceof AppError)) return undefined;
    if (error.code === "unauthorized") return expiryOf(caller.credential) <= now ? undefined : error;
    // What becomes of a closed project's streams is its agent's to say.
    const forbidden = error.code === "forbidden" && error.details?.project_status === undefined;
    return forbidden || error.code === "project_not_found" ? error : undefined;
  }
  return undefined;
}
