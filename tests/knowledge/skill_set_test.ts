// How files become skills: the layout of the public repository, ours below it, and files that are wrong.
import assert from "node:assert/strict";
import { skillsWith } from "../fakes/skills.ts";

const file = (path: string, text: string) => ({ path, text });
const keys = (map: ReadonlyMap<string, unknown>) => [...map.keys()];

Deno.test("a device in one file is known by its device_type; what it holds is its overview", async () => {
  const yaml = "name: Acme\ndescription: routers\ndevice_type: acme_os\ncategory: device\nnotes: [one]\n" +
    "config_commands: { ip: { syntax: ip <a> } }\n";
  const { devices } = await skillsWith(file("device/acme.yaml", yaml)).knowledge();
  const acme = devices.get("acme_os")!;
  assert.deepEqual(
    [acme.name, acme.description, acme.category, acme.aliases, acme.overview, keys(acme.topics)],
    [
      "Acme",
      "routers",
      "device",
      ["acme"],
      { notes: ["one"], config_commands: { ip: { syntax: "ip <a>" } } },
      [],
    ],
  );
});

Deno.test("a device in a folder has a base and topics, each a file", async () => {
  const { devices, problems } = await skillsWith(
    file("device/acme/_base.yaml", "name: Acme\ndevice_type: acme_os\nnotes: [one]\n"),
    file(
      "device/acme/bgp.yaml",
      "device_type: acme_os\ntopic: bgp\nname: BGP on Acme\ndescription: d\nnotes: [two]\n",
    ),
    file("device/acme/ospf.md", "---\ndevice_type: acme_os\n---\nWords.\n\n## Not cut\nhere\n"),
  ).knowledge();
  const acme = devices.get("acme_os")!;
  assert.deepEqual([acme.name, acme.overview], ["Acme", { notes: ["one"] }]);
  assert.deepEqual(acme.topics.get("bgp"), {
    title: "BGP on Acme",
    content: { description: "d", notes: ["two"] },
  });
  assert.deepEqual(acme.topics.get("ospf"), { title: "ospf", content: "Words.\n\n## Not cut\nhere" });
  assert.deepEqual(problems, []);
});

Deno.test("topics of a device that is ours are added, and one of the same name replaces ours", async () => {
  const before = (await skillsWith().knowledge()).devices.get("gns3_frr_telnet")!;
  const { devices } = await skillsWith(
    file("device/frr/isis.yaml", "device_type: gns3_frr_telnet\ntopic: isis\nname: IS-IS\nnotes: [n]\n"),
    file("device/frr/ospf.yaml", "device_type: gns3_frr_telnet\ntopic: ospf\nname: OSPF here\nnotes: [n]\n"),
  ).knowledge();
  const frr = devices.get("gns3_frr_telnet")!;
  assert.deepEqual(keys(frr.topics), [...keys(before.topics), "isis"]);
  assert.deepEqual([frr.name, frr.overview, frr.category], [before.name, before.overview, "device"]);
  assert.deepEqual(frr.topics.get("ospf"), { title: "OSPF here", content: { notes: ["n"] } });
});

Deno.test("a device by another name of ours is the same device", async () => {
  const { devices } = await skillsWith(
    file("device/frr/isis.yaml", "device_type: frr_vtysh\ntopic: isis\nname: IS-IS\nnotes: [n]\n"),
  ).knowledge();
  assert.ok(devices.get("gns3_frr_telnet")!.topics.has("isis") && !devices.has("frr_vtysh"));
});

Deno.test("a Markdown device's headings are its topics", async () => {
  const text =
    "---\nname: acme_os\ndescription: how to talk to it\n---\n# ACME\n\nUse wibble.\n\n## Saving\nwobble\n";
  const { devices } = await skillsWith(file("device/acme_os.md", text)).knowledge();
  const acme = devices.get("acme_os")!;
  assert.equal(acme.overview, "# ACME\n\nUse wibble.");
  assert.deepEqual(acme.topics.get("saving"), { title: "Saving", content: "wobble" });
});

