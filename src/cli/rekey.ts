// `gns3-copilot rekey`: encrypts every stored API key anew, with a new key. The server may run meanwhile.
import { readConfig } from "../config.ts";
import { ModelConfigs } from "../storage/model_configs.ts";
import { addKeyToFile, dropOldKeys, openSecrets } from "../storage/secrets.ts";
import { openStateDatabase } from "../storage/state_database.ts";
import type { Command } from "./command.ts";
import { withStateDirectory } from "./directories.ts";

const OPTIONS = `  --state-dir DIR  the server's state directory, as the server has it
  --config FILE    the server's configuration file

Without GNS3_COPILOT_SECRET_KEY a new key is made in the state directory, and the old one is
deleted. With it, the API keys are encrypted with that key; to replace it, set it to the new
key and the old one ("NEW,OLD"), restart the server, run rekey, and leave the old one out.`;

export const rekey: Command = {
  name: "rekey",
  summary: "encrypt the stored API keys with a new key",
  options: () => OPTIONS,
  run(args, { env, print }) {
    const { config } = readConfig({ args, env, read: Deno.readTextFileSync });
    const { stateDir, secretKeys } = withStateDirectory(config, env);
    const inFile = secretKeys.length === 0;
    using database = openStateDatabase(stateDir, "must exist");
    if (inFile) addKeyToFile(stateDir);
    // From here on the server, too, encrypts with the new key: it reads the file each time.
    const { resealed, lost } = new ModelConfigs(database, openSecrets({ stateDir, secretKeys })).resealAll();
    dropOldKeys(stateDir, inFile ? "newest" : "none");
    const place = inFile ? "a new key in the state directory" : "the first key of GNS3_COPILOT_SECRET_KEY";
    print(`Encrypted ${count(resealed)} with ${place}. Backups from before need the old key.`);
    if (lost > 0) print(`${count(lost)} could not be read and must be entered again.`);
    return Promise.resolve(0);
  },
};

function count(keys: number): string {
  return `${keys} API key${keys === 1 ? "" : "s"}`;
}
