// Tries every tool on a real GNS3 server with real VPCS and prints what came of it. Run by hand:
//   deno run -A tests/tools/try_on_lab.ts LAB_JSON [websocket|telnet]
// LAB_JSON is what the lab prints: base_url, tokens.alice (may use the project) and tokens.bob (may not), project.
import { Channel } from "../../src/devices/channel.ts";
import { Consoles } from "../../src/devices/consoles.ts";
import { overTelnet } from "../../src/devices/telnet.ts";
import { openWebSocket } from "../../src/devices/transport.ts";
import type { CopilotMode } from "../../src/domain/model_config.ts";
import { Access } from "../../src/gns3/access.ts";
import { Gns3Client } from "../../src/gns3/client.ts";
import { executeCall, prepareCall } from "../../src/tools/run.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { faultsInMemory, skillsWith } from "../fakes/skills.ts";

const [labFile, transport = "websocket"] = Deno.args;
const lab = JSON.parse(Deno.readTextFileSync(labFile!));
const access = new Access({ baseUrl: lab.base_url });
const caller = await access.identify(lab.tokens.alice);
const project = await access.project(caller, lab.project.project_id);
const gns3 = new Gns3Client({ baseUrl: lab.base_url, credential: caller.credential });
const consoles = new Consoles({
  transport: transport as "websocket" | "telnet",
  onFault: (fault) => console.error("FAULT", fault),
});
const base: ToolContext = {
  project,
  gns3,
  consoles: consoles.forCaller(gns3),
  skills: skillsWith(),
  faults: faultsInMemory(),
  mode: "lab_automation_assistant",
  signal: new AbortController().signal,
  now: Date.now,
};

async function call(
  name: string,
  args: unknown,
  mode: CopilotMode = base.mode,
  more: Partial<ToolContext> = {},
) {
  const context = { ...base, mode, ...more };
  const started = performance.now();
  const request = { name, arguments: JSON.stringify(args) };
  const { output, status, code } = await executeCall(prepareCall(request, context), context);
  const ms = Math.round(performance.now() - started);
  console.log(`\n## ${name} ${request.arguments.slice(0, 160)} [${mode}]: ${status} ${code ?? ""} ${ms} ms`);
  console.log(output.slice(0, 2_000));
  return JSON.parse(output);
}

const vpcs = (device_name: string, ...commands: string[]) => ({
  device_configs: [{ device_name, commands }],
});
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

console.log(`GNS3 ${await gns3.version()}, ${transport}, as ${caller.username}, project ${project.name}`);
await call("get_gns3_templates", { name_contains: "switch" });
await call("gns3_topology_reader", {});
const { results: made } = await call("create_gns3_node", {
  nodes: [{ template_id: "VPCS", name: "Alice" }, { template_id: "VPCS" }, { template_id: "toaster" }],
});
const [alice, other] = [made[0].name as string, made[1].name as string];
await call("create_gns3_link", {
  links: [
    { node_id1: alice, port1: "eth0", node_id2: made[1].node_id, port2: "Ethernet0" },
    { node_id1: alice, port1: "e0", node_id2: other, port2: "e0" },
    { node_id1: alice, port1: "e9", node_id2: other, port2: "e0" },
  ],
});
await call("update_gns3_node_name", {
  nodes: [{ node_id: alice, new_name: "Bob" }, { node_id: "PC1", new_name: "X" }],
});
await call("start_gns3_node", { node_ids: ["Bob", other, "nobody"] });
await call("execute_vpcs_commands", {
  device_configs: [
    {
      device_name: "Bob",
      commands: ["ip 10.9.0.1/24 10.9.0.254", "show ip", "! id", "é! id", "save ../x", "bogus"],
    },
    { device_name: other, commands: ["ip 10.9.0.2/24", "ping 10.9.0.1 -c 2"] },
    { device_name: "SW1", commands: ["show ip"] },
  ],
});
await call("execute_vpcs_commands", vpcs("Bob", "ping 10.9.0.2 -t", "show arp"), "teaching_assistant");
await call("execute_vpcs_commands", vpcs("Bob", "ip 10.9.0.3/24"), "teaching_assistant");
await call("create_gns3_node", { nodes: [] }, "teaching_assistant");

console.log("\n# stopped by the user in the middle; the next call finds a prompt");
const stop = new AbortController();
setTimeout(() => stop.abort(), 2_000);
await call("execute_vpcs_commands", vpcs("Bob", "ping 10.9.0.2 -t"), base.mode, { signal: stop.signal });
await call("execute_vpcs_commands", vpcs("Bob", "show arp"));

console.log("\n# somebody has left a half-typed line; somebody runs a ping");
const { node_id } = (await gns3.nodes(project.project_id)).find(({ name }) => name === "Bob")!;
const commands = !(await gns3.version()).startsWith("3.0");
const options = { signal: base.signal, limitMs: 5_000, commands };
const person = new Channel(
  overTelnet(await openWebSocket(gns3.consoleUrl(project.project_id, node_id), options)),
);
await person.send("ip 66.66.66.66/24 never to be run");
await pause(300);
await call("execute_vpcs_commands", vpcs("Bob", "show ip"));
await person.send("ping 10.9.0.2 -c 3");
await pause(100);
await person.send("\r");
await pause(500);
await call("execute_vpcs_commands", vpcs("Bob", "show arp"));
await person.close();

console.log("\n# twenty calls at once on one console; a caller without rights");
await Promise.all(Array.from({ length: 20 }, () => call("execute_vpcs_commands", vpcs("Bob", "show ip"))));
const stranger = new Gns3Client({ baseUrl: lab.base_url, credential: lab.tokens.bob });
await call("gns3_topology_reader", {}, base.mode, { gns3: stranger });
const asBob = {
  origin: gns3.origin,
  version: gns3.version.bind(gns3),
  node: gns3.node.bind(gns3),
  computes: gns3.computes.bind(gns3),
  templates: gns3.templates.bind(gns3),
  credentials: gns3.credentials.bind(gns3),
  consoleUrl: stranger.consoleUrl.bind(stranger),
};
await call("execute_vpcs_commands", vpcs("Bob", "show ip"), base.mode, {
  consoles: consoles.forCaller(asBob),
});

await call("suspend_gns3_node", { node_ids: ["Bob"] });
await call("stop_gns3_node", { node_ids: ["Bob", other] });
await call("execute_vpcs_commands", vpcs("Bob", "show ip"));
await call("wait_seconds", { seconds: 1 });
for (const { node_id } of made.filter((one: { node_id?: string }) => one.node_id)) {
  const path = `${lab.base_url}/v3/projects/${project.project_id}/nodes/${node_id}`;
  const headers = { authorization: `Bearer ${caller.credential}` };
  await (await fetch(path, { method: "DELETE", headers })).body?.cancel();
}
await consoles.close();
