// Teaching mode on a lab with one device of every kind: whatever is tried, nothing reaches a console, nothing changes GNS3.
import assert from "node:assert/strict";
import { Consoles } from "../../src/devices/consoles.ts";
import { PLATFORMS } from "../../src/devices/platforms/mod.ts";
import { Gns3Client } from "../../src/gns3/client.ts";
import { TOOLS, toolsFor } from "../../src/tools/mod.ts";
import { executeCall, prepareCall, type ToolAnswer } from "../../src/tools/run.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { DISGUISED } from "../devices/disguised.ts";
import { FakeConsole } from "../devices/fake_console.ts";
import { FakeGns3, PROJECT_ID } from "../gns3/fake_gns3.ts";
import { FITTING } from "./fitting.ts";
import { faultsInMemory, skillsWith } from "../fakes/skills.ts";

async function teachingLab() {
  const fake = new FakeGns3();
  const devices = new Map<string, FakeConsole>();
  for (const { deviceTypes: [type] } of PLATFORMS) {
    const node = fake.add(type!, {
      node_type: type === "gns3_vpcs_telnet" ? "vpcs" : "qemu",
      status: "started",
      template_id: null,
      tags: [`device_type:${type}`],
    });
    const console = new FakeConsole({ prompt: "R1#" });
    devices.set(type!, console);
    fake.consoles.set(node.node_id, console);
  }
  const consoles = new Consoles();
  const gns3 = new Gns3Client({ baseUrl: fake.baseUrl, credential: "alice" });
  const context: ToolContext = {
    project: await gns3.project(PROJECT_ID),
    gns3,
    consoles: consoles.forCaller(gns3),
    mode: "teaching_assistant",
    signal: new AbortController().signal,
    now: Date.now,
    skills: skillsWith(),
    faults: faultsInMemory(),
  };
  return {
    fake,
    devices,
    call: (name: string, args: unknown): Promise<ToolAnswer> =>
      executeCall(prepareCall({ name, arguments: JSON.stringify(args) }, context), context),
    /** Nothing was opened, nothing typed, and GNS3 was only read. */
    assertUntouched() {
      for (const [type, { mostClients, ran, line }] of devices) {
        assert.deepEqual([mostClients, ran, line], [0, [], ""], type);
      }
      assert.deepEqual(fake.seen.filter(({ method }) => method !== "GET"), []);
    },
    async [Symbol.asyncDispose]() {
      await consoles.close();
      await fake[Symbol.asyncDispose]();
    },
  };
}

// F7
Deno.test("teaching mode: no disguised command reaches a console, through the reading tool or any other", async () => {
  await using l = await teachingLab();
  let tried = 0;
  for (const [device_name, commands] of Object.entries(DISGUISED)) {
    for (let at = 0; at < commands.length; at += 50) {
      const some = commands.slice(at, at + 50);
      const { output, status } = await l.call("execute_multiple_device_commands", {
        device_configs: [{ device_name, commands: some }],
      });
      assert.equal(status, "error", output);
      const [{ commands: said }] = JSON.parse(output).results;
      assert.deepEqual(said.map((one: { command: string }) => one.command), some);
      for (const { error } of said) assert.match(error, /^Refused: /);
      tried += some.length;
    }
    for (const name of ["execute_multiple_device_config_commands", "execute_vpcs_commands"]) {
      const field = name === "execute_vpcs_commands" ? "commands" : "config_commands";
      const args = { device_configs: [{ device_name, [field]: commands.slice(0, 40) }] };
      assert.equal((await l.call(name, args)).status, "error");
    }
  }
  assert.ok(tried >= 40, `${tried} commands were tried`);
  l.assertUntouched();
});

Deno.test("teaching mode: no tool that changes something does anything, whatever it is called with", async () => {
  await using l = await teachingLab();
  const refused: string[] = [];
  for (const { name, risk } of TOOLS) {
    if (risk === "read") continue;
    const { output, status } = await l.call(name, FITTING[name]);
    assert.equal(status, "error", name);
    assert.match(JSON.parse(output).error, /unknown tool|^not done: /, name);
    refused.push(name);
  }
  assert.ok(refused.includes("execute_multiple_device_config_commands"));
  assert.ok(refused.length > toolsFor("teaching_assistant").length);
  l.assertUntouched();
});
