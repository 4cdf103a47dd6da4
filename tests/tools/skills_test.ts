// device_skills and packet_analysis_skills: short lists, one topic at a time, and help for names that are not quite right.
import assert from "node:assert/strict";
import { COPILOT_MODES } from "../../src/domain/model_config.ts";
import type { SkillSet } from "../../src/knowledge/skill_set.ts";
import { toolsFor } from "../../src/tools/mod.ts";
import { executeCall, prepareCall } from "../../src/tools/run.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { skillsWith } from "../fakes/skills.ts";

const project = {
  project_id: "438ab39b-d78d-4c48-944c-a987cea63540",
  name: "lab",
  status: "opened" as const,
};

// These tools touch neither GNS3 nor consoles.
function asking(name: string, skills: SkillSet = skillsWith()) {
  const context = {
    project,
    mode: "teaching_assistant",
    signal: new AbortController().signal,
    now: () => 0,
    skills,
  } as ToolContext;
  return async (args: unknown) => {
    const prepared = prepareCall({ name, arguments: JSON.stringify(args) }, context);
    const { output, status } = await executeCall(prepared, context, {
      onFault: (fault) => {
        throw fault;
      },
    });
    assert.ok(output.length < 30_000, `${output.length}`);
    return { ...JSON.parse(output), status, size: output.length };
  };
}

Deno.test("both tools are there in every mode and only read", () => {
  for (const mode of COPILOT_MODES) {
    const tools = toolsFor(mode).filter(({ name }) =>
      ["device_skills", "packet_analysis_skills"].includes(name)
    );
    assert.deepEqual(tools.map(({ risk }) => risk), ["read", "read"], mode);
  }
});

Deno.test("device_skills lists device types and the names of their topics, and no more", async () => {
  const ask = asking("device_skills");
  for (const args of [{}, { action: "list" }, { action: "list", device_type: "cisco_ios_telnet" }]) {
    const { skills, size } = await ask(args);
    assert.equal(skills.length, 7);
    const cisco = skills.find((one: { device_type: string }) => one.device_type === "cisco_ios_telnet");
    assert.ok(cisco.topics.includes("eigrp") && cisco.topics.includes("nat"));
    assert.ok(size < 4_000, `${size}`);
  }
});

Deno.test("device_skills gives a device's overview and index, or one topic", async () => {
  const ask = asking("device_skills");
  const whole = await ask({ device_type: "gns3_huawei_telnet_ce" });
  assert.match(whole.overview, /commit/);
  assert.equal(whole.topics.vlan, "VLANs, access ports, trunks, VLANIF");
  assert.ok(!("overview" in await ask({ device_type: "gns3_huawei_telnet_ce", detail: "index" })));
  const ospf = await ask({ device_type: "gns3_huawei_telnet_ce", topic: "ospf" });
  assert.match(ospf.content, /silent-interface/);
  assert.ok(!("topics" in ospf) && !("note" in ospf));
});

Deno.test("device_skills understands what people call devices and topics", async () => {
  const ask = asking("device_skills");
  for (
    const [device_type, topic, wanted] of [
      ["cisco", "spanning tree", ["cisco_ios_telnet", "stp"]],
      ["IOSv", "trunk", ["cisco_ios_telnet", "vlan"]],
      ["huawei", "access-list", ["gns3_huawei_telnet_ce", "acl"]],
      ["FRR", "save", ["gns3_frr_telnet", "saving"]],
      ["vpcs", "ip address", ["gns3_vpcs_telnet", "interfaces"]],
      ["linux", "iptables", ["gns3_linux_telnet", "acl"]],
      ["frrouting", "opsf", ["gns3_frr_telnet", "ospf"]],
    ] as const
  ) {
    const found = await ask({ device_type, topic });
    assert.deepEqual([found.device_type, found.topic], wanted, `${device_type} ${topic}`);
  }
  assert.match(
    (await ask({ device_type: "frr", topic: "opsf" })).note,
    /"opsf" is not a name here; this is ospf/,
  );
  const eigrp = await ask({ topic: "eigrp" });
  assert.deepEqual(
    eigrp.skills.map((one: { device_type: string }) => one.device_type).sort(),
    ["cisco_ios_telnet", "gns3_frr_telnet"],
  );
});

