// Builds what stored model configurations need: the state database, the keys' encryption, the guards, and the routes.
import { type ModelChoice, modelChoice } from "./agent/model_choice.ts";
import { TurnLimits } from "./agent/turn_limits.ts";
import type { Config } from "./config.ts";
import type { Access } from "./gns3/access.ts";
import { Gns3Client } from "./gns3/client.ts";
import { Memberships } from "./gns3/memberships.ts";
import type { ServiceAccount } from "./gns3/service_account.ts";
import { credentialOf } from "./http/auth.ts";
import { modelRoutes } from "./http/routes/model_configs.ts";
import type { ModelDeps } from "./http/routes/model_handlers.ts";
import type { Route } from "./http/routes/route.ts";
import type { Logger } from "./log.ts";
import { addressGuard } from "./models/address_guard.ts";
import { ModelConfigs } from "./storage/model_configs.ts";
import { openSecrets } from "./storage/secrets.ts";
import { openStateDatabase } from "./storage/state_database.ts";
import { TokenUsage } from "./storage/token_usage.ts";

/** Longest trial of a model configuration, in milliseconds: somebody is waiting in front of a form. */
const TRIAL_MS = 30_000;

export interface StoredModels {
  choice: ModelChoice;
  limits: TurnLimits;
  memberships: Memberships;
  routes: Route[];
  /** Told the port on which this server listens: users' configurations may not point there. */
  listening(port: number): void;
  close(): void;
}

/** Throws `AppError` when the state database cannot be used. */
export function storedModels(
  config: Config,
  { access, account, log }: { access: Access; account?: ServiceAccount; log: Logger },
): StoredModels {
  const state = openStateDatabase(config.stateDir);
  const configs = new ModelConfigs(state, openSecrets(config));
  warnOfLostKeys(configs, log);
  const memberships = new Memberships({
    baseUrl: config.gns3Url,
    service: () => account?.credential().catch(() => undefined) ?? Promise.resolve(undefined),
  });
  let port = config.port;
  const guard = addressGuard({
    hosts: config.modelHosts,
    own: () => [config.gns3Url, ownUrl(config.host, port)],
  });
  const choice = modelChoice({ configs, memberships, fallback: config.model, guard, log });
  const limits = new TurnLimits(config, new TokenUsage(state));
  const deps: ModelDeps = {
    configs,
    choice,
    limits,
    guard,
    identify: async (c) => {
      const caller = await access.identify(credentialOf(c), c.req.raw.signal);
      memberships.met(caller);
      return caller;
    },
    gns3For: ({ credential }) => new Gns3Client({ baseUrl: config.gns3Url, credential }),
    // Loaded when it is used: LangChain comes with it.
    tryModel: async ({ config: model, mayCall }, signal) => {
      const { tryModel } = await import("./models/try_model.ts");
      const timeoutMs = Math.min(TRIAL_MS, config.modelTimeout * 1000);
      return await tryModel(model, { signal, timeoutMs, mayCall });
    },
  };
  return {
    choice,
    limits,
    memberships,
    routes: [...modelRoutes("user", deps), ...modelRoutes("group", deps)],
    listening: (given) => void (port = given),
    close: () => state.close(),
  };
}

/** Where this server is reached from itself; an address that means "all" is any of this machine. */
function ownUrl(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function warnOfLostKeys(configs: ModelConfigs, log: Logger): void {
  const lost = configs.countLost();
  if (lost === 0) return;
  log.warn(
    `${lost} stored API key(s) cannot be read with this server's key: secret.key in the state directory, or ` +
      "GNS3_COPILOT_SECRET_KEY, is another one now. Put the old one back, or have the API keys entered again.",
  );
}
