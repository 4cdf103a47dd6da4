// Model configurations of users and groups, with the routes and the JSON that GNS3's Web UI uses.
import type { Context } from "hono";
import { z } from "zod";
import type { ChosenModel, ModelChoice } from "../../agent/model_choice.ts";
import type { TurnLimits } from "../../agent/turn_limits.ts";
import { AppError } from "../../domain/error.ts";
import type { ModelConfig } from "../../domain/model_config.ts";
import {
  createModelSchema,
  groupModelsSchema,
  type Owner,
  type SourcedModel,
  sourcedModelSchema,
  type StoredModel,
  storedModelSchema,
  updateModelSchema,
  userModelsSchema,
} from "../../domain/stored_model.ts";
import type { ModelTrial } from "../../models/try_model.ts";
import { type ModelConfigs, notFound } from "../../storage/model_configs.ts";
import { readBody } from "../input.ts";
import { type AccessDeps, enterModels, type ModelVisit } from "./model_access.ts";
import { checkEndpoint, type Guard, keepsKeyAtHome } from "./model_endpoint.ts";
import type { Answer, Route } from "./route.ts";

export interface ModelDeps extends AccessDeps {
  configs: ModelConfigs;
  choice: ModelChoice;
  limits: TurnLimits;
  guard: Guard;
  tryModel(config: ModelConfig, signal: AbortSignal): Promise<ModelTrial>;
}

const trialSchema = z.object({
  ok: z.boolean(),
  message: z.string().describe("In plain words: what works, or what is wrong and what to do about it"),
  model: z.string(),
  latency_ms: z.int(),
  supports_tools: z.boolean().nullable().describe("null: the call failed before that could be seen"),
});

const STORED: Answer = { description: "The configuration, without its key", schema: storedModelSchema };
const CONFLICT: Answer = { description: "Somebody else has changed it since, or there are too many" };

const REFUSED = {
  403: { description: "These configurations are not yours to see or to change" },
  404: { description: "There is no such user, group or configuration" },
};

type Handler = (c: Context, visit: ModelVisit) => Response | Promise<Response>;

/** The routes of `kind`'s configurations, below `/v3/access/users/{user_id}` or `/v3/access/groups/{group_id}`. */
export function modelRoutes(kind: Owner["kind"], deps: ModelDeps): Route[] {
  const prefix = `/v3/access/${kind}s/:${kind}_id/llm-model-configs`;
  const one = `${prefix}/:config_id`;
  const suffix = kind === "user" ? "UserModel" : "GroupModel";
  const whose = kind === "user" ? "a user" : "a group";
  const actions = kind === "user" ? userActions(deps) : groupActions(deps);
  const route = (
    method: Route["method"],
    path: string,
    verb: string,
    summary: string,
    wish: "read" | "write",
    handle: Handler,
    more: Pick<Route, "answers"> & Pick<Route, "body">,
  ): Route => ({
    method,
    path,
    id: `${verb}${suffix}`,
    tag: "model configurations",
    summary,
    ...more,
    answers: { ...REFUSED, ...more.answers },
    handle: async (c) => await handle(c, await enterModels(c, kind, wish, deps)),
  });

  const listed = kind === "user" ? userModelsSchema : groupModelsSchema;
  const shown = kind === "user" ? { ...STORED, schema: sourcedModelSchema } : STORED;
  // The two fixed names stand before `:config_id`: the first route that fits answers.
  return [
    route(
      "get",
      prefix,
      "list",
      `All model configurations of ${whose}${kind === "user" ? ", those of their groups too" : ""}`,
      "read",
      actions.list,
      {
        answers: { 200: { description: "The configurations, and the one that is used", schema: listed } },
      },
    ),
    route("post", prefix, "create", `Store a model configuration for ${whose}`, "write", create(deps), {
      body: createModelSchema,
      answers: { 201: STORED, 409: CONFLICT },
    }),
    route(
      "get",
      `${prefix}/own`,
      "listOwn",
      `The model configurations that ${whose} has stored`,
      "read",
      own(deps),
      {
        answers: { 200: { description: "The configurations", schema: z.array(storedModelSchema) } },
      },
    ),
    route(
      "get",
      `${prefix}/default`,
      "getDefault",
      `The model configuration that is used for ${whose}`,
      "read",
      actions.usedOne,
      {
        answers: { 200: shown, 404: { description: "There is none" } },
      },
    ),
    route(
      "put",
      `${prefix}/default/:config_id`,
      "setDefault",
      `Choose the model configuration that is used for ${whose}`,
      "write",
      actions.choose,
      {
        answers: { 200: shown },
      },
    ),
    route("get", one, "get", "One model configuration", "read", actions.show, { answers: { 200: shown } }),
    route(
      "put",
      one,
      "update",
      "Change a model configuration: what is left out stays, null clears",
      "write",
      update(deps, actions.find),
      {
        body: updateModelSchema,
        answers: { 200: STORED, 409: CONFLICT },
      },
    ),
    route("delete", one, "delete", "Delete a model configuration", "write", remove(deps, actions.find), {
      answers: { 204: { description: "It is gone, with its key" } },
    }),
    route(
      "post",
      `${one}/test`,
      "test",
      "Try a model configuration with one tiny call",
      kind === "user" ? "read" : "write",
      trial(deps, actions.find),
      {
        answers: { 200: { description: "What came of it", schema: trialSchema } },
      },
    ),
  ];
}

/** Finds a configuration that the owner has, in a user's case also one of a group of theirs. Throws 404. */
type Find = (c: Context, visit: ModelVisit) => Promise<SourcedModel>;

function userActions({ configs, choice }: ModelDeps) {
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

function groupActions({ configs }: ModelDeps) {
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

const own = ({ configs }: ModelDeps): Handler => (c, { owner }) => c.json(configs.list(owner));

const create = (deps: ModelDeps): Handler => async (c, { caller, owner }) => {
  const body = await readBody(c, createModelSchema);
  await checkEndpoint(deps.guard, body);
  return c.json(deps.configs.create(owner, body, caller.userId), 201);
};

const update = (deps: ModelDeps, find: Find): Handler => async (c, visit) => {
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

const remove = ({ configs }: ModelDeps, find: Find): Handler => async (c, visit) => {
  const { config_id } = await changeable(c, visit, find);
  if (!configs.delete(visit.owner, config_id)) throw notFound();
  return c.body(null, 204);
};

const trial = ({ choice, limits, tryModel }: ModelDeps, find: Find): Handler => async (c, visit) => {
  const model = await find(c, visit);
  const began = performance.now();
  let chosen: ChosenModel;
  try {
    chosen = await choice.open(model);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const latency_ms = Math.round(performance.now() - began);
    const { message } = error;
    return c.json({ ok: false, message, model: model.config.model, latency_ms, supports_tools: null });
  }
  const account = { userId: visit.caller.userId, groupId: chosen.groupId };
  limits.admit(account);
  const { usage, ...result } = await tryModel(chosen.config, c.req.raw.signal);
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
