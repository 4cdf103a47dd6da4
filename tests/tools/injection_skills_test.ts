// injection_skills: faults that suit the lab, what was used before, and how to get it out again.
import assert from "node:assert/strict";
import { AppError } from "../../src/domain/error.ts";
import type { CopilotMode } from "../../src/domain/model_config.ts";
import { toolsFor } from "../../src/tools/mod.ts";
import { executeCall, prepareCall } from "../../src/tools/run.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { faultsInMemory, skillsWith } from "../fakes/skills.ts";

// deno-lint-ignore no-explicit-any -- the answers' shapes are what the tests are about
type Json = any;

const project = {
  project_id: "438ab39b-d78d-4c48-944c-a987cea63540",
  name: "lab",
  status: "opened" as const,
};
const DEVICES: Record<string, string> = {
  R1: "gns3_frr_telnet",
  R2: "gns3_frr_telnet",
  PC1: "gns3_vpcs_telnet",
  SW1: "",
};

function lab(options: { mode?: CopilotMode; gns3?: () => Promise<Json> } = {}) {
  const context = {
    project,
    mode: options.mode ?? "troubleshooting_injection",
    signal: new AbortController().signal,
    skills: skillsWith(),
    faults: faultsInMemory(),
    now: () => Date.UTC(2026, 2, 1, 10, 2),
    gns3: { nodes: options.gns3 ?? (() => Promise.resolve(Object.keys(DEVICES).map((name) => ({ name })))) },
    consoles: {
      platform: ({ name }: { name: string }) => {
        if (!DEVICES[name]) return Promise.reject(new AppError("validation_error", "no tag"));
        return Promise.resolve({ deviceTypes: [DEVICES[name]] });
      },
    },
  } as unknown as ToolContext;
  return async (args: unknown): Promise<Json> => {
    const prepared = prepareCall({ name: "injection_skills", arguments: JSON.stringify(args) }, context);
    const { output, status, code } = await executeCall(prepared, context, {
      onFault: (fault) => {
        throw fault;
      },
    });
    assert.ok(output.length < 30_000);
    return { ...JSON.parse(output), status, ...(code ? { code } : {}) };
  };
}

const types = (answer: Json) => answer.fault_types.map((one: Json) => one.device_type);

// contract section 6
Deno.test("the tool is there to inject and to list, and not in lab automation", () => {
  const has = (mode: CopilotMode) => toolsFor(mode).some(({ name }) => name === "injection_skills");
  assert.deepEqual(
    [has("teaching_assistant"), has("troubleshooting_injection"), has("lab_automation_assistant")],
    [true, true, false],
  );
});

Deno.test("list gives the fault types that suit what runs in the lab, and how many have commands for its devices", async () => {
  const ask = lab();
  const all = await ask({});
  assert.equal(all.fault_types.length, 11);
  assert.deepEqual(all.devices_of_this_lab, { gns3_frr_telnet: ["R1", "R2"], gns3_vpcs_telnet: ["PC1"] });
  assert.deepEqual(types(await ask({ action: "list", context: ["ospf", "VLAN"] })), [
    "injection_ospf",
    "injection_vlan_trunk",
  ]);
  assert.deepEqual(types(await ask({ action: "list", context: ["rstp"] })), ["injection_stp"]);
  const ospf = (await ask({ context: ["OSPFv2"] })).fault_types[0];
  assert.deepEqual([ospf.device_type, ospf.faults, ospf.with_commands_for_this_lab], [
    "injection_ospf",
    10,
    8,
  ]);
  const none = await ask({ action: "list", context: ["quantum"] });
  assert.match(none.note, /Nothing is about quantum/);
  assert.equal(none.fault_types.length, 11);
});

Deno.test("a fault type gives names, difficulty and the lab's devices; one fault gives its commands", async () => {
  const ask = lab();
  const index = await ask({ device_type: "injection_ospf", detail: "index" });
  assert.deepEqual(index.issues.ospf_passive_interface, {
    name: "Passive interface on a transit link",
    difficulty: "beginner",
    platforms: ["cisco_ios_telnet", "gns3_huawei_telnet_ce", "gns3_ruijie_telnet", "gns3_frr_telnet"],
    devices_of_this_lab: ["R1", "R2"],
  });
  assert.deepEqual(index.issues.ospf_mtu_mismatch.devices_of_this_lab, []);
  const one = await ask({ device_type: "injection_ospf", issue: "ospf_passive_interface" });
  assert.deepEqual(one.platforms.gns3_frr_telnet.undo, ["router ospf", "no passive-interface <interface>"]);
  assert.deepEqual(one.devices_of_this_lab, ["R1", "R2"]);
  const link = await ask({ issue: "link_blocks_ospf" });
  assert.deepEqual(link.platforms.gns3_link.filters, { bpf: ["ip proto 89"] });
  assert.deepEqual(link.devices_of_this_lab, ["any link"]);
  const forPc = await ask({ device_type: "gns3_vpcs_telnet" });
  assert.deepEqual(Object.keys(forPc.issues).sort(), ["host_wrong_gateway", "host_wrong_subnet"]);
});

