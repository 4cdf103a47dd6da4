// Which model configuration a user's turn runs with: the user's own choice, a group's, or the one for everybody.
import { AppError } from "../domain/error.ts";
import { effective, type Group, inherited } from "../domain/inheritance.ts";
import { toModelConfig } from "../domain/model_change.ts";
import type { ModelConfig } from "../domain/model_config.ts";
import type { Caller } from "../domain/scope.ts";
import { canChat, type Owner, type SourcedModel } from "../domain/stored_model.ts";
import type { Memberships } from "../gns3/memberships.ts";
import type { Logger } from "../log.ts";
import type { AddressGuard } from "../models/address_guard.ts";
import type { ModelConfigs } from "../storage/model_configs.ts";

/** The configuration of a turn. */
export interface ChosenModel {
  config: ModelConfig;
  /** It is a group's, on whose account its tokens are. */
  groupId?: string;
  /** To be asked before each call; see `RequestScope`. A name is looked up only then, so that no answer waits for it. */
  mayCall?: () => Promise<void>;
}

export interface ModelChoiceOptions {
  configs: ModelConfigs;
  memberships: Memberships;
  /** The configuration for everybody who has none. */
  fallback: ModelConfig | null;
  guard: AddressGuard;
  log: Logger;
}

/** What a user has, and what of it is used. `groupsKnown`: false when GNS3 did not tell in which groups the user is. */
export interface UserModels {
  configs: SourcedModel[];
  default_config: SourcedModel | null;
  groupsKnown: boolean;
}

/** What users have, and what their turns run with. */
export interface ModelChoice {
  /** Asks GNS3 for the user's groups where any group has a configuration. */
  modelsOf(userId: string, caller: Caller, signal?: AbortSignal): Promise<UserModels>;
  /**
   * For a turn; asks GNS3 only when the answer depends on groups. Throws `bad_request`
   * when there is no configuration, or one that cannot be used; `forbidden` for an endpoint that may not be called.
   */
  modelFor(caller: Caller, signal?: AbortSignal): Promise<ChosenModel>;
  /** A stored configuration with its key. Throws as `modelFor`. */
  open(model: SourcedModel): ChosenModel;
}

export function modelChoice({ configs, memberships, fallback, guard, log }: ModelChoiceOptions): ModelChoice {
  let warned = false;

  async function modelsOf(userId: string, caller: Caller, signal?: AbortSignal) {
    const owner: Owner = { kind: "user", id: userId };
    const groups = configs.anyOfGroups() ? await memberships.of(userId, caller, signal) : [];
    if (!groups && !warned) {
      warned = true;
      log.warn(
        "GNS3 does not tell this server in which groups users are, so configurations of groups are not used. " +
          "That ends when a super administrator calls this server.",
      );
    }
    const all = inherited(
      configs.list(owner),
      (groups ?? []).map((group: Group) => ({
        ...group,
        configs: configs.list({ kind: "group", id: group.id }),
      })),
    );
    return {
      configs: all,
      default_config: effective(all, configs.defaultOf(owner)),
      groupsKnown: groups !== undefined,
    };
  }

  function open(model: SourcedModel): ChosenModel {
    if (!canChat(model.model_type)) {
      throw new AppError(
        "bad_request",
        `The model configuration "${model.name}" is of type ${model.model_type}, which cannot chat. ` +
          "Make another one the default.",
      );
    }
    const apiKey = configs.apiKey(model);
    if (apiKey) log.secret(apiKey);
    const config = toModelConfig(model.config, apiKey);
    guard.written(config);
    return {
      config,
      ...(model.group_id ? { groupId: model.group_id } : {}),
      mayCall: () => guard.lookedUp(config),
    };
  }

  return {
    modelsOf: (userId, caller, signal) => modelsOf(userId, caller, signal),
    open,
    async modelFor(caller, signal) {
      const own = chosenOwn(configs, caller.userId);
      if (own) return open(own);
      const { default_config, groupsKnown } = await modelsOf(caller.userId, caller, signal);
      if (default_config) return open(default_config);
      if (fallback) return { config: fallback };
      throw noModel(groupsKnown);
    },
  };
}

/** The user's own default: the usual case, for which no group need be known. */
function chosenOwn(configs: ModelConfigs, userId: string): SourcedModel | undefined {
  const owner: Owner = { kind: "user", id: userId };
  const chosen = configs.defaultOf(owner);
  const model = chosen === undefined ? undefined : configs.get(owner, chosen);
  return model && { ...model, source: "user", group_name: null };
}

function noModel(groupsKnown: boolean): AppError {
  const groups = groupsKnown
    ? ""
    : " A configuration of a group of yours cannot be used at the moment: GNS3 does not tell this server in which groups you are.";
  return new AppError(
    "bad_request",
    "LLM configuration not found. Please configure your LLM settings first: " +
      `add a model configuration to your AI profile.${groups}`,
  );
}