Deno.test("features, packet skills and faults are read; faults of one subject come together", async () => {
  const { devices, packets, injections } = await skillsWith(
    file("feature/planner.yaml", "name: P\ndevice_type: planner\nworkflow: { a: 1 }\n"),
    file(
      "packet_analysis/isis.yaml",
      "name: IS-IS\ndescription: d\nprotocol_key: isis\ndisplay_filter: isis\n",
    ),
    file("packet_analysis/arp.md", "---\nname: ARP here\n---\ntext\n"),
    file(
      "injection/ospf_issues.yaml",
      "name: OSPF here\ndescription: d\nprotocols: [ospf]\nissues:\n  ospf_new:\n    name: New\n    symptoms: [s]\n" +
        "  ospf_cost_detour:\n    name: Ours, told otherwise\n    difficulty: beginner\n",
    ),
    file("injection/rain.md", "---\nname: Rain\ndifficulty: advanced\n---\nIt rains in.\n"),
  ).knowledge();
  assert.equal(devices.get("planner")!.category, "feature");
  assert.deepEqual(packets.get("isis")!.content, { display_filter: "isis" });
  assert.equal(packets.get("arp")!.content, "text");
  const ospf = injections.get("injection_ospf")!;
  assert.equal(ospf.name, "OSPF here");
  assert.ok(ospf.issues.size > 10 && ospf.issues.has("ospf_area_mismatch"));
  assert.deepEqual(ospf.issues.get("ospf_new")!.protocols, ["ospf"]);
  assert.deepEqual(ospf.issues.get("ospf_new")!.content.symptoms, ["s"]);
  assert.deepEqual(
    [ospf.issues.get("ospf_cost_detour")!.name, ospf.issues.get("ospf_cost_detour")!.platforms],
    ["Ours, told otherwise", []],
  );
  const rain = injections.get("injection_rain")!.issues.get("rain")!;
  assert.deepEqual([rain.name, rain.difficulty, rain.content.text], ["Rain", "advanced", "It rains in."]);
});

Deno.test("a broken file is named and left out; all others count", async () => {
  const set = skillsWith(
    file("device/a.yaml", "name: [\n"),
    file("device/b.yaml", "name: B\ndevice_type: b_os\n"),
    file("injection/c_issues.yaml", "name: C\n"),
    file("injection/d_issues.yaml", "name: D\nissues: { d_one: { severity: high } }\n"),
    file("prompts/title.md", "# SPDX-License-Identifier: X\n#\n"),
  );
  const { devices, injections, problems } = await set.knowledge();
  assert.ok(devices.has("b_os") && !injections.has("injection_c") && !injections.has("injection_d"));
  assert.deepEqual(problems.map(({ file }) => file), [
    "prompts/title.md",
    "device/a.yaml",
    "injection/c_issues.yaml",
    "injection/d_issues.yaml",
  ]);
  assert.deepEqual(
    problems.map(({ problem }) => problem.replace(/:.*/, "")),
    [
      "the prompt is empty",
      "not YAML",
      "`issues` is missing or not a mapping",
      "the issue `d_one` has no name",
    ],
  );
});

Deno.test("prompts are there at once, without the licence that people put above them", () => {
  const licence = "# SPDX-License-Identifier: MIT\n#\n# Copyright\n\n";
  const { prompts } = skillsWith(
    file("prompts/title.md", `${licence}# Role\nTitle it.\n`),
    file("prompts/common.md", "# Role\nBe kind.\n"),
  );
  assert.deepEqual([...prompts], [["title", "# Role\nTitle it."], ["common", "# Role\nBe kind."]]);
});

Deno.test("the folder's forbidden commands are refused with a reason", () => {
  const set = skillsWith(file("config/forbidden_commands.txt", "# x\ndebug\nping -f\n"));
  assert.deepEqual(set.forbiddenCommands, ["debug", "ping -f"]);
  assert.equal(set.forbidden("deb ip ospf"), "the administrator of this server has forbidden `debug`");
  assert.equal(set.forbidden("deb ip ospf", false), undefined);
  assert.equal(set.forbidden("show ip route"), undefined);
  assert.equal(skillsWith().forbidden("debug all"), undefined);
});
