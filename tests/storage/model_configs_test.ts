import assert from "node:assert/strict";
import { join } from "node:path";
import { updateModelSchema } from "../../src/domain/stored_model.ts";
import type { Change } from "../../src/storage/model_configs.ts";
import { body, holds, withConfigs, withStateDir } from "./state.ts";

const KEY = "sk-live-3b1f0c9d8e7a";
const alice = { kind: "user", id: "a" } as const;
const bob = { kind: "user", id: "b" } as const;
const group = { kind: "group", id: "a" } as const;
const fine = () => {};
const change = (parts: Record<string, unknown>) => updateModelSchema.parse(parts);
const code = (expected: string) => (error: unknown) => (error as { code: string }).code === expected;

Deno.test("a configuration is answered with every field and never with its key", () =>
  // I1, I9
  withStateDir((stateDir) =>
    withConfigs(stateDir, (configs) => {
      const made = configs.create(alice, body({ api_key: KEY, is_default: true, top_p: "0.9" }), "a");
      assert.match(made.config_id, /^[0-9a-f-]{36}$/);
      assert.match(made.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.deepEqual(made, {
        config_id: made.config_id,
        name: "one",
        model_type: "text",
        config: {
          provider: "openai",
          base_url: "http://127.0.0.1:9/v1",
          model: "m-1",
          temperature: 0.7,
          max_tokens: null,
          context_limit: 8,
          context_strategy: "balanced",
          copilot_mode: "teaching_assistant",
          top_p: "0.9",
          api_key: null,
        },
        user_id: "a",
        group_id: null,
        is_default: true,
        version: 1,
        created_at: made.created_at,
        updated_at: made.created_at,
        api_key_status: "stored",
      });
      assert.equal(configs.apiKey(made), KEY);
      assert.ok(!holds(stateDir, KEY));
      assert.deepEqual(configs.list(alice), [made]);
    })
  ));

Deno.test("no method reaches another owner's configuration, a group with the same id included", () =>
  withStateDir((stateDir) =>
    withConfigs(stateDir, (configs) => {
      const made = configs.create(alice, body({ api_key: KEY }), "a");
      for (const other of [bob, group]) {
        assert.deepEqual(configs.list(other), []);
        assert.equal(configs.get(other, made.config_id), undefined);
        assert.throws(
          () => configs.update(other, made.config_id, change({ model: "x" }), "b", fine),
          code("not_found"),
        );
        assert.equal(configs.delete(other, made.config_id), false);
      }
      assert.deepEqual(configs.list(alice), [made]);
    })
  ));

Deno.test("an owner has at most one default, and none again when it is deleted or unset", () =>
  // I5
  withStateDir((stateDir) =>
    withConfigs(stateDir, (configs) => {
      const ids = [true, true, false].map((is_default) =>
        configs.create(alice, body({ is_default }), "a").config_id
      );
      const defaults = () => configs.list(alice).map(({ is_default }) => is_default);
      assert.deepEqual(defaults(), [false, true, false]);
      configs.setDefault(alice, ids[2]!);
      assert.deepEqual(defaults(), [false, false, true]);
      configs.update(alice, ids[0]!, change({ is_default: false }), "a", fine);
      assert.deepEqual(defaults(), [false, false, true], "another one's flag is not touched");
      configs.update(alice, ids[0]!, change({ is_default: true }), "a", fine);
      assert.deepEqual(defaults(), [true, false, false]);
      configs.update(alice, ids[0]!, change({ is_default: false }), "a", fine);
      assert.deepEqual(defaults(), [false, false, false]);
      configs.setDefault(alice, ids[1]!);
      configs.delete(alice, ids[1]!);
      assert.equal(configs.defaultOf(alice), undefined);
    })
  ));

Deno.test("an update changes what it names, null clears, the version grows, and a stale one is refused", () =>
  // I6
  withStateDir((stateDir) =>
    withConfigs(stateDir, (configs) => {
      const { config_id } = configs.create(
        alice,
        body({ max_tokens: 100, top_p: "0.9", copilot_mode: "lab_automation_assistant" }),
        "a",
      );
      const update = (parts: Record<string, unknown>) =>
        configs.update(alice, config_id, change(parts), "a", fine);
      const first = update({ temperature: 0, expected_version: 1, name: "two", model_type: "vision" });
      assert.deepEqual([first.version, first.name, first.model_type, first.config.temperature], [
        2,
        "two",
        "vision",
        0,
      ]);
      assert.deepEqual([first.config.max_tokens, first.config.model], [100, "m-1"]);
      assert.throws(() => update({ temperature: 1, expected_version: 1 }), code("conflict"));
      assert.deepEqual(configs.get(alice, config_id), first);
      const cleared = update({
        temperature: null,
        max_tokens: null,
        copilot_mode: null,
        base_url: null,
        top_p: null,
      });
      assert.deepEqual(cleared.config, {
        provider: "openai",
        base_url: "",
        model: "m-1",
        temperature: 0.7,
        max_tokens: null,
        context_limit: 8,
        context_strategy: "balanced",
        copilot_mode: "teaching_assistant",
        api_key: null,
      });
    })
  ));

Deno.test("a key stays when it is left out, null, or a mask; an empty one is removed; a new one replaces it", () =>
  // I1
  withStateDir((stateDir) =>
    withConfigs(stateDir, (configs) => {
      const made = configs.create(alice, body({ api_key: KEY }), "a");
      const update = (parts: Record<string, unknown>) =>
        configs.update(alice, made.config_id, change(parts), "a", fine);
      for (const same of [{}, { api_key: null }, { api_key: "********" }, { api_key: "••••••" }]) {
        assert.equal(update(same).api_key_status, "stored");
        assert.equal(configs.apiKey(made), KEY);
      }
      update({ api_key: "sk-other-77aa55cc" });
      assert.equal(configs.apiKey(made), "sk-other-77aa55cc");
      assert.equal(update({ api_key: "" }).api_key_status, "none");
      assert.equal(configs.apiKey(made), undefined);
    })
  ));

Deno.test("the check of an update is told whether somebody else's key would stay, and what it throws undoes everything", () =>
  withStateDir((stateDir) =>
    withConfigs(stateDir, (configs) => {
      const made = configs.create(group, body({ api_key: KEY }), "admin");
      const told = (by: string, parts: Record<string, unknown>): Change => {
        let seen: Change | undefined;
        assert.throws(() =>
          configs.update(group, made.config_id, change(parts), by, (given) => {
            seen = given;
            throw new Error("no");
          })
        );
        return seen!;
      };
      assert.equal(told("teacher", { base_url: "http://x/v1" }).keepsForeignKey, true);
      assert.equal(told("admin", { base_url: "http://x/v1" }).keepsForeignKey, false);
      const { before, after, keepsForeignKey } = told("teacher", {
        base_url: "http://x/v1",
        api_key: "sk-mine-12345",
      });
      assert.equal(keepsForeignKey, false);
      assert.deepEqual([before!.base_url, after.base_url], ["http://127.0.0.1:9/v1", "http://x/v1"]);
      assert.deepEqual(configs.list(group), [made]);
      assert.equal(configs.apiKey(made), KEY);
    })
  ));

Deno.test("with the encryption key lost, lists say so, the key is not handed out, and a new one can be stored", () =>
  // I2
  withStateDir((stateDir) => {
    const made = withConfigs(stateDir, (configs) => configs.create(alice, body({ api_key: KEY }), "a"));
    const status = () =>
      withConfigs(stateDir, (configs) => configs.get(alice, made.config_id)!.api_key_status);
    const file = join(stateDir, "secret.key");
    const original = Deno.readTextFileSync(file);
    for (const lose of [() => Deno.removeSync(file), () => Deno.writeTextFileSync(file, "rubbish")]) {
      lose();
      assert.equal(status(), "needs re-entry");
      withConfigs(stateDir, (configs) => {
        assert.equal(configs.countLost(), 1);
        assert.throws(
          () => configs.apiKey(made),
          {
            name: "AppError",
            code: "bad_request",
            message: /model configuration "one" can no longer be read\. Enter it again/,
          },
        );
      });
      Deno.writeTextFileSync(file, original);
      assert.equal(status(), "stored", "nothing was lost by looking");
    }
    Deno.removeSync(file);
    withConfigs(stateDir, (configs) => {
      configs.update(alice, made.config_id, change({ api_key: "sk-new-0a0b0c0d" }), "a", fine);
      assert.equal(configs.apiKey(made), "sk-new-0a0b0c0d");
      assert.equal(configs.countLost(), 0);
    });
  }));

Deno.test("resealAll moves every readable key to the newest encryption key and counts the others", () =>
  withStateDir((stateDir) => {
    const [first, second] = ["first passphrase 1", "second passphrase 2"];
    const one = withConfigs(stateDir, (configs) => configs.create(alice, body({ api_key: KEY }), "a"), [
      first,
    ]);
    withConfigs(stateDir, (configs) => configs.create(bob, body({ api_key: KEY }), "b"), [
      "unknown passphrase 3",
    ]);
    const counts = withConfigs(stateDir, (configs) => configs.resealAll(), [second, first]);
    assert.deepEqual(counts, { resealed: 1, lost: 1 });
    withConfigs(stateDir, (configs) => assert.equal(configs.apiKey(one), KEY), [second]);
  }));

Deno.test("an owner can have a hundred configurations and no more", () =>
  withStateDir((stateDir) =>
    withConfigs(stateDir, (configs) => {
      for (let i = 0; i < 100; i++) configs.create(alice, body(), "a");
      assert.throws(() => configs.create(alice, body(), "a"), code("conflict"));
      configs.create(bob, body(), "b");
    })
  ));
