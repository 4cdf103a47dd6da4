// `gns3-copilot rekey` as it is run from a shell.
import assert from "node:assert/strict";
import { join } from "node:path";
import { text } from "../../src/practice/model_script.ts";
import { API_KEY, startChatServer } from "../fakes/chat.ts";
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

Deno.test("rekey works beside a running server: nobody notices, before, during or after a restart", async () => {
  await using server = await startChatServer({ model: null });
  const stateDir = server.gns3.projectsDir;
  const alice = server.chat("alice");
  const path = `/v3/access/users/${server.gns3.userIds.alice}/llm-model-configs`;
  const config = (name: string) => ({
    name,
    provider: "openai",
    base_url: server.model.url,
    model: "practice-1",
    context_limit: 128,
    api_key: API_KEY,
    is_default: true,
  });
  const [{ code }, ...made] = await Promise.all([
    rekey(stateDir, await alice.json("POST", path, config("first"), 201).then(() => ({}))),
    ...Array.from({ length: 10 }, async (_, i) => {
      await new Promise((resolve) => setTimeout(resolve, i * 40));
      return await alice.json("POST", path, config(`during ${i}`), 201);
    }),
  ]);
  assert.equal(code, 0);
  await rekey(stateDir);
  const works = async () => {
    for (const { config_id } of made) {
      await alice.json("PUT", `${path}/default/${config_id}`, {});
      assert.equal((await alice.send(server.model.script("t", [text("fine")]))).text, "fine");
    }
  };
  await works();
  await server.restart();
  await works();
  const { configs } = await alice.json("GET", path);
  // deno-lint-ignore no-explicit-any
  assert.ok(configs.length === 11 && configs.every((c: any) => c.api_key_status === "stored"));
});

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
