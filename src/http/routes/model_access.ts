// Who may see and change which model configurations: GNS3's to answer, as for everything else.
import type { Context } from "hono";
import { AppError, fieldError } from "../../domain/error.ts";
import type { Caller } from "../../domain/scope.ts";
import type { Owner } from "../../domain/stored_model.ts";
import type { Gns3Client } from "../../gns3/client.ts";

/** What of GNS3's API decides about rights. */
export type RightsClient = Pick<Gns3Client, "user" | "group" | "mayModifyGroup">;

export interface AccessDeps {
  /** Throws 401 or 503. */
  identify(c: Context): Promise<Caller>;
  gns3For(caller: Caller): RightsClient;
}

/** A caller and whose configurations they may use as they asked. */
export interface ModelVisit {
  caller: Caller;
  owner: Owner;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * A user's configurations are that user's, and of super administrators. A group's are of super administrators and of those
 * whom GNS3 shows the group (`read`) or lets change it (`write`). Throws 401, 403, 404, 422 or 503.
 */
export async function enterModels(
  c: Context,
  kind: Owner["kind"],
  wish: "read" | "write",
  { identify, gns3For }: AccessDeps,
): Promise<ModelVisit> {
  const caller = await identify(c);
  const owner = { kind, id: ownerId(c, kind) };
  if (kind === "user" && owner.id === caller.userId.toLowerCase()) return { caller, owner };
  const gns3 = gns3For(caller);
  const signal = c.req.raw.signal;
  if (kind === "user") {
    if (!caller.superadmin) {
      throw new AppError("forbidden", "You may only see and change your own model configurations.");
    }
    await gns3.user(owner.id, signal);
  } else {
    await gns3.group(owner.id, signal);
    if (wish === "write" && !caller.superadmin && !await gns3.mayModifyGroup(owner.id, signal)) {
      throw new AppError(
        "forbidden",
        "You may see the model configurations of this group, but not change them.",
      );
    }
  }
  return { caller, owner };
}

function ownerId(c: Context, kind: Owner["kind"]): string {
  const name = `${kind}_id`;
  const id = c.req.param(name) ?? "";
  if (!UUID.test(id)) throw fieldError(["path", name], "must be a UUID", "uuid_parsing");
  return id.toLowerCase();
}
