// What the routes of model configurations do.
import type { Context } from "hono";
import type { ChosenModel, ModelChoice } from "../../agent/model_choice.ts";
import type { TurnLimits } from "../../agent/turn_limits.ts";
import { AppError } from "../../domain/error.ts";
import {
  createModelSchema,
  type SourcedModel,
  type StoredModel,
  updateModelSchema,
} from "../../domain/stored_model.ts";
import type { AddressGuard } from "../../models/address_guard.ts";
import type { ModelTrial } from "../../models/try_model.ts";
import { type ModelConfigs, notFound } from "../../storage/model_configs.ts";
import { readBody } from "../input.ts";
import type { AccessDeps, ModelVisit } from "./model_access.ts";
import { checkEndpoint, keepsKeyAtHome } from "./model_endpoint.ts";

export interface ModelDeps extends AccessDeps {
  configs: ModelConfigs;
  choice: ModelChoice;
  limits: TurnLimits;
  guard: AddressGuard;
  tryModel(model: ChosenModel, signal: AbortSignal): Promise<ModelTrial>;
}

export type Handler = (c: Context, visit: ModelVisit) => Response | Promise<Response>;

/** Finds a configuration that the owner has, in a user's case also one of a group of theirs. Throws 404. */
export type Find = (c: Context, visit: ModelVisit) => Promise<SourcedModel>;

/** What a user's configurations do differently: their groups' are among them. */
export function userActions({ configs, choice }: ModelDeps) {
  const modelsOf = (c: Context, { caller, owner }: ModelVisit) =>
    choice.modelsOf(owner.id, caller, c.req.raw.signal);
  const find: Find = async (c, visit) => {
    const id = c.req.param("config_id");
    const own = configs.get(visit.owner, id ?? "");
    if (own) return { ...own, source: "user", group_name: null };
    const found = (await modelsOf(c, visit)).configs.find(({ config_id }) => config_id === id);
    if (!found) throw notFound();
    return found;
  };
  return {
    find,
    list: async (c: Context, visit: ModelVisit) => {
      const { configs, default_config } = await modelsOf(c, visit);
      return c.json({ configs, default_config, total: configs.length });
    },
    usedOne: async (c: Context, visit: ModelVisit) => {
      const { default_config } = await modelsOf(c, visit);
      if (!default_config) throw new AppError("not_found", "This user has no model configuration.");
      return c.json(default_config);
    },
    choose: async (c: Context, visit: ModelVisit) => {
      const { config_id } = await find(c, visit);
      configs.setDefault(visit.owner, config_id);
      return c.json(await find(c, visit));
    },
    show: async (c: Context, visit: ModelVisit) => c.json(await find(c, visit)),
  };
}

/** What a group's configurations do differently: they are all there are. */
export function groupActions({ configs }: ModelDeps) {
  const stored = (c: Context, { owner }: ModelVisit): StoredModel => {
    const found = configs.get(owner, c.req.param("config_id") ?? "");
    if (!found) throw notFound();
    return found;
  };
  const find: Find = (c, visit) =>
    Promise.resolve({ ...stored(c, visit), source: "group", group_name: null });
  const used = ({ owner }: ModelVisit) => configs.list(owner).find(({ is_default }) => is_default);
  return {
    find,
    list: (c: Context, visit: ModelVisit) => {
      const list = configs.list(visit.owner);
      return c.json({ configs: list, default_config: used(visit) ?? null, total: list.length });
    },
    usedOne: (c: Context, visit: ModelVisit) => {
      const model = used(visit);
      if (!model) throw new AppError("not_found", "This group has no default model configuration.");
      return c.json(model);
    },
    choose: (c: Context, visit: ModelVisit) => {
      configs.setDefault(visit.owner, stored(c, visit).config_id);
      return c.json(stored(c, visit));
    },
    show: (c: Context, visit: ModelVisit) => c.json(stored(c, visit)),
  };
}

/** The owner's own, in the order in which they were made. */
export const own = ({ configs }: ModelDeps): Handler => (c, { owner }) => c.json(configs.list(owner));

export const create = (deps: ModelDeps): Handler => async (c, { caller, owner }) => {
  const body = await readBody(c, createModelSchema);
  await checkEndpoint(deps.guard, body);
  return c.json(deps.configs.create(owner, body, caller.userId), 201);
};

export const update = (deps: ModelDeps, find: Find): Handler => async (c, visit) => {
  const { caller, owner } = visit;
  const body = await readBody(c, updateModelSchema);
  const model = await changeable(c, visit, find);
  if (body.provider !== undefined || body.base_url !== undefined) {
    await checkEndpoint(deps.guard, {
      provider: body.provider ?? model.config.provider,
      base_url: body.base_url === undefined ? model.config.base_url : body.base_url,
    });
  }
  return c.json(deps.configs.update(owner, model.config_id, body, caller.userId, keepsKeyAtHome));
};

export const remove = ({ configs }: ModelDeps, find: Find): Handler => async (c, visit) => {
  const { config_id } = await changeable(c, visit, find);
  if (!configs.delete(visit.owner, config_id)) throw notFound();
  return c.body(null, 204);
};

/** What is wrong with a stored configuration is the answer of its trial, not a failure of it. */
export const trial = ({ choice, limits, tryModel }: ModelDeps, find: Find): Handler => async (c, visit) => {
  const model = await find(c, visit);
  const began = performance.now();
  let chosen: ChosenModel;
  try {
    chosen = choice.open(model);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const latency_ms = Math.round(performance.now() - began);
    const { message } = error;
    return c.json({ ok: false, message, model: model.config.model, latency_ms, supports_tools: null });
  }
  const account = { userId: visit.caller.userId, groupId: chosen.groupId };
  limits.admit(account);
  const { usage, ...result } = await tryModel(chosen, c.req.raw.signal);
  if (usage) limits.spent(account, usage);
  return c.json(result);
};

/** A configuration that is there but only inherited is refused in other words than one that is not there. */
async function changeable(c: Context, visit: ModelVisit, find: Find): Promise<SourcedModel> {
  const model = await find(c, visit);
  if (visit.owner.kind === "user" && model.source === "group") {
    throw new AppError(
      "forbidden",
      `The model configuration "${model.name}" belongs to the group ${model.group_name}; it is not changed here.`,
    );
  }
  return model;
}