Deno.test("names that are not quite right are understood, those that mean nothing get a list", async () => {
  const ask = lab();
  assert.equal((await ask({ device_type: "ospf" })).device_type, "injection_ospf");
  assert.equal((await ask({ device_type: "spanning-tree" })).device_type, "injection_stp");
  const near = await ask({ device_type: "injection_ospf", issue: "ospf_passive_interfaces" });
  assert.deepEqual([near.issue, /not a fault's id/.test(near.note)], ["ospf_passive_interface", true]);
  assert.equal(
    (await ask({ device_type: "injection_bgp", issue: "ospf_cost_detour" })).issue,
    "ospf_cost_detour",
  );
  const type = await ask({ device_type: "quantum" });
  assert.deepEqual([type.status, type.fault_types.length], ["error", 11]);
  const issue = await ask({ device_type: "injection_nat", issue: "xyzzyplugh" });
  assert.ok(issue.status === "error" && issue.issues.includes("nat_inside_missing"));
  assert.equal((await ask({ issue: "xyzzyplugh" })).fault_types.length, 11);
});

// W8
Deno.test("a fault is recorded, counts as used, is undone by its own commands, and stays used", async () => {
  const ask = lab();
  const undo = [{ device_name: "R1", commands: ["router ospf", "no passive-interface eth0"] }];
  const recorded = await ask({
    action: "record",
    issue: "ospf_passive_interface",
    devices: ["R1"],
    undo,
    note: "eth0",
  });
  assert.deepEqual([recorded.fault_id, recorded.recorded], [1, true]);
  assert.match(recorded.next, /only the symptom/);
  const listed = await ask({ context: ["ospf"] });
  assert.deepEqual(listed.used_before, ["ospf_passive_interface"]);
  assert.deepEqual(listed.still_in_the_lab, [{
    fault_id: 1,
    issue: "ospf_passive_interface",
    devices: ["R1"],
  }]);
  assert.equal(
    (await ask({ device_type: "injection_ospf" })).issues.ospf_passive_interface.used_before,
    true,
  );
  assert.equal((await ask({ issue: "ospf_passive_interface" })).used_before[0].by, "alice");
  for (const args of [{ action: "undo" }, { action: "undo", fault_id: 1 }]) {
    assert.deepEqual((await ask(args)).faults[0].undo, undo);
  }
  const out = await ask({ action: "undone", fault_id: 1 });
  assert.equal(out.undone_at, "2026-03-01T10:02:00.000Z");
  assert.deepEqual((await ask({ action: "undo" })).faults, []);
  assert.deepEqual((await ask({})).still_in_the_lab, []);
  const [used] = (await ask({ action: "used" })).faults;
  assert.deepEqual([used.issue, used.title, used.by, used.note, "still_in_the_lab" in used], [
    "ospf_passive_interface",
    "Passive interface on a transit link",
    "alice",
    "eth0",
    false,
  ]);
});

Deno.test("a fault of the agent's own is recorded too; one that nobody could undo is not", async () => {
  const ask = lab();
  const own = { action: "record", issue: "snow_in_the_cable", devices: ["link R1-R2"] };
  assert.equal((await ask(own)).status, "error");
  assert.equal((await ask({ ...own, note: "link 7f…: clear its filters" })).fault_id, 1);
  assert.equal((await ask({ action: "record", devices: ["R1"], note: "x" })).status, "error");
  assert.equal((await ask({ action: "record", issue: "x", note: "x" })).status, "error");
  assert.equal((await ask({ action: "undo", fault_id: 9 })).status, "error");
  assert.equal((await ask({ action: "undone" })).status, "error");
  assert.equal((await ask({ action: "undone", fault_id: 9 })).status, "error");
  assert.deepEqual((await ask({ action: "used" })).faults.map((one: Json) => one.title), [
    "snow_in_the_cable",
  ]);
});

// contract section 6: injection_skills only to list
Deno.test("in teaching mode faults are listed, and neither their commands nor what was used is told", async () => {
  const teach = lab({ mode: "teaching_assistant" });
  const list = await teach({ action: "list", context: ["ospf"] });
  assert.deepEqual(types(list), ["injection_ospf"]);
  assert.ok(!("used_before" in list) && !("still_in_the_lab" in list));
  const index = await teach({ device_type: "injection_ospf" });
  assert.ok(index.issues.ospf_area_mismatch.name && !JSON.stringify(index).includes("used_before"));
  assert.ok(!JSON.stringify(index).includes("passive-interface"));
  const undo = [{ device_name: "R1", commands: ["x"] }];
  for (
    const args of [
      { issue: "ospf_area_mismatch" },
      { action: "get", issue: "ospf_area_mismatch" },
      { action: "used" },
      { action: "undo" },
      { action: "undone", fault_id: 1 },
      { action: "record", issue: "ospf_area_mismatch", devices: ["R1"], undo },
    ]
  ) assert.match((await teach(args)).error, /only listed/, JSON.stringify(args));
});

Deno.test("without GNS3 faults are still listed; a sign-in that is over is said", async () => {
  const away = lab({ gns3: () => Promise.reject(new AppError("unavailable", "GNS3 does not answer.")) });
  const list = await away({ context: ["ospf"] });
  assert.deepEqual(types(list), ["injection_ospf"]);
  assert.ok(!("devices_of_this_lab" in list));
  const out = lab({ gns3: () => Promise.reject(new AppError("unauthorized", "Sign in again.")) });
  assert.equal((await out({})).code, "unauthorized");
});
