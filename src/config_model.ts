// The model for everyone who has stored none: from the configuration file's `model:` section and from the environment.
import { endpointOf } from "./domain/endpoint.ts";
import { AppError } from "./domain/error.ts";
import { DEFAULT_TEMPERATURE, type ModelConfig, modelConfigSchema } from "./domain/model_config.ts";
import { suggest } from "./suggest.ts";

export type FallbackModel = Readonly<ModelConfig>;
type Field = keyof ModelConfig;

const FIELDS = Object.keys(modelConfigSchema.shape) as Field[];

/** Variable → field. The OPENAI_… ones are everybody's: alone they do not make a model. */
export const MODEL_VARIABLES: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["GNS3_COPILOT_PROVIDER", "provider"],
  ["OPENAI_BASE_URL", "base_url"],
  ["OPENAI_API_KEY", "api_key"],
  ["OPENAI_MODEL", "model"],
  ["GNS3_COPILOT_CONTEXT_LIMIT", "context_limit"],
  ["GNS3_COPILOT_CONTEXT_STRATEGY", "context_strategy"],
  ["GNS3_COPILOT_COPILOT_MODE", "copilot_mode"],
  ["GNS3_COPILOT_TEMPERATURE", "temperature"],
  ["GNS3_COPILOT_MAX_TOKENS", "max_tokens"],
]);
const NUMBERS: readonly Field[] = ["context_limit", "temperature", "max_tokens"];

const refuse = (sentence: string) => new AppError("bad_request", sentence);

function fromFile(section: unknown, file: string | undefined): Map<Field, unknown> {
  if (section === undefined || section === null) return new Map();
  if (typeof section !== "object" || Array.isArray(section)) {
    throw refuse(`model in ${file} must hold keys and values.`);
  }
  for (const name of Object.keys(section)) {
    if ((FIELDS as string[]).includes(name)) continue;
    const near = suggest(name, FIELDS);
    throw refuse(
      `Unknown key ${name} of model in ${file}.${
        near ? ` Did you mean ${near}?` : ` Known: ${FIELDS.join(", ")}.`
      }`,
    );
  }
  return new Map(Object.entries(section).filter(([, value]) => value !== null)) as Map<Field, unknown>;
}

function fromEnvironment(env: Readonly<Record<string, string>>): Map<Field, unknown> {
  const values = new Map<Field, unknown>();
  for (const [variable, field] of MODEL_VARIABLES) {
    const given = env[variable]?.trim();
    if (!given) continue;
    const asNumber = NUMBERS.includes(field) && Number.isFinite(Number(given));
    values.set(field, asNumber ? Number(given) : given);
  }
  return values;
}

/** How to name a field to the person who must mend it. */
function where(
  field: Field,
  file: ReadonlyMap<Field, unknown>,
  env: ReadonlyMap<Field, unknown>,
  path?: string,
): string {
  const variable = [...MODEL_VARIABLES].find(([, name]) => name === field)?.[0];
  const inFile = `${field} of model in ${path}`;
  if (variable && (env.has(field) || file.size === 0)) return variable;
  return variable && !file.has(field) ? `${inFile}, or ${variable}` : inFile;
}

/** Refuses what no call could be made with, before anybody waits for an answer. */
function checkEndpoint(model: ModelConfig, place: string): void {
  try {
    endpointOf(model);
  } catch (error) {
    throw error instanceof AppError ? refuse(`${error.message} Set ${place}.`) : error;
  }
}

/**
 * The fallback model, or null when nothing names one. Environment before file, field by field; but a key from the
 * environment never replaces the one that the file gives for its own endpoint, because OPENAI_API_KEY is often set for
 * other programs. Throws AppError with a sentence that names what is missing or wrong.
 */
export function readFallbackModel(
  section: unknown,
  path: string | undefined,
  env: Readonly<Record<string, string>>,
): { model: FallbackModel | null; notes: string[] } {
  const file = fromFile(section, path);
  const environment = fromEnvironment(env);
  const notes: string[] = [];
  const ours = [...environment.keys()].some((field) => field !== "base_url" && field !== "api_key");
  if (file.size === 0 && !ours) {
    if (environment.has("api_key")) notes.push("OPENAI_API_KEY is not used: OPENAI_MODEL names no model.");
    return { model: null, notes };
  }
  if (
    file.has("base_url") && file.has("api_key") && environment.has("api_key") && !environment.has("base_url")
  ) {
    environment.delete("api_key");
    notes.push(`OPENAI_API_KEY is not used: ${path} gives a key for its own base_url.`);
  }
  const given = new Map([...file, ...environment]);
  if (!given.has("model")) {
    throw refuse(`The model's name is missing: set ${where("model", file, environment, path)}.`);
  }
  const limit = given.get("context_limit");
  if (limit === undefined) {
    const place = where("context_limit", file, environment, path);
    throw refuse(
      `context_limit is required in LLM config: set ${place} to the model's context window in thousands of tokens.`,
    );
  }
  if (!modelConfigSchema.shape.context_limit.safeParse(limit).success) {
    const place = where("context_limit", file, environment, path);
    throw refuse(
      `Invalid context_limit: ${limit}. ${place} must be a whole number of thousands of tokens above 0.`,
    );
  }
  const result = modelConfigSchema.safeParse({
    temperature: DEFAULT_TEMPERATURE,
    ...Object.fromEntries(given),
  });
  if (!result.success) {
    const issue = result.error.issues[0]!;
    throw refuse(
      `${where(issue.path[0] as Field, file, environment, path)} is not possible: ${issue.message}.`,
    );
  }
  checkEndpoint(result.data, where("base_url", file, environment, path));
  return { model: result.data, notes };
}
