// Model configurations of users and groups, with the routes and the JSON that GNS3's Web UI uses.
import { z } from "zod";
import {
  createModelSchema,
  groupModelsSchema,
  type Owner,
  sourcedModelSchema,
  storedModelSchema,
  updateModelSchema,
  userModelsSchema,
} from "../../domain/stored_model.ts";
import { enterModels } from "./model_access.ts";
import {
  create,
  groupActions,
  type Handler,
  type ModelDeps,
  own,
  remove,
  trial,
  update,
  userActions,
} from "./model_handlers.ts";
import type { Answer, Route } from "./route.ts";

const trialSchema = z.object({
  ok: z.boolean(),
  message: z.string().describe("In plain words: what works, or what is wrong and what to do about it"),
  model: z.string(),
  latency_ms: z.int(),
  supports_tools: z.boolean().nullable().describe("null: the call failed before that could be seen"),
});

const STORED: Answer = { description: "The configuration, without its key", schema: storedModelSchema };
const SOURCED: Answer = { description: "The configuration, without its key", schema: sourcedModelSchema };
const CONFLICT: Answer = { description: "Somebody else has changed it since, or there are too many" };
const REFUSED: Record<number, Answer> = {
  403: { description: "These configurations are not yours to see or to change" },
  404: { description: "There is no such user, group or configuration" },
};

/** A route before its owner's kind is known. `wish`: what the caller must be allowed to do. */
interface ModelRoute extends Pick<Route, "method" | "path" | "summary" | "body" | "answers"> {
  verb: string;
  wish: "read" | "write";
  handle: Handler;
}

/** The routes of `kind`'s configurations, below `/v3/access/users/{user_id}` or `/v3/access/groups/{group_id}`. */
export function modelRoutes(kind: Owner["kind"], deps: ModelDeps): Route[] {
  const prefix = `/v3/access/${kind}s/:${kind}_id/llm-model-configs`;
  const suffix = kind === "user" ? "UserModel" : "GroupModel";
  return table(kind, deps).map(({ verb, wish, path, answers, handle, ...route }) => ({
    ...route,
    path: prefix + path,
    id: verb + suffix,
    tag: "model configurations",
    answers: { ...REFUSED, ...answers },
    handle: async (c) => await handle(c, await enterModels(c, kind, wish, deps)),
  }));
}

/** The two fixed names stand before `:config_id`: the first route that fits answers. */
function table(kind: Owner["kind"], deps: ModelDeps): ModelRoute[] {
  const ofUser = kind === "user";
  const whose = ofUser ? "a user" : "a group";
  const actions = ofUser ? userActions(deps) : groupActions(deps);
  const shown = ofUser ? SOURCED : STORED;
  return [
    {
      method: "get",
      path: "",
      verb: "list",
      summary: `All model configurations of ${whose}${ofUser ? ", those of their groups too" : ""}`,
      wish: "read",
      answers: {
        200: {
          description: "The configurations, and the one that is used",
          schema: ofUser ? userModelsSchema : groupModelsSchema,
        },
      },
      handle: actions.list,
    },
    {
      method: "post",
      path: "",
      verb: "create",
      summary: `Store a model configuration for ${whose}`,
      wish: "write",
      body: createModelSchema,
      answers: { 201: STORED, 409: CONFLICT },
      handle: create(deps),
    },
    {
      method: "get",
      path: "/own",
      verb: "listOwn",
      summary: `The model configurations that ${whose} has stored`,
      wish: "read",
      answers: { 200: { description: "The configurations", schema: z.array(storedModelSchema) } },
      handle: own(deps),
    },
    {
      method: "get",
      path: "/default",
      verb: "getDefault",
      summary: `The model configuration that is used for ${whose}`,
      wish: "read",
      answers: { 200: shown, 404: { description: "There is none" } },
      handle: actions.usedOne,
    },
    {
      method: "put",
      path: "/default/:config_id",
      verb: "setDefault",
      summary: `Choose the model configuration that is used for ${whose}`,
      wish: "write",
      answers: { 200: shown },
      handle: actions.choose,
    },
    {
      method: "get",
      path: "/:config_id",
      verb: "get",
      summary: "One model configuration",
      wish: "read",
      answers: { 200: shown },
      handle: actions.show,
    },
    {
      method: "put",
      path: "/:config_id",
      verb: "update",
      summary: "Change a model configuration: what is left out stays, null clears",
      wish: "write",
      body: updateModelSchema,
      answers: { 200: STORED, 409: CONFLICT },
      handle: update(deps, actions.find),
    },
    {
      method: "delete",
      path: "/:config_id",
      verb: "delete",
      summary: "Delete a model configuration",
      wish: "write",
      answers: { 204: { description: "It is gone, with its key" } },
      handle: remove(deps, actions.find),
    },
    {
      method: "post",
      path: "/:config_id/test",
      verb: "test",
      summary: "Try a model configuration with one tiny call",
      wish: ofUser ? "read" : "write",
      answers: { 200: { description: "What came of it", schema: trialSchema } },
      handle: trial(deps, actions.find),
    },
  ];
}
