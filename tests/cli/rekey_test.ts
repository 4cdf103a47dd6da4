// `gns3-copilot rekey` as it is run from a shell.
import assert from "node:assert/strict";
import { join } from "node:path";
import { startFromSource } from "../fakes/program.ts";
import { body, withConfigs, withStateDir } from "../storage/state.ts";

const KEY = "sk-live-3b1f0c9d8e7a";
const alice = { kind: "user", id: "a" } as const;

async function rekey(stateDir: string, env: Record<string, string> = {}) {
  const { code, out, err } = await startFromSource(["rekey", "--state-dir", stateDir], { env }).ended();
  assert.ok(!(out + err).includes(KEY));
  return { code, out, err };
}

Deno.test("rekey replaces the key file; what was stored stays readable, and the old key opens nothing any more", () =>
  withStateDir(async (stateDir) => {
    const made = withConfigs(stateDir, (configs) => configs.create(alice, body({ api_key: KEY }), "a"));
    const file = join(stateDir, "secret.key");
    const old = Deno.readTextFileSync(file);
    const { code, out, err } = await rekey(stateDir);
    assert.deepEqual([code, err], [0, ""]);
    assert.equal(
      out,
      "Encrypted 1 API key with a new key in the state directory. Backups from before need the old key.\n",
    );
    assert.notEqual(Deno.readTextFileSync(file), old);
    assert.equal(Deno.statSync(file).mode! & 0o777, 0o600);
    assert.equal(withConfigs(stateDir, (configs) => configs.apiKey(made)), KEY);
    Deno.writeTextFileSync(file, old);
    assert.equal(withConfigs(stateDir, (configs) => configs.countLost()), 1);
    const again = await rekey(stateDir);
    assert.match(
      again.out,
      /^Encrypted 0 API keys .*\n1 API key could not be read and must be entered again\.\n$/,
    );
  }));

Deno.test("rekey moves keys from the file to the environment, and from one key there to the next", () =>
  withStateDir(async (stateDir) => {
    const made = withConfigs(stateDir, (configs) => configs.create(alice, body({ api_key: KEY }), "a"));
    const [first, second] = ["first passphrase 1", "second passphrase 2"];
    const moved = await rekey(stateDir, { GNS3_COPILOT_SECRET_KEY: first });
    assert.match(moved.out, /^Encrypted 1 API key with the first key of GNS3_COPILOT_SECRET_KEY\./);
    assert.throws(() => Deno.statSync(join(stateDir, "secret.key")), Deno.errors.NotFound);
    await rekey(stateDir, { GNS3_COPILOT_SECRET_KEY: `${second},${first}` });
    assert.equal(withConfigs(stateDir, (configs) => configs.apiKey(made), [second]), KEY);
    assert.equal(withConfigs(stateDir, (configs) => configs.countLost(), [first]), 1);
  }));

Deno.test("rekey says what is missing, and creates nothing", () =>
  withStateDir(async (stateDir) => {
    const empty = await rekey(stateDir);
    assert.deepEqual([empty.code, empty.err], [
      1,
      "There is no gns3_copilot.db in the state directory. Name the server's with --state-dir.\n",
    ]);
    const nowhere = await rekey(join(stateDir, "nowhere"));
    assert.equal(nowhere.code, 1);
    assert.match(nowhere.err, /^The state directory .* does not exist\./);
    assert.deepEqual([...Deno.readDirSync(stateDir)], []);
  }));
