// What may be sent to a device, and which kind of device a node is.
import assert from "node:assert/strict";
import type { Node } from "../../src/domain/project.ts";
import { platformOf } from "../../src/devices/choose.ts";
import { judge } from "../../src/devices/judge.ts";
import { limitOf } from "../../src/devices/platform.ts";
import { frr } from "../../src/devices/platforms/frr.ts";
import { linux } from "../../src/devices/platforms/linux.ts";
import { PLATFORMS } from "../../src/devices/platforms/mod.ts";
import { vpcs } from "../../src/devices/platforms/vpcs.ts";

const kind = (command: string) => judge(vpcs, command).kind;

Deno.test("VPCS commands that only look or test are reading", () => {
  const reading = [
    "show",
    "show ip",
    "sh ip all",
    "show arp",
    "ping 10.0.0.1",
    "ping 10.0.0.1 -c 3 -t",
    "trace 10.0.0.1",
    "tracer 10.0.0.1",
    "arp",
    "version",
    "ver",
    "history",
    "help",
    "?",
    "ip ?",
    "  show ip  ",
  ];
  for (const command of reading) assert.equal(kind(command), "read", command);
});

Deno.test("VPCS commands that configure, and all unknown ones, are changing", () => {
  const changing = [
    "ip 10.0.0.1/24",
    "ip dhcp",
    "dhcp",
    "set pcname Bob",
    "save",
    "save lab1",
    "load",
    "load lab1.vpc",
    "clear arp",
    "relay add 1 127.0.0.1:2",
    "echo hi",
    "sleep 5",
    "showme",
    "pingx 1",
    "arp x",
    "s",
  ];
  for (const command of changing) assert.equal(kind(command), "change", command);
});

// `! id` typed on a VPCS console ran a program on the host; VPCS skips bytes that it cannot print and reads on.
Deno.test("VPCS never gets `!` as a command, whatever stands before it", () => {
  const hidden = [
    "!",
    "! id",
    "!id",
    "  ! id",
    "\t! id",
    "\n! id",
    "show ip\n! id",
    "show ip\r! id",
    "show ip\r\n! id\n",
    "\x00! id",
    "\x1b! id",
    "\x7f! id",
    "x\b! id",
    "\u0085! id",
    "\u00a0! id",
    "\u200b! id",
    "\u2028! id",
    "\ufeff! id",
    "é! id",
    "\u{1f600}! id",
    "\ud800! id",
  ];
  for (const command of hidden) assert.equal(kind(command), "refused", JSON.stringify(command));
  const verdict = judge(vpcs, " ! id");
  assert.match(verdict.kind === "refused" ? verdict.why : "", /program on the GNS3 server/);
});

Deno.test("VPCS never gets what leaves the PC, in any abbreviation that it takes", () => {
  const leaving = [
    "rlogin 127.0.0.1 22",
    "rl 22",
    "r 22",
    "quit",
    "q",
    "qui",
    "disconnect",
    "di",
    "d",
    "QUIT",
    "save ../../x",
    "save /etc/cron.d/x",
    "load /etc/passwd",
    "lo ../x",
    "l /etc/passwd",
    "sa a/b",
    "save a b",
    "load .hidden",
    "",
    "   ",
    `echo ${"x".repeat(200)}`,
  ];
  for (const command of leaving) assert.equal(kind(command), "refused", command);
  for (const command of ["relay show", "dhcp -r", "load ?", "save pc-1.vpc"]) {
    assert.notEqual(kind(command), "refused");
  }
});

Deno.test("judge refuses the empty command and one with a line break by saying so", () => {
  const why = (command: string) => {
    const verdict = judge(vpcs, command);
    return verdict.kind === "refused" ? verdict.why : "";
  };
  assert.match(why(" "), /empty/);
  assert.match(why("show ip\nshow arp"), /line break/);
  assert.match(why("show ip\n"), /line break/);
});

Deno.test("limitOf gives endless pings little time, long tests more, other commands the usual", () => {
  const limit = (command: string, platform = vpcs) => {
    const { ms, endless } = limitOf(platform, command, 30_000);
    return `${ms / 1_000}${endless ? " endless" : ""}`;
  };
  assert.equal(limit("ping 10.0.0.1 -t"), "10 endless");
  assert.equal(limit("ping 10.0.0.1"), "60");
  assert.equal(limit("ping 10.0.0.1 -c 50"), "120");
  assert.equal(limit("trace 10.0.0.1"), "60");
  assert.equal(limit("show ip"), "30");
  assert.equal(limit("do ping 10.0.0.1", frr), "6 endless");
  assert.equal(limit("traceroute 10.0.0.1", frr), "60");
  assert.equal(limit("ping 10.0.0.1", linux), "8 endless");
  assert.equal(limit("ping -c 3 10.0.0.1", linux), "60");
});

const node = (node_type: string, tags: string[] = []): Node => ({
  node_id: "n",
  name: "N1",
  node_type,
  status: "started",
  tags,
  x: 0,
  y: 0,
  ports: [],
});

