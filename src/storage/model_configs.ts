// The stored model configurations of users and groups. Their API keys are sealed; only `apiKey` opens one, for a turn.
import { AppError } from "../domain/error.ts";
import { changeSettings, keyChange, settingsOf } from "../domain/model_change.ts";
import type {
  CreateModel,
  KeyStatus,
  ModelSettings,
  ModelType,
  Owner,
  StoredModel,
  UpdateModel,
} from "../domain/stored_model.ts";
import type { Database, Row } from "./connection.ts";
import type { Secrets } from "./secrets.ts";
import { jsonObject } from "./session_row.ts";

/** Configurations that one owner may have. */
const MOST = 100;

export interface ModelConfigsOptions {
  newId?: () => string;
  now?: () => Date;
}

/** What a change would make of a configuration; for checks before anything is written. */
export interface Change {
  before?: ModelSettings;
  after: ModelSettings;
  /** The stored key stays and would be used with the new settings, and somebody else entered it. */
  keepsForeignKey: boolean;
}

/** A check of a change, called inside the transaction that makes it; what it throws undoes everything. */
export type Check = (change: Change) => void;

/** Every method takes the owner: another owner's configuration is answered as one that does not exist. */
export class ModelConfigs {
  readonly #newId: () => string;
  readonly #now: () => Date;

  constructor(
    private readonly db: Database,
    private readonly secrets: Secrets,
    options: ModelConfigsOptions = {},
  ) {
    this.#newId = options.newId ?? (() => crypto.randomUUID());
    this.#now = options.now ?? (() => new Date());
  }

