// How flags, environment and configuration file become one checked, frozen Config.
import { parse as parseYaml, YAMLParseError } from "yaml";
import { type FallbackModel, MODEL_VARIABLES, readFallbackModel } from "./config_model.ts";
import { AppError, errorText } from "./domain/error.ts";
import {
  flagOf,
  PREFIX,
  SETTING_KEYS,
  type SettingKey,
  SETTINGS,
  type Settings,
  variableOf,
} from "./settings.ts";
import { suggest } from "./suggest.ts";

/** Every option, checked and frozen; a plain object that can be sent to a Worker. Times are in seconds. */
export type Config = Readonly<Settings> & {
  /** The model for everyone who has stored none; null: there is none. */
  readonly model: FallbackModel | null;
  /** The password of `--gns3-user`; null: there is no service account. */
  readonly gns3Password: string | null;
  /** What encrypts stored API keys, the newest first; none: a key file in the state directory does. */
  readonly secretKeys: readonly string[];
};

/** Options of the contract that this version does not have yet. */
const LATER = [
  "protocol",
  "database-url",
  "open",
];
/** The only place where the service account's password is looked for: flags and files are seen by too many. */
export const PASSWORD_VARIABLE = `${PREFIX}GNS3_PASSWORD`;

const BY_FLAG = new Map(SETTING_KEYS.map((key) => [flagOf(key), key]));

/** Not an option: a flag can be read by every user of the machine, a file is too easily shared. */
const SECRET_KEY = `${PREFIX}SECRET_KEY`;
const SHORTEST_SECRET_KEY = 16;
/** Variables of ours that are no options. */
const NO_SETTINGS = new Set([`${PREFIX}CONFIG`, PASSWORD_VARIABLE, SECRET_KEY]);

const refuse = (sentence: string) => new AppError("bad_request", sentence);

/** The values that one source gives, and how that source calls them. */
interface Source {
  values: Map<SettingKey, unknown>;
  name(key: SettingKey): string;
}

/** What a text means for a setting of this kind; text that means nothing is left for the check to refuse. */
function fromText(key: SettingKey, given: string): unknown {
  const { fallback } = SETTINGS[key];
  if (typeof fallback === "number") return /^-?(\d+\.?\d*|\.\d+)$/.test(given.trim()) ? Number(given) : given;
  if (typeof fallback === "boolean") {
    const word = given.trim().toLowerCase();
    return ["true", "1", "yes", "on"].includes(word) ||
      (["false", "0", "no", "off"].includes(word) ? false : given);
  }
  if (Array.isArray(fallback)) {
    return given.split(",").map((part) => part.trim()).filter((part) => part !== "");
  }
  return given;
}

function unknownName(
  shown: string,
  name: string,
  known: Iterable<string>,
  show: (name: string) => string,
): AppError {
  if (name === "gns3-password") {
    return refuse(`${shown} is not an option: the password is only taken from ${PASSWORD_VARIABLE}.`);
  }
  if (LATER.includes(name)) return refuse(`${shown} is not available in this version.`);
  const near = suggest(name, known);
  return refuse(
    `Unknown option ${shown}.${near ? ` Did you mean ${show(near)}?` : " --help lists the options."}`,
  );
}

function fromFlags(args: readonly string[]): { source: Source; file: string | undefined } {
  const values = new Map<SettingKey, unknown>();
  let file: string | undefined;
  for (let i = 0; i < args.length; i++) {
    const [, name, inline] = /^--([^=]+)(?:=(.*))?$/s.exec(args[i]!) ?? [];
    if (!name) throw refuse(`Unexpected argument ${args[i]}. Options start with --; --help lists them.`);
    const key = BY_FLAG.get(name);
    if (!key && name !== "config") {
      throw unknownName(`--${name}`, name, [...BY_FLAG.keys(), "config"], (near) => `--${near}`);
    }
    const next = args[i + 1];
    if (key && typeof SETTINGS[key].fallback === "boolean") {
      const takesNext = inline === undefined && (next === "true" || next === "false");
      values.set(key, fromText(key, inline ?? (takesNext ? args[++i]! : "true")));
      continue;
    }
    if (inline === undefined && (next === undefined || next.startsWith("--"))) {
      throw refuse(`--${name} needs a value.`);
    }
    const given = inline ?? args[++i]!;
    if (key) values.set(key, fromText(key, given));
    else file = given;
  }
  return { source: { values, name: (key) => `--${flagOf(key)}` }, file };
}

/** An empty variable counts as one that is not set. */
function fromEnvironment(env: Readonly<Record<string, string>>): Source {
  const values = new Map<SettingKey, unknown>();
  for (const [variable, given] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || NO_SETTINGS.has(variable) || MODEL_VARIABLES.has(variable)) continue;
    const name = variable.slice(PREFIX.length).toLowerCase().replaceAll("_", "-");
    const key = BY_FLAG.get(name);
    if (!key) throw unknownName(variable, name, BY_FLAG.keys(), (near) => variableOf(BY_FLAG.get(near)!));
    if (given !== "") values.set(key, fromText(key, given));
  }
  return { values, name: variableOf };
}

