// The tools on real routers: FRR in QEMU on a real gns3-server, one of them behind a login and a Linux shell.
import assert from "node:assert/strict";
import { Consoles } from "../../src/devices/consoles.ts";
import type { CopilotMode } from "../../src/domain/model_config.ts";
import { Gns3Client } from "../../src/gns3/client.ts";
import { executeCall, prepareCall } from "../../src/tools/run.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { LAB_LOGIN } from "../devices/scenes.ts";
import { type Lab, labMissing, startLab } from "./lab.ts";
import { testWhere } from "./needs.ts";
import { faultsInMemory, skillsWith } from "../fakes/skills.ts";

// deno-lint-ignore no-explicit-any -- the answers' shapes are what the tests are about
type Json = any;

/** Routers boot within some ten seconds, on a busy machine within a minute. */
const BOOT_MS = 120_000;
const FULL_MS = 90_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const read = (device_name: string, ...commands: string[]) => ({ device_name, commands });
const config = (device_name: string, ...config_commands: string[]) => ({ device_name, config_commands });

/** The lab's tools as alice has them, and GNS3's API as the administrator has it. */
async function toolsOf(lab: Lab) {
  const gns3 = new Gns3Client({ baseUrl: lab.base_url, credential: lab.tokens.alice });
  const consoles = new Consoles();
  const context: ToolContext = {
    project: await gns3.project(lab.project.project_id),
    gns3,
    consoles: consoles.forCaller(gns3),
    mode: "lab_automation_assistant",
    signal: new AbortController().signal,
    now: Date.now,
    skills: skillsWith(),
    faults: faultsInMemory(),
  };
  const tool = async (name: string, args: unknown, mode: CopilotMode = context.mode): Promise<Json> => {
    const used = { ...context, mode };
    const prepared = prepareCall({ name, arguments: JSON.stringify(args) }, used);
    return JSON.parse(
      (await executeCall(prepared, used, { onFault: (fault) => assert.fail(`${fault}`) })).output,
    );
  };
  const api = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const response = await fetch(`${lab.base_url}/v3/projects/${lab.project.project_id}${path}`, {
      method,
      headers: { authorization: `Bearer ${lab.tokens.admin}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    return await response.json();
  };
  const ready = async (name: string) => {
    const node = (await gns3.nodes(lab.project.project_id)).find((one) => one.name === name)!;
    assert.equal(
      await context.consoles.ready(lab.project.project_id, node, BOOT_MS, context.signal),
      true,
      name,
    );
  };
  return { tool, api, ready, [Symbol.asyncDispose]: () => consoles.close() };
}

/** Tells GNS3 what kind of device a node is. */
const typed = (lab: Lab, name: string, type: string) => {
  const { node_id } = lab.nodes.find((node) => node.name === name)!;
  return { path: `/nodes/${node_id}`, body: { netmiko_device_type: type } };
};

testWhere(
  labMissing({ routers: 2 }),
  "two FRR routers: OSPF is configured on both through the tools, and they become neighbours",
  async () => {
    await using lab = await startLab({ vpcs: 1, routers: 2, slot: 42 });
    await using l = await toolsOf(lab);
    const untagged = await l.tool("execute_multiple_device_commands", {
      device_configs: [read("R1", "show version")],
    });
    assert.match(
      untagged.results[0].error,
      /What kind of device R1 \(qemu\) is, is not known.*gns3_frr_telnet/,
    );
    for (const name of ["R1", "R2"]) {
      const { path, body } = typed(lab, name, "gns3_frr_telnet");
      await l.api("PUT", path, body);
    }
    await Promise.all([l.ready("R1"), l.ready("R2")]);
    // R1's adapter 1 is cabled to R2's adapter 2.
    const ospf = (eth: string, address: string) => [
      `interface ${eth}`,
      `ip address ${address}/30`,
      "ip ospf network point-to-point",
      "ip ospf hello-interval 1",
      "ip ospf dead-interval 5",
      "ip ospf message-digest-key 1 md5 lab-key",
      "exit",
      "router ospf",
      "network 10.0.12.0/30 area 0",
    ];
    const configured = await l.tool("execute_multiple_device_config_commands", {
      device_configs: [
        config("R1", ...ospf("eth1", "10.0.12.1")),
        config("R2", ...ospf("eth2", "10.0.12.2")),
      ],
    });
    assert.equal(configured.summary, "2 of 2 succeeded.", JSON.stringify(configured));
    const deadline = performance.now() + FULL_MS;
    let seen: Json;
    for (;;) {
      seen = await l.tool("execute_multiple_device_commands", {
        device_configs: [
          read("R1", "show ip ospf neighbor"),
          read("R2", "sh ip ospf nei", "show ip route ospf"),
        ],
      }, "teaching_assistant");
      const outputs = seen.results.map(({ commands }: Json) => commands?.[0].output ?? "");
      if (outputs.every((output: string) => /\bFull\//.test(output))) break;
      assert.ok(performance.now() < deadline, JSON.stringify(seen));
      await pause(1_000);
    }
    assert.match(seen.results[0].commands[0].output, /10\.0\.12\.2 +eth1:10\.0\.12\.1/);
    const { results } = await l.tool("execute_multiple_device_commands", {
      device_configs: [read("R1", "show running-config", "ping 10.0.12.2", "write memory", "bogus")],
    });
    const [running, ping, write, bogus] = results[0].commands;
    assert.match(running.output, /ip ospf message-digest-key 1 md5 <secret 1>\n/);
    assert.ok(!running.output.includes("lab-key"));
    assert.match(ping.output, /64 bytes from 10\.0\.12\.2: seq=0 /);
    assert.deepEqual([ping.status, ping.error], ["success", undefined]);
    assert.match(ping.note, /^It runs until it is stopped/);
    assert.match(write.error, /^Refused: on FRRouting/);
    assert.equal(
      bogus.error,
      "Refused: on FRRouting this is not one of the commands that only read or test. " +
        "Changes go through execute_multiple_device_config_commands.",
    );
    const first = await l.tool("compare_device_config", { device_names: ["R1"] });
    assert.equal(first.results[0].compared_with, "nothing");
    const partial = await l.tool("execute_multiple_device_config_commands", {
      device_configs: [
        config("R1", "interface eth1", "description to R2", "ip address 10.0.12.300/30", "shutdown"),
      ],
    });
    assert.equal(partial.results[0].status, "partial");
    assert.match(partial.results[0].error, /^Line 3 \("ip address 10\.0\.12\.300\/30"\): % Unknown command/);
    const second = await l.tool("compare_device_config", { device_names: ["R1"] });
    assert.match(second.results[0].diff, /\n interface eth1\n\+ description to R2\n/);
    assert.deepEqual([second.results[0].added, second.results[0].removed], [1, 0]);
  },
);

testWhere(
  labMissing({ routers: 1 }),
  "a Linux host with a login: it is logged in, read, configured and logged out; vtysh runs on it too",
  async () => {
    await using lab = await startLab({ vpcs: 1, routers: 1, slot: 43 });
    await using l = await toolsOf(lab);
    const [r1] = (await l.api("GET", "/nodes")).filter(({ name }: Json) => name === "R1");
    const { qemu_path, ram, adapters, adapter_type, kernel_image, initrd } = r1.properties;
    const kernel_command_line = "console=ttyS0 quiet lab.hostname=H1 lab.console=login";
    const host = await l.api("POST", "/nodes", {
      name: "H1",
      node_type: "qemu",
      compute_id: "local",
      netmiko_device_type: "gns3_linux_telnet",
      properties: {
        qemu_path,
        ram,
        adapters,
        adapter_type,
        kernel_image,
        initrd,
        kernel_command_line,
        on_close: "power_off",
      },
    });
    await l.api("POST", `/nodes/${host.node_id}/start`, {});
    const look = { device_configs: [read("H1", "hostname", "ip addr show lo", "cat /etc/shadow", "reboot")] };
    // Nothing is known to log in with: the login is reported as soon as it is there.
    const deadline = performance.now() + BOOT_MS;
    let said = "";
    while (!/needs credentials/.test(said)) {
      assert.ok(performance.now() < deadline, said);
      said = (await l.tool("execute_multiple_device_commands", look)).results[0].error ?? "";
    }
    assert.match(said, /^H1 is not ready: it needs credentials: its console asks for a login/);
    const credentials = { default_username: LAB_LOGIN.username, default_password: LAB_LOGIN.password };
    await l.api("PUT", `/nodes/${host.node_id}`, credentials);
    const { results } = await l.tool("execute_multiple_device_commands", look, "teaching_assistant");
    const [name, address, shadow, reboot] = results[0].commands;
    assert.equal(name.output, "H1");
    assert.match(address.output, /inet 127\.0\.0\.1\/8/);
    for (const { error } of [shadow, reboot]) assert.match(error, /^Refused: on Linux shell/);
    assert.ok(!JSON.stringify(results).includes(LAB_LOGIN.password));
    const configured = await l.tool("execute_multiple_device_config_commands", {
      device_configs: [
        config("H1", "ip addr add 10.1.1.1/24 dev eth0", "ip addr add 10.1.1.999/24 dev eth0", "exit"),
      ],
    });
    assert.equal(configured.results[0].status, "partial");
    assert.match(configured.results[0].error, /^Line 2 /);
    await l.api("PUT", `/nodes/${host.node_id}`, { netmiko_device_type: "gns3_frr_telnet" });
    const vtysh = await l.tool("execute_multiple_device_commands", {
      device_configs: [read("H1", "show interface brief")],
    });
    assert.match(vtysh.results[0].commands[0].output, /\neth0 +up +default +10\.1\.1\.1\/24/);
    // Logged out each time: without what to log in with, the login is there again.
    await l.api("PUT", `/nodes/${host.node_id}`, { default_username: "", default_password: "" });
    const after = await l.tool("execute_multiple_device_commands", {
      device_configs: [read("H1", "show version")],
    });
    assert.match(after.results[0].error, /needs credentials/);
  },
);
