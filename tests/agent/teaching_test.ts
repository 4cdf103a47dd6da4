// W21: teaching mode keeps its promise against a model that tries everything, over the whole way from chat to console.
import assert from "node:assert/strict";
import { type Call, text, toolCalls } from "../../src/practice/model_script.ts";
import { TOOLS } from "../../src/tools/mod.ts";
import { DISGUISED } from "../devices/disguised.ts";
import { startChatServer } from "../fakes/chat.ts";
import { FITTING } from "../tools/fitting.ts";

/** A call of every tool that can change something, and every disguised command on a router and a PC. */
function attempts(): Call[] {
  const changing = TOOLS.filter((tool) => tool.risk !== "read").map(({ name }) => ({
    name,
    args: FITTING[name],
  }));
  const typed = (name: string, device_name: string) => (command: string): Call => ({
    name,
    args: { device_configs: [{ device_name, commands: [command] }] },
  });
  return [
    ...changing,
    ...DISGUISED.cisco_ios_telnet!.map(typed("execute_multiple_device_commands", "R1")),
    ...DISGUISED.gns3_vpcs_telnet!.map(typed("execute_multiple_device_commands", "PC1")),
    ...DISGUISED.gns3_vpcs_telnet!.map(typed("execute_vpcs_commands", "PC1")),
  ];
}

Deno.test("in teaching mode nothing of what a model tries reaches a console or changes GNS3", async () => {
  await using server = await startChatServer({ model: { copilot_mode: "teaching_assistant" } });
  const calls = attempts().map((call, i) => ({ ...call, id: `call_${i}` }));
  assert.ok(calls.length > 100, `${calls.length} attempts`);
  const steps = [];
  for (let i = 0; i < calls.length; i += 25) {
    steps.push(toolCalls(calls.slice(i, i + 25), { fragment: 1000 }));
  }
  const before = server.gns3.requests.length;
  const turn = await server.chat("alice").send(server.model.script("t", [...steps, text("I may not.")]));
  assert.equal(turn.text, "I may not.");
  const passed = turn.of("tool_end").filter((event) => event.status !== "error").map((event) =>
    event.tool_output
  );
  assert.deepEqual(passed, []);
  assert.equal(turn.of("tool_end").length, calls.length);
  const touched = server.gns3.requests.slice(before).filter(({ method, path }) =>
    method !== "GET" || path.includes("/console")
  );
  assert.deepEqual(touched, []);
});

Deno.test("with --teaching-can-build teaching sets up a lab, and still configures and removes nothing", async () => {
  await using server = await startChatServer({
    model: { copilot_mode: "teaching_assistant" },
    config: { teachingCanBuild: true },
  });
  const drawing = { x: 0, y: 0, text: "Area 0" };
  const ip = { device_configs: [{ device_name: "PC1", commands: ["ip 10.9.9.9/24"] }] };
  const calls: Call[] = [
    { id: "draw", name: "create_gns3_text_drawing", args: drawing },
    { id: "ip", name: "execute_vpcs_commands", args: ip },
    { id: "delete", name: "delete_gns3_node", args: { node_ids: ["PC1"] } },
  ];
  const key = server.model.script("t", [toolCalls(calls), text("There it is.")]);
  const turn = await server.chat("alice").send(key);
  const status = Object.fromEntries(
    turn.of("tool_end").map((event) => [event.tool_call_id, event.status]),
  );
  assert.deepEqual(status, { draw: "success", ip: "error", delete: "error" });
  const [asked] = server.model.requests("t");
  assert.match(JSON.stringify(asked!.body), /you may also set the lab up/);
  assert.doesNotMatch(JSON.stringify(asked!.body), /"name":"delete_gns3_node"/);
});