function fromFile(
  file: string | undefined,
  read: (path: string) => string,
): { source: Source; model: unknown } {
  const values = new Map<SettingKey, unknown>();
  const source = { values, name: (key: SettingKey) => `${flagOf(key).replaceAll("-", "_")} in ${file}` };
  if (file === undefined) return { source, model: undefined };
  let content: unknown;
  try {
    content = parseYaml(read(file)) ?? {};
  } catch (error) {
    const why = error instanceof YAMLParseError
      ? `is not YAML: ${errorText(error).split("\n")[0]}`
      : "cannot be read";
    throw refuse(`The configuration file ${file} ${why}.`);
  }
  if (typeof content !== "object" || Array.isArray(content)) {
    throw refuse(`The configuration file ${file} must hold keys and values.`);
  }
  const names = new Map(SETTING_KEYS.map((key) => [flagOf(key).replaceAll("-", "_"), key]));
  const { model, ...rest } = content as Record<string, unknown>;
  for (const [name, given] of Object.entries(rest)) {
    const key = names.get(name);
    if (!key) {
      throw unknownName(
        `${name} in ${file}`,
        name.replaceAll("_", "-"),
        BY_FLAG.keys(),
        (near) => near.replaceAll("-", "_"),
      );
    }
    if (given !== null) {
      values.set(
        key,
        Array.isArray(SETTINGS[key].fallback) && typeof given === "string" ? fromText(key, given) : given,
      );
    }
  }
  return { source, model };
}

/** `verbose` and `quiet` are short for a level of their own source, so that a flag still wins over the file. */
function expandShort({ values }: Source): void {
  if (values.get("verbose") === true && values.get("quiet") === true) {
    throw refuse("--verbose and --quiet exclude each other.");
  }
  if (values.has("logLevel")) return;
  if (values.get("verbose") === true) values.set("logLevel", "debug");
  if (values.get("quiet") === true) values.set("logLevel", "error");
}

function check(key: SettingKey, sources: readonly Source[]): unknown {
  const source = sources.find(({ values }) => values.has(key));
  if (!source) return SETTINGS[key].fallback;
  const given = source.values.get(key);
  const result = SETTINGS[key].type.safeParse(given);
  if (result.success) return result.data;
  const shown = JSON.stringify(given) ?? String(given);
  throw refuse(
    `${source.name(key)} must be ${SETTINGS[key].must}${shown.includes("@") ? "" : `, not ${shown}`}.`,
  );
}

/**
 * Reads every option: flags before environment before the file that `--config` or GNS3_COPILOT_CONFIG names.
 * `read` gives a file's text. `notes` are sentences for the person who starts the server.
 * Throws AppError with one sentence that names the option at fault.
 */
export function readConfig(input: {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  read(path: string): string;
}): { config: Config; notes: string[] } {
  const flags = fromFlags(input.args);
  const environment = fromEnvironment(input.env);
  const file = flags.file ?? (input.env[`${PREFIX}CONFIG`] || undefined);
  const { source, model } = fromFile(file, input.read);
  const sources = [flags.source, environment, source];
  sources.forEach(expandShort);
  const settings = Object.fromEntries(SETTING_KEYS.map((key) => [key, check(key, sources)])) as Settings;
  const fallback = readFallbackModel(model, file, input.env);
  const account = serviceAccount(settings.gns3User, input.env[PASSWORD_VARIABLE] ?? "");
  const secretKeys = readSecretKeys(input.env);
  return {
    config: freezeConfig({ ...settings, model: fallback.model, gns3Password: account.password, secretKeys }),
    notes: [...fallback.notes, ...account.notes],
  };
}

function serviceAccount(user: string, password: string): { password: string | null; notes: string[] } {
  if (user && !password) {
    throw refuse(`The password of --gns3-user ${user} is missing: set ${PASSWORD_VARIABLE}.`);
  }
  const unused = !user && password !== "";
  return {
    password: user ? password : null,
    notes: unused ? [`${PASSWORD_VARIABLE} is not used: --gns3-user names no user.`] : [],
  };
}

/** Separated by commas, so that a key can be replaced: the first encrypts, all decrypt. */
function readSecretKeys(env: Readonly<Record<string, string>>): string[] {
  const keys = (env[SECRET_KEY] ?? "").split(",").map((key) => key.trim()).filter((key) => key !== "");
  if (keys.some((key) => key.length < SHORTEST_SECRET_KEY)) {
    throw refuse(
      `${SECRET_KEY} must have at least ${SHORTEST_SECRET_KEY} characters. \`openssl rand -base64 32\` prints a good one.`,
    );
  }
  return keys;
}

/** Freezes a configuration with everything in it. */
export function freezeConfig(config: Config): Config {
  Object.freeze(config.corsOrigins);
  Object.freeze(config.modelHosts);
  Object.freeze(config.secretKeys);
  if (config.model) Object.freeze(config.model);
  return Object.freeze(config);
}
