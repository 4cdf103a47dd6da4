// Commands that the administrator has forbidden: no tool types them, in no mode, and the model is told why.
import assert from "node:assert/strict";
import { COPILOT_MODES } from "../../src/domain/model_config.ts";
import { forbiddenIn } from "../../src/tools/forbidden.ts";
import { prepareCall } from "../../src/tools/run.ts";
import { skillsWith } from "../fakes/skills.ts";

const project = {
  project_id: "438ab39b-d78d-4c48-944c-a987cea63540",
  name: "lab",
  status: "opened" as const,
};
const skills = skillsWith({ path: "config/forbidden_commands.txt", text: "trace\nping -f\ndebug\n" });
const call = (...commands: string[]) => ({
  name: "execute_vpcs_commands",
  arguments: JSON.stringify({ device_configs: [{ device_name: "PC1", commands }] }),
});

Deno.test("a call with a forbidden command is refused as a whole, in every mode, before anything is sent", () => {
  for (const mode of COPILOT_MODES) {
    const prepared = prepareCall(call("show ip", "trace 10.0.0.1"), { project, mode, skills });
    assert.equal(prepared.kind, "answer");
    const { error } = JSON.parse(prepared.kind === "answer" ? prepared.answer.output : "");
    assert.equal(
      error,
      'not done: "trace 10.0.0.1": the administrator of this server has forbidden `trace`. ' +
        "Nothing of this call was run; send it again without it.",
    );
    assert.equal(prepareCall(call("show ip", "ping 10.0.0.1"), { project, mode, skills }).kind, "ready");
  }
});

Deno.test("every list of commands of every device counts, and every part of a line", () => {
  const of = (...device_configs: unknown[]) => forbiddenIn({ device_configs }, skills);
  assert.match(
    of({ device_name: "R1", commands: ["a"] }, { device_name: "R2", config_commands: ["b", "do deb all"] })!,
    /deb all/,
  );
  for (
    const line of [
      "a\ndebug x",
      "echo a; debug x",
      "a && debug x",
      "a | trace 10.0.0.1",
      "x||ping 10.0.0.1 -f",
    ]
  ) {
    assert.match(of({ device_name: "R1", commands: [line] })!, /forbidden/, line);
  }
  assert.match(of({ commands: ["debug a", "debug b"] })!, /"debug a".*"debug b".*without them\.$/);
});

Deno.test("names of devices are no commands, other arguments neither, and without a list nothing is forbidden", () => {
  assert.equal(
    forbiddenIn({ device_configs: [{ device_name: "debug", commands: ["show ip"] }] }, skills),
    undefined,
  );
  assert.equal(forbiddenIn({ nodes: ["debug"], device_configs: "debug" }, skills), undefined);
  assert.equal(forbiddenIn({ device_configs: [{ commands: ["debug all"] }] }, skillsWith()), undefined);
});
