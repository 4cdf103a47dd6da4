// Which model configurations a user has, their own and those of their groups, and which of them is used.
import { canChat, type SourcedModel, type StoredModel } from "./stored_model.ts";

/** A group of GNS3's. */
export interface Group {
  id: string;
  name: string;
}

/** A group of the user's, with its configurations. */
export interface GroupModels extends Group {
  configs: readonly StoredModel[];
}

/** The user's own first, then those of their groups, each with where it comes from. */
export function inherited(own: readonly StoredModel[], groups: readonly GroupModels[]): SourcedModel[] {
  return [
    ...own.map((config) => ({ ...config, source: "user" as const, group_name: null })),
    ...groups.flatMap(({ name, configs }) =>
      configs.map((config) => ({ ...config, source: "group" as const, group_name: name }))
    ),
  ];
}

/**
 * The one that is used: what the user chose (`chosen` may be a group's), else the default of a group, else the first that
 * can chat. A choice that the user does not have any more does not count.
 */
export function effective(configs: readonly SourcedModel[], chosen: string | undefined): SourcedModel | null {
  return configs.find(({ config_id }) => config_id === chosen) ??
    configs.find(({ source, is_default }) => source === "group" && is_default) ??
    configs.find(({ model_type }) => canChat(model_type)) ??
    configs[0] ?? null;
}