// F15
Deno.test("platformOf goes by the tag, or by a type that is always of one kind, and says how to tag", () => {
  assert.equal(platformOf(node("vpcs"), PLATFORMS), vpcs);
  assert.equal(platformOf(node("docker", ["device_type:gns3_vpcs_telnet"]), PLATFORMS), vpcs);
  assert.equal(platformOf(node("qemu", ["device_type:huawei_telnet"]), PLATFORMS).name, "huawei_vrp");
  assert.equal(platformOf(node("dynamips"), PLATFORMS).name, "cisco_ios");
  assert.equal(platformOf(node("iou"), PLATFORMS).name, "cisco_ios");
  assert.throws(() => platformOf(node("qemu"), PLATFORMS), {
    code: "validation_error",
    message: /N1 \(qemu\).*tag device_type:<type>.*gns3_vpcs_telnet \(VPCS\), cisco_ios_telnet \(Cisco IOS\)/,
  });
  assert.throws(() => platformOf(node("qemu", ["device_type:toaster"]), PLATFORMS), {
    message: /device_type:toaster.*Known types: gns3_vpcs_telnet/,
  });
});

Deno.test("platformOf goes by the template's tag where the node has none, and the node's own wins", () => {
  const template = { name: "T", tags: ["os:linux", "device_type:gns3_frr_telnet"] };
  assert.equal(platformOf(node("qemu"), PLATFORMS, template).name, "frr");
  assert.equal(platformOf(node("qemu", ["device_type:cisco_ios"]), PLATFORMS, template).name, "cisco_ios");
  assert.throws(
    () => platformOf(node("qemu"), PLATFORMS, { name: "T", tags: ["device_type:toaster"] }),
    /toaster/,
  );
});

Deno.test("platformOf goes by the names of image, template and node where nothing is tagged", () => {
  const by = (image: string, template = "", name = "N1") => {
    const found = { ...node("qemu"), name, ...(image ? { image } : {}) };
    try {
      return platformOf(found, PLATFORMS, { name: template, tags: [] }).name;
    } catch {
      return "unknown";
    }
  };
  assert.equal(by("vios-adventerprisek9-m.vmdk.SPA.156-2.T"), "cisco_ios");
  assert.equal(by("x86_64_crb_linux-adventerprisek9-ms.bin", "Cisco IOL L3"), "cisco_ios");
  assert.equal(by("csr1000v-universalk9.17.03.qcow2"), "cisco_ios");
  assert.equal(by("", "Cisco IOSv 15.9"), "cisco_ios");
  assert.equal(by("ce12800-ce12800.qcow2"), "huawei_vrp");
  assert.equal(by("ar1000v-V300R022.qcow2", "HuaWei AR1000v"), "huawei_vrp");
  assert.equal(by("", "Ruijie Router"), "ruijie_rgos");
  assert.equal(by("frrouting/frr:v8.4"), "frr");
  assert.equal(by("alpine:latest"), "linux");
  assert.equal(by("ubuntu-24.04.qcow2"), "linux");
  assert.equal(by("", "", "FRR-1"), "frr");
  for (const name of ["R1", "web-server", "radios", "Juniper", "curios"]) {
    assert.equal(by("", "", name), "unknown", name);
  }
});

Deno.test("platformOf lets the tag decide on a VPCS node too, and keeps what protects the GNS3 server", () => {
  const tagged = platformOf(node("vpcs", ["device_type:cisco_ios_telnet"]), PLATFORMS);
  assert.equal(tagged.name, "cisco_ios");
  for (
    const command of [
      "! id",
      " ! id",
      "rlogin 127.0.0.1 22",
      "rl 22",
      "r 22",
      "save ../../x",
      "load /etc/passwd",
    ]
  ) {
    assert.equal(judge(tagged, command).kind, "refused", command);
  }
  for (const command of ["router ospf 1", "route-map A", "show version", "save", "logging host 10.0.0.1"]) {
    assert.notEqual(judge(tagged, command).kind, "refused", command);
  }
  assert.equal(platformOf(node("qemu", ["device_type:cisco_ios_telnet"]), PLATFORMS).name, "cisco_ios");
  assert.equal(platformOf(node("vpcs"), PLATFORMS, { name: "X", tags: ["device_type:cisco_ios"] }), vpcs);
});

Deno.test("every platform has modes that lead to each other, and tags of its own", () => {
  const tags = PLATFORMS.flatMap(({ deviceTypes }) => deviceTypes);
  assert.equal(new Set(tags).size, tags.length);
  for (const platform of PLATFORMS) {
    const names = platform.modes.map(({ name }) => name);
    for (const name of [platform.home, platform.configMode ?? platform.home]) {
      assert.ok(names.includes(name), name);
    }
    for (const { from } of platform.modes) assert.ok(from === undefined || names.includes(from), from);
    assert.ok(platform.wake.length > 0 && platform.interrupt.length > 0, platform.name);
  }
});