Deno.test("device_skills says what there is when a name means nothing", async () => {
  const ask = asking("device_skills");
  const device = await ask({ device_type: "quantum" });
  assert.equal(device.status, "error");
  assert.match(device.error, /"quantum"/);
  assert.ok(device.device_types.includes("gns3_frr_telnet"));
  const topic = await ask({ device_type: "gns3_vpcs_telnet", topic: "quantum" });
  assert.match(topic.error, /no topic "quantum"/);
  assert.equal(topic.topics.dhcp, "DHCP client");
});

Deno.test("device_skills shows a long foreign skill in parts that can be asked for", async () => {
  const long = (word: string) => `${word} `.repeat(3_000);
  const yaml = `name: Big\ndevice_type: big_os\nnotes: [${long("n")}]\ntroubleshooting: {a: ${
    long("t")
  }}\nx: [${long("x")}]\nalways: { y: ${long("yyyyyyyyyyyyy")} }\n`;
  const ask = asking("device_skills", skillsWith({ path: "device/big.yaml", text: yaml }));
  const whole = await ask({ device_type: "big_os" });
  assert.deepEqual(whole.overview.left_out, ["always"]);
  assert.match((await ask({ device_type: "big_os", topic: "troubleshooting" })).content.a, /^t t t/);
  const text = `---\nname: Text\n---\n${long("wooooooooord")}`;
  const cut = await asking("device_skills", skillsWith({ path: "device/text_os.md", text }))({
    device_type: "text_os",
  });
  assert.match(cut.overview, /… \(\d+ more characters are left out\)$/);
});

Deno.test("device_skills stays short with very many skills", async () => {
  const files = Array.from({ length: 400 }, (_, i) => ({
    path: `device/os_${i}.yaml`,
    text: `name: System ${i}\ndescription: ${"words ".repeat(30)}\ndevice_type: os_${i}\n`,
  }));
  const { skills, more } = await asking("device_skills", skillsWith(...files))({});
  assert.ok(skills.length > 200 && !("description" in skills[0]));
  assert.ok(more === undefined || /more are not shown/.test(more));
});

Deno.test("packet_analysis_skills lists protocols, and gives one with its fields and filters", async () => {
  const ask = asking("packet_analysis_skills");
  for (const args of [{}, { action: "list" }, { action: "get" }, { action: "list", protocol: "ospf" }]) {
    const { protocols, size } = await ask(args);
    assert.equal(protocols.length, 8);
    assert.ok(size < 2_500);
  }
  const ospf = await ask({ action: "get", protocol: "ospf" });
  assert.deepEqual([ospf.protocol, ospf.display_filter], ["ospf", "ospf"]);
  assert.ok(
    ospf.fields.some((field: { tshark_field: string }) => field.tshark_field === "ospf.db.interface_mtu"),
  );
});

Deno.test("packet_analysis_skills takes other names, and helps with those it does not know", async () => {
  const ask = asking("packet_analysis_skills");
  for (
    const [name, protocol] of [["OSPFv2", "ospf"], ["ping", "icmp"], ["bootp", "dhcp"], ["rstp", "stp"], [
      "apr",
      "arp",
    ]]
  ) {
    assert.equal((await ask({ protocol: name })).protocol, protocol, name);
  }
  const unknown = await ask({ protocol: "quantum" });
  assert.equal(unknown.status, "error");
  assert.deepEqual(unknown.protocols.sort(), ["arp", "bgp", "dhcp", "dns", "icmp", "ospf", "stp", "tcp"]);
});
