// What the tests of the state database share: a state directory that vanishes afterwards, and what is in it.
import type { CreateModel } from "../../src/domain/stored_model.ts";
import { createModelSchema } from "../../src/domain/stored_model.ts";
import { ModelConfigs } from "../../src/storage/model_configs.ts";
import { openSecrets } from "../../src/storage/secrets.ts";
import { openStateDatabase } from "../../src/storage/state_database.ts";
import { filesBelow } from "../fakes/sweep.ts";

/** Runs `work` with an empty directory and removes it afterwards. */
export async function withStateDir(work: (stateDir: string) => unknown): Promise<void> {
  const stateDir = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "state-" }));
  try {
    await work(stateDir);
  } finally {
    Deno.removeSync(stateDir, { recursive: true });
  }
}

/** Opens the configurations in `stateDir`, works with them and closes them. */
export function withConfigs<T>(
  stateDir: string,
  work: (configs: ModelConfigs) => T,
  secretKeys: readonly string[] = [],
): T {
  using database = openStateDatabase(stateDir);
  return work(new ModelConfigs(database, openSecrets({ stateDir, secretKeys })));
}

/** A checked body of a request for a new configuration. */
export function body(parts: Record<string, unknown> = {}): CreateModel {
  return createModelSchema.parse({
    name: "one",
    provider: "openai",
    base_url: "http://127.0.0.1:9/v1",
    model: "m-1",
    context_limit: 8,
    ...parts,
  });
}

/** Whether any file below `dir` holds this text. */
export function holds(dir: string, text: string): boolean {
  return [...filesBelow(dir).values()].some((bytes) => bytes.includes(text));
}