  /** In the order in which they were made. */
  list(owner: Owner): StoredModel[] {
    return this.db.prepare("SELECT * FROM model_configs WHERE owner_kind = ? AND owner_id = ? ORDER BY id")
      .all(owner.kind, owner.id).map((row) => this.#toModel(row));
  }

  get(owner: Owner, configId: string): StoredModel | undefined {
    const row = this.#row(owner, configId);
    return row && this.#toModel(row);
  }

  /** Whether any group has a configuration: if not, nobody's groups need be looked up. */
  anyOfGroups(): boolean {
    return this.db.prepare("SELECT 1 FROM model_configs WHERE owner_kind = 'group' LIMIT 1").get() !==
      undefined;
  }

  /** The configuration that the owner chose as default: one of their own, or for a user also one of a group. */
  defaultOf(owner: Owner): string | undefined {
    const row = this.db.prepare("SELECT config_id FROM model_defaults WHERE owner_kind = ? AND owner_id = ?")
      .get(owner.kind, owner.id);
    return row && String(row.config_id);
  }

  /** Throws `conflict` when the owner has too many. `by` is the user who entered the key. */
  create(owner: Owner, body: CreateModel, by: string): StoredModel {
    const settings = settingsOf(body);
    return this.db.transaction(() => {
      if (this.list(owner).length >= MOST) {
        throw new AppError("conflict", `There are ${MOST} model configurations already: delete one first.`);
      }
      const id = this.#newId();
      const key = keyChange(body.api_key);
      const now = this.#now().toISOString();
      this.db.prepare(
        `INSERT INTO model_configs (config_id, owner_kind, owner_id, name, model_type, settings, api_key, key_set_by,
           version, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)`,
      ).run(
        id,
        owner.kind,
        owner.id,
        body.name,
        body.model_type,
        JSON.stringify(settings),
        key ? this.secrets.seal(key, id) : null,
        key ? by : null,
        now,
        now,
      );
      if (body.is_default) this.#setDefault(owner, id);
      return this.#found(owner, id);
    });
  }

  /** Throws `not_found`, `conflict` for another `expected_version`, and what `check` throws. */
  update(owner: Owner, configId: string, body: UpdateModel, by: string, check: Check): StoredModel {
    return this.db.transaction(() => {
      const row = this.#row(owner, configId);
      if (!row) throw notFound();
      const version = Number(row.version);
      if (typeof body.expected_version === "number" && body.expected_version !== version) {
        throw new AppError(
          "conflict",
          `This model configuration was changed meanwhile (it is at version ${version}). Load it again.`,
          { details: { version } },
        );
      }
      const before = jsonObject(row.settings) as ModelSettings;
      const after = changeSettings(before, body);
      const key = keyChange(body.api_key);
      check({
        before,
        after,
        keepsForeignKey: key === undefined && row.api_key !== null && row.key_set_by !== by,
      });
      this.db.prepare(
        `UPDATE model_configs SET name = ?, model_type = ?, settings = ?, version = ?, updated_at = ?
           WHERE config_id = ?`,
      ).run(
        body.name ?? row.name!,
        body.model_type ?? row.model_type!,
        JSON.stringify(after),
        version + 1,
        this.#now().toISOString(),
        configId,
      );
      if (key !== undefined) {
        this.db.prepare("UPDATE model_configs SET api_key = ?, key_set_by = ? WHERE config_id = ?")
          .run(key ? this.secrets.seal(key, configId) : null, key ? by : null, configId);
      }
      if (body.is_default) this.#setDefault(owner, configId);
      else if (body.is_default === false && this.defaultOf(owner) === configId) this.clearDefault(owner);
      return this.#found(owner, configId);
    });
  }

  /** False for an unknown one. */
  delete(owner: Owner, configId: string): boolean {
    return this.db.transaction(() => {
      if (!this.#row(owner, configId)) return false;
      this.db.prepare("DELETE FROM model_configs WHERE config_id = ?").run(configId);
      this.db.prepare("DELETE FROM model_defaults WHERE config_id = ?").run(configId);
      return true;
    });
  }

  /** `configId` must be the owner's own, or for a user one that a group of theirs has: the caller has looked. */
  setDefault(owner: Owner, configId: string): void {
    this.db.transaction(() => this.#setDefault(owner, configId));
  }

  clearDefault(owner: Owner): void {
    this.db.prepare("DELETE FROM model_defaults WHERE owner_kind = ? AND owner_id = ?").run(
      owner.kind,
      owner.id,
    );
  }

  /** The API key of a configuration; undefined when it has none. Throws `bad_request` when it cannot be read any more. */
  apiKey({ config_id, name }: Pick<StoredModel, "config_id" | "name">): string | undefined {
    const row = this.db.prepare("SELECT api_key FROM model_configs WHERE config_id = ?").get(config_id);
    if (!(row?.api_key instanceof Uint8Array)) return undefined;
    const key = this.secrets.open(row.api_key, config_id);
    if (key !== undefined) return key;
    throw new AppError(
      "bad_request",
      `The API key of the model configuration "${name}" can no longer be read. Enter it again in that configuration.`,
    );
  }

  /** How many keys are stored that cannot be read with the keys of this server. */
  countLost(): number {
    return this.#sealed().filter(({ id, sealed }) => this.secrets.open(sealed, id) === undefined).length;
  }

  /** Seals every key anew with the first key of this server. Keys that cannot be read stay as they are. */
  resealAll(): { resealed: number; lost: number } {
    return this.db.transaction(() => {
      const counts = { resealed: 0, lost: 0 };
      for (const { id, sealed } of this.#sealed()) {
        const key = this.secrets.open(sealed, id);
        if (key === undefined) {
          counts.lost++;
          continue;
        }
        this.db.prepare("UPDATE model_configs SET api_key = ? WHERE config_id = ?")
          .run(this.secrets.seal(key, id), id);
        counts.resealed++;
      }
      return counts;
    });
  }

  #sealed(): { id: string; sealed: Uint8Array }[] {
    return this.db.prepare("SELECT config_id, api_key FROM model_configs WHERE api_key IS NOT NULL").all()
      .map(({ config_id, api_key }) => ({ id: String(config_id), sealed: api_key as Uint8Array }));
  }

  #row(owner: Owner, configId: string): Row | undefined {
    return this.db.prepare(
      "SELECT * FROM model_configs WHERE config_id = ? AND owner_kind = ? AND owner_id = ?",
    ).get(configId, owner.kind, owner.id);
  }

  #found(owner: Owner, configId: string): StoredModel {
    const model = this.get(owner, configId);
    if (!model) throw notFound();
    return model;
  }

  #setDefault(owner: Owner, configId: string): void {
    this.db.prepare(
      `INSERT INTO model_defaults (owner_kind, owner_id, config_id) VALUES (?, ?, ?)
         ON CONFLICT (owner_kind, owner_id) DO UPDATE SET config_id = excluded.config_id`,
    ).run(owner.kind, owner.id, configId);
  }

  #toModel(row: Row): StoredModel {
    const owner = { kind: row.owner_kind as Owner["kind"], id: String(row.owner_id) };
    const id = String(row.config_id);
    return {
      config_id: id,
      name: String(row.name),
      model_type: row.model_type as ModelType,
      config: { ...jsonObject(row.settings) as ModelSettings, api_key: null },
      user_id: owner.kind === "user" ? owner.id : null,
      group_id: owner.kind === "group" ? owner.id : null,
      is_default: this.defaultOf(owner) === id,
      version: Number(row.version),
      created_at: String(row.created_at),
      updated_at: String(row.updated_at),
      api_key_status: this.#keyStatus(id, row.api_key),
    };
  }

  #keyStatus(id: string, sealed: Row[string] | undefined): KeyStatus {
    if (!(sealed instanceof Uint8Array)) return "none";
    return this.secrets.open(sealed, id) === undefined ? "needs re-entry" : "stored";
  }
}

/** What an unknown configuration, and another owner's, is answered with. */
export function notFound(): AppError {
  return new AppError("not_found", "Model configuration not found.");
}
