// Reading, configuring and comparing devices, on the practice lab's routers and PCs over real consoles.
import assert from "node:assert/strict";
import { Consoles } from "../../src/devices/consoles.ts";
import type { CopilotMode } from "../../src/domain/model_config.ts";
import { Gns3Client } from "../../src/gns3/client.ts";
import { executeCall, prepareCall } from "../../src/tools/run.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { type Api, withGns3 } from "../practice/lab.ts";
import { faultsInMemory, skillsWith } from "../fakes/skills.ts";

// deno-lint-ignore no-explicit-any -- the answers' shapes are what the tests are about
type Json = any;

interface Lab extends Api {
  tool(name: string, args: unknown, mode?: CopilotMode): Promise<Json>;
}

async function withTools(work: (lab: Lab) => Promise<void>): Promise<void> {
  await withGns3({ logMessages: true }, async (api) => {
    const gns3 = new Gns3Client({ baseUrl: api.gns3.url, credential: api.gns3.tokens.alice! });
    const consoles = new Consoles();
    const context: ToolContext = {
      project: await gns3.project(api.gns3.projectId),
      gns3,
      consoles: consoles.forCaller(gns3),
      mode: "lab_automation_assistant",
      signal: new AbortController().signal,
      now: () => Date.UTC(2030, 0, 1),
      skills: skillsWith(),
      faults: faultsInMemory(),
    };
    const tool = async (name: string, args: unknown, mode = context.mode) => {
      const used = { ...context, mode };
      const prepared = prepareCall({ name, arguments: JSON.stringify(args) }, used);
      return JSON.parse(
        (await executeCall(prepared, used, { onFault: (fault) => assert.fail(`${fault}`) })).output,
      );
    };
    try {
      await work({ ...api, tool });
    } finally {
      await consoles.close();
    }
  });
}

const read = (device_name: string, ...commands: string[]) => ({ device_name, commands });
const config = (device_name: string, ...config_commands: string[]) => ({ device_name, config_commands });
const states = (results: Json[]) => results.map(({ device_name, status }) => [device_name, status]);

// F15, F17
Deno.test("execute_multiple_device_commands reads routers and PCs in one call, in the order given", async () => {
  await withTools(async ({ tool }) => {
    const { results, summary } = await tool("execute_multiple_device_commands", {
      device_configs: [
        read("R2", "sh ip int br", "conf t", "do show clock", "banana"),
        read("PC1", "show ip", "ip 10.0.0.1/24"),
        read("r1", "show ip ospf neighbor"),
        read("R9", "show version"),
      ],
    }, "teaching_assistant");
    assert.deepEqual(states(results), [["R2", "partial"], ["PC1", "partial"], ["R1", "success"], [
      "R9",
      "error",
    ]]);
    assert.equal(summary, "1 of 4 succeeded, 2 partly, 1 failed.");
    const [brief, conf, clock, banana] = results[0].commands;
    assert.match(brief.output, /^Interface.*\nFastEthernet0\/0 +10\.0\.2\.1/s);
    assert.deepEqual([conf.status, conf.output], ["error", undefined]);
    assert.match(
      conf.error,
      /^Refused: on Cisco IOS this is not one of the commands that only read or test\./,
    );
    assert.equal(clock.status, "success");
    assert.deepEqual([banana.status, banana.command], ["error", "banana"]);
    assert.match(results[1].commands[0].output, /10\.0\.1\.10\/24/);
    assert.match(results[1].commands[1].error, /^Refused: /);
    assert.match(results[3].error, /no node "R9"/);
  });
});

// F15, F22: a switch gets no advice on tags, because no tag would give it a console.
Deno.test("device tools say of a node without a console that it has none", async () => {
  await withTools(async ({ tool }) => {
    const made = await tool("create_gns3_node", { nodes: [{ template_id: "Ethernet switch", name: "SW9" }] });
    assert.equal(made.results[0].name, "SW9");
    for (
      const [name, args] of [
        ["execute_multiple_device_commands", { device_configs: [read("SW9", "show version")] }],
        ["execute_multiple_device_config_commands", { device_configs: [config("SW9", "hostname X")] }],
        ["execute_vpcs_commands", { device_configs: [read("SW9", "show ip")] }],
        ["compare_device_config", { device_names: ["SW9"] }],
      ] as const
    ) {
      const { results } = await tool(name, args);
      assert.equal(results[0].error, "SW9 has no console: its type is ethernet_switch.", name);
    }
  });
});

// F8
Deno.test("execute_multiple_device_config_commands configures, and reports the line that a device does not take", async () => {
  await withTools(async ({ tool }) => {
    const { results } = await tool("execute_multiple_device_config_commands", {
      device_configs: [
        config(
          "R1",
          "interface Loopback0",
          "ip address 1.1.1.1 255.255.255.255",
          "exit",
          "banner motd #",
          "two",
          "",
          "lines#",
        ),
        config("R2", "interface Loopback0", "ip address 300.0.0.1 255.0.0.0", "no shutdown"),
        config("PC1", "set pcname Alice"),
      ],
    });
    assert.deepEqual(states(results), [["R1", "success"], ["R2", "partial"], ["PC1", "success"]]);
    assert.match(results[1].error, /^Line 2 \("ip address 300\.0\.0\.1 255\.0\.0\.0"\): % Invalid input/);
    assert.deepEqual(results[1].commands.map((one: Json) => one.status), ["success", "error", "error"]);
    const shown = await tool("execute_multiple_device_commands", {
      device_configs: [read("R1", "show running-config"), read("R2", "show running-config")],
    });
    assert.match(
      shown.results[0].commands[0].output,
      /interface Loopback0\n ip address 1\.1\.1\.1 255\.255\.255\.255/,
    );
    // Nothing was saved: nobody said so.
    const startup = await tool("execute_multiple_device_commands", {
      device_configs: [read("R1", "show startup-config")],
    });
    assert.ok(!startup.results[0].commands[0].output.includes("Loopback0"));
  });
});

