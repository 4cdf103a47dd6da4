// The system prompts, and how the skills folder replaces them.
import assert from "node:assert/strict";
import { PROMPT_NAMES, systemPrompt, titlePrompt } from "../../src/agent/prompts/mod.ts";
import { COPILOT_MODES } from "../../src/domain/model_config.ts";
import { TOOLS, toolsFor } from "../../src/tools/mod.ts";

const places = (text: string) => text.split("{{topology_info}}").length - 1;

Deno.test("every mode has a prompt of its own with one place for the topology", () => {
  const prompts = COPILOT_MODES.map((mode) => systemPrompt(mode));
  assert.equal(new Set(prompts).size, COPILOT_MODES.length);
  for (const prompt of prompts) assert.deepEqual([places(prompt), prompt.length > 1_000], [1, true]);
  assert.deepEqual(PROMPT_NAMES.filter((name) => COPILOT_MODES.some((mode) => mode === name)).length, 3);
});

Deno.test("a prompt names no tool that its mode has not", () => {
  const known = new Set(TOOLS.map(({ name }) => name));
  for (const mode of COPILOT_MODES) {
    const has = new Set(toolsFor(mode).map(({ name }) => name));
    const named = [...systemPrompt(mode).matchAll(/`(\w+)`/g)].map((match) => match[1]!).filter((name) =>
      known.has(name)
    );
    assert.ok(named.length >= 2, mode);
    assert.deepEqual(named.filter((name) => !has.has(name)), [], mode);
  }
});

Deno.test("a prompt of the folder takes the place of the one with its name, and no other", () => {
  const overrides = new Map([["teaching_assistant", "Only ask questions."], ["title", "Three words."]]);
  const prompt = systemPrompt("teaching_assistant", overrides);
  assert.match(
    prompt,
    /^You are GNS3 Copilot[\s\S]+\n\nOnly ask questions\.\n\n### Current topology\n\{\{topology_info\}\}$/,
  );
  assert.equal(systemPrompt("lab_automation_assistant", overrides), systemPrompt("lab_automation_assistant"));
  assert.equal(titlePrompt(overrides), "Three words.");
  assert.match(titlePrompt(), /six words/);
});

Deno.test("the topology has exactly one place, also when the folder's prompt has or lacks it", () => {
  const whole = systemPrompt(
    "teaching_assistant",
    new Map([["teaching_assistant", "A\n{{topology_info}}\nB"]]),
  );
  assert.deepEqual([places(whole), whole.includes("### Current topology")], [1, false]);
  assert.equal(places(systemPrompt("teaching_assistant", new Map([["topology", "The lab:"]]))), 1);
});
