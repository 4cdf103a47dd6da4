import assert from "node:assert/strict";
import { effective, inherited } from "../../src/domain/inheritance.ts";
import { changeSettings, keyChange, settingsOf, toModelConfig } from "../../src/domain/model_change.ts";
import {
  createModelSchema,
  type ModelType,
  type StoredModel,
  updateModelSchema,
} from "../../src/domain/stored_model.ts";

const minimal = { name: "one", provider: "openai", model: "m-1", context_limit: 8 };
const fieldsAtFault = (value: unknown, schema: typeof createModelSchema | typeof updateModelSchema) => {
  const result = schema.safeParse(value);
  return result.success ? [] : result.error.issues.map(({ path }) => path.join("."));
};

Deno.test("a new configuration needs a name, a provider, a model and a context_limit", () => { // D2, E5
  assert.deepEqual(fieldsAtFault(minimal, createModelSchema), []);
  for (const field of Object.keys(minimal)) {
    const { [field as keyof typeof minimal]: _, ...rest } = minimal;
    assert.deepEqual(fieldsAtFault(rest, createModelSchema), [field]);
    for (const bad of [null, "", "  ", {}]) {
      assert.deepEqual(fieldsAtFault({ ...minimal, [field]: bad }, createModelSchema), [field]);
    }
  }
  for (const context_limit of [0, -1, 1.5, "128"]) {
    assert.deepEqual(fieldsAtFault({ ...minimal, context_limit }, createModelSchema), ["context_limit"]);
  }
});

Deno.test("a value that a field cannot have is refused by the field's name, when creating and when changing", () => {
  const bad: Record<string, unknown[]> = {
    name: ["", "x".repeat(101), 5],
    model_type: ["chat", null],
    temperature: [-0.1, 2.1, "hot"],
    max_tokens: [0, -5, 1.5, "many", "1.5", true],
    context_limit: [0, null],
    context_strategy: ["all", 1],
    copilot_mode: ["anything", 1],
    api_key: [5, {}, "sk-with a space", "sk-line\nbreak", "sk-é"],
    is_default: ["yes"],
    base_url: [5],
    config: [{ api_key: "sk-123456789" }],
  };
  for (const [field, values] of Object.entries(bad)) {
    for (const value of values) {
      assert.deepEqual(
        fieldsAtFault({ ...minimal, [field]: value }, createModelSchema),
        [field],
        `${field} ${value}`,
      );
      assert.deepEqual(fieldsAtFault({ [field]: value }, updateModelSchema), [field], `${field} ${value}`);
    }
  }
  assert.deepEqual(fieldsAtFault({ expected_version: "1" }, updateModelSchema), ["expected_version"]);
  for (const body of [[], null, "x", 5]) {
    assert.deepEqual(fieldsAtFault(body, createModelSchema), [""]);
    assert.deepEqual(fieldsAtFault(body, updateModelSchema), [""]);
  }
});

Deno.test("max_tokens may come as text, as the Web UI's custom fields do; empty and null clear it", () => {
  const max = (max_tokens: unknown) => updateModelSchema.parse({ max_tokens }).max_tokens;
  assert.deepEqual([max("4096"), max(4096), max(""), max("null"), max(null)], [4096, 4096, null, null, null]);
});

Deno.test("fields that are not known are kept, those of the server's own are not", () => {
  const settings = settingsOf(createModelSchema.parse({
    ...minimal,
    top_p: "0.9",
    deep: { a: [1, null] },
    version: 7,
    user_id: "somebody",
    created_at: "yesterday",
    api_key: "sk-1234567890",
    source: "group",
  }));
  assert.deepEqual(settings, {
    provider: "openai",
    base_url: "",
    model: "m-1",
    temperature: 0.7,
    max_tokens: null,
    context_limit: 8,
    context_strategy: "balanced",
    copilot_mode: "teaching_assistant",
    top_p: "0.9",
    deep: { a: [1, null] },
  });
  const changed = changeSettings(settings, updateModelSchema.parse({ top_p: null, more: 1 }));
  assert.deepEqual([changed.top_p, changed.deep, changed.more], [undefined, { a: [1, null] }, 1]);
});

Deno.test("a field that would change the object itself is dropped", () => {
  const sent = JSON.parse(`{"name": "one", "provider": "openai", "model": "m-1", "context_limit": 8,
    "__proto__": {"base_url": "http://169.254.169.254"}}`);
  const settings = settingsOf(createModelSchema.parse(sent));
  assert.equal(settings.base_url, "");
  assert.equal(Object.getPrototypeOf(settings), Object.prototype);
  const changed = changeSettings(settings, updateModelSchema.parse(JSON.parse('{"__proto__": {"x": 1}}')));
  assert.equal((changed as Record<string, unknown>).x, undefined);
});

Deno.test("unknown fields are bounded in number, size and depth", () => {
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`f${i}`, 1]));
  const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  for (const extra of [many, { big: "x".repeat(20_000) }, { deep }]) {
    assert.deepEqual(fieldsAtFault({ ...minimal, ...extra }, createModelSchema), [""]);
    assert.deepEqual(fieldsAtFault(extra, updateModelSchema), [""]);
  }
});

Deno.test("a turn gets the settings without what is not set", () => {
  const settings = settingsOf(createModelSchema.parse(minimal));
  assert.deepEqual(toModelConfig(settings, undefined), {
    provider: "openai",
    model: "m-1",
    temperature: 0.7,
    context_limit: 8,
    context_strategy: "balanced",
    copilot_mode: "teaching_assistant",
  });
  const full = { ...settings, base_url: "http://x/v1", max_tokens: 5, top_p: "0.9" };
  const config = toModelConfig(full, "sk-1") as Record<string, unknown>;
  assert.deepEqual([config.base_url, config.max_tokens, config.api_key, config.top_p], [
    "http://x/v1",
    5,
    "sk-1",
    undefined,
  ]);
});

Deno.test("keyChange tells a new key from a mask, and removing from leaving", () => { // I1
  assert.deepEqual([undefined, null, "***", "•••••••"].map(keyChange), Array(4).fill(undefined));
  assert.equal(keyChange(""), null);
  assert.equal(keyChange("sk-***-1"), "sk-***-1");
});

const model = (config_id: string, parts: Partial<StoredModel> = {}) =>
  ({ config_id, is_default: false, model_type: "text" as ModelType, ...parts }) as StoredModel;

Deno.test("effective: the user's choice, then a group's default, then the first that can chat", () => { // I5
  const groups = [
    { id: "g", name: "G", configs: [model("g1"), model("g2", { is_default: true })] },
    { id: "h", name: "H", configs: [model("h1", { is_default: true })] },
  ];
  const all = inherited([model("own1", { model_type: "embedding" }), model("own2")], groups);
  assert.deepEqual(all.map(({ config_id, source, group_name }) => [config_id, source, group_name]), [
    ["own1", "user", null],
    ["own2", "user", null],
    ["g1", "group", "G"],
    ["g2", "group", "G"],
    ["h1", "group", "H"],
  ]);
  const used = (configs: typeof all, chosen?: string) => effective(configs, chosen)?.config_id;
  assert.equal(used(all, "own2"), "own2");
  assert.equal(used(all, "h1"), "h1", "a user may choose one of a group's");
  assert.equal(used(all), "g2");
  assert.equal(used(all, "of a group that the user has left"), "g2");
  assert.equal(used(inherited([model("own1", { model_type: "embedding" }), model("own2")], [])), "own2");
  assert.equal(used(inherited([model("own1", { model_type: "stt" })], [])), "own1");
  assert.equal(effective([], "x"), null);
});