// F7
Deno.test("execute_multiple_device_config_commands sends nothing when one line must never be sent", async () => {
  await withTools(async ({ tool }) => {
    const { results } = await tool("execute_multiple_device_config_commands", {
      device_configs: [config("R1", "hostname X", "do debug all", "hostname Y\nreload")],
    });
    assert.equal(results[0].status, "error");
    assert.match(results[0].error, /^Line 2 \("do debug all"\): Refused: debugging/);
    assert.deepEqual(results[0].commands.map(({ error }: Json) => error.slice(0, 8)), [
      "Not run:",
      "Refused:",
      "Refused:",
    ]);
    const shown = await tool("execute_multiple_device_commands", {
      device_configs: [read("R1", "show version")],
    });
    assert.match(shown.results[0].commands[0].output, /R1 uptime/);
  });
});

Deno.test("execute_multiple_device_config_commands writes the startup configuration when a line says so", async () => {
  await withTools(async ({ tool }) => {
    await tool("execute_multiple_device_config_commands", {
      device_configs: [config("R1", "hostname Alice", "write memory")],
    });
    const { results } = await tool("compare_device_config", { device_names: ["R1"] });
    assert.deepEqual([results[0].compared_with, results[0].equal], ["startup configuration", true]);
  });
});

// K8
Deno.test("compare_device_config shows what differs from startup or from the last time, and no secret", async () => {
  await withTools(async ({ tool }) => {
    await tool("execute_multiple_device_config_commands", {
      device_configs: [config("R1", "do write memory")],
    });
    const change = (...lines: string[]) =>
      tool("execute_multiple_device_config_commands", { device_configs: [config("R1", ...lines)] });
    await change("interface FastEthernet1/0", "description new");
    const first = await tool(
      "compare_device_config",
      { device_names: ["R1", "PC1", "R9"] },
      "teaching_assistant",
    );
    assert.deepEqual(states(first.results), [["R1", "success"], ["PC1", "error"], ["R9", "error"]]);
    const { compared_with, equal, added, removed, diff } = first.results[0];
    assert.deepEqual([compared_with, equal, added, removed], ["startup configuration", false, 1, 0]);
    assert.match(
      diff,
      /^--- R1 startup configuration\n\+\+\+ R1 running\n@@ .*\n interface FastEthernet1\/0\n\+ description new\n/s,
    );
    assert.match(first.results[1].error, /VPCS has no configuration that could be compared/);
    await change("interface FastEthernet1/0", "no description", "description newer");
    const second = await tool("compare_device_config", { device_names: ["R1"], against: "last_time" });
    assert.equal(second.results[0].compared_with, "configuration at 2030-01-01T00:00:00.000Z");
    assert.match(second.results[0].diff, /\n- description new\n\+ description newer\n/);
    const third = await tool("compare_device_config", { device_names: ["R1"], against: "last_time" });
    assert.equal(third.results[0].equal, true);
  });
});

// G1
Deno.test("start_gns3_node waits for the console of a router that boots, and does not start one that runs", async () => {
  await withTools(async ({ tool }) => {
    await tool("stop_gns3_node", { node_ids: ["R1"] });
    const { results } = await tool("start_gns3_node", { node_ids: ["R1", "R2", "R9"] });
    assert.deepEqual(results.map(({ name, status, console }: Json) => [name, status, console]), [
      ["R1", "success", "ready"],
      ["R2", "success", undefined],
      [undefined, "error", undefined],
    ]);
    assert.match(results[1].note, /already started; nothing was done/);
  });
});

// F11
Deno.test("a device that was restarted, or deleted and made again under its name, is the new one at once", async () => {
  await withTools(async ({ tool }) => {
    const look = async () => {
      const { results } = await tool("execute_vpcs_commands", { device_configs: [read("PC1", "show ip")] });
      return results[0].commands?.[0].output ?? results[0].error;
    };
    assert.match(await look(), /10\.0\.1\.10\/24/);
    await tool("execute_vpcs_commands", { device_configs: [read("PC1", "ip 10.0.1.77/24")] });
    assert.match(await look(), /10\.0\.1\.77\/24/);
    await tool("stop_gns3_node", { node_ids: ["PC1"] });
    assert.match(await look(), /PC1 is stopped/);
    await tool("start_gns3_node", { node_ids: ["PC1"] });
    assert.doesNotMatch(await look(), /10\.0\.1\.77/);

    await tool("delete_gns3_node", { node_ids: ["PC1"] });
    assert.match(await look(), /There is no node "PC1"/);
    const { results } = await tool("create_gns3_node", { nodes: [{ template_id: "VPCS", name: "PC1" }] });
    assert.equal(results[0].name, "PC1");
    assert.match(await look(), /PC1 is stopped/);
    await tool("start_gns3_node", { node_ids: ["PC1"] });
    assert.match(await look(), /IP\/MASK +: 0\.0\.0\.0\/0/);
  });
});
