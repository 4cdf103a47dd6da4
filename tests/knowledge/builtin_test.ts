// The embedded skills: complete, consistent, and right as far as programs on this machine can tell.
import assert from "node:assert/strict";
import { parse } from "yaml";
import { z } from "zod";
import { PLATFORMS } from "../../src/devices/platforms/mod.ts";
import { BUILTIN } from "../../src/knowledge/builtin/mod.ts";
import { readDocument } from "../../src/knowledge/document.ts";
import { hasProgram, testWhere } from "../e2e/needs.ts";
import { skillsWith } from "../fakes/skills.ts";
import { DEVICE_TYPES, deviceHead, injectionSchema, type IssueFile, packetSchema } from "./schemas.ts";

const ROOT = new URL("../../src/knowledge/builtin/", import.meta.url);
const filesIn = (folder: string) => BUILTIN.filter(({ path }) => path.startsWith(`${folder}/`));
/** Strict, unlike the program: a key that stands twice is a mistake here. */
const yaml = (text: string): unknown => parse(text, { uniqueKeys: true });

function checked<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const result = schema.safeParse(value);
  assert.ok(result.success, `${path}: ${result.success ? "" : z.prettifyError(result.error)}`);
  return result.data;
}

const PACKETS = filesIn("packet_analysis").map(({ path, text }) => checked(packetSchema, yaml(text), path));
const CATALOGUES = filesIn("injection").map(({ path, text }) => checked(injectionSchema, yaml(text), path));
const ISSUES: [id: string, issue: IssueFile][] = CATALOGUES.flatMap(({ issues }) => Object.entries(issues));

Deno.test("every file of the folder is embedded, under its own path and with its own text", async () => {
  const found: string[] = [];
  for (const folder of ["device", "feature", "injection", "packet_analysis"]) {
    for await (const { name } of Deno.readDir(new URL(`${folder}/`, ROOT))) found.push(`${folder}/${name}`);
  }
  assert.deepEqual(BUILTIN.map(({ path }) => path).sort(), found.sort());
  for (const { path, text } of BUILTIN) {
    assert.equal(text, await Deno.readTextFile(new URL(path, ROOT)), path);
  }
});

Deno.test("the program reads all of them without a complaint", async () => {
  const { devices, packets, injections, problems } = await skillsWith().knowledge();
  assert.deepEqual(problems, []);
  assert.deepEqual([...devices.keys()].sort(), [...DEVICE_TYPES, "topology_planner"].sort());
  assert.equal(packets.size, PACKETS.length);
  assert.equal(injections.size, CATALOGUES.length);
});

Deno.test("device skills have a head, and the topics that their kind has", async () => {
  for (const file of [...filesIn("device"), ...filesIn("feature")]) {
    checked(deviceHead, readDocument(file).values, file.path);
  }
  const { devices } = await skillsWith().knowledge();
  const common = ["interfaces", "static_routes", "verification", "saving"];
  const router = [...common, "ospf", "bgp", "acl"];
  const network = [...router, "vlan", "stp", "dhcp", "nat"];
  const wanted: Record<(typeof DEVICE_TYPES)[number], string[]> = {
    cisco_ios_telnet: [...network, "eigrp"],
    gns3_huawei_telnet_ce: network,
    gns3_ruijie_telnet: network,
    gns3_vpcs_telnet: [...common, "dhcp"],
    gns3_frr_telnet: [...router, "eigrp"],
    gns3_linux_telnet: [...common, "vlan", "stp", "dhcp", "nat", "acl"],
  };
  for (const [type, topics] of Object.entries(wanted)) {
    const skill = devices.get(type)!;
    assert.deepEqual([...skill.topics.keys()].sort(), topics.sort(), type);
    for (const [key, { content }] of skill.topics) {
      assert.ok(String(content).length > 80 && String(content).length < 4_000, `${type} ${key}`);
    }
    assert.ok(String(skill.overview).length > 300, type);
  }
});

Deno.test("every platform of the program has a device skill, by one of its tags", async () => {
  const { devices } = await skillsWith().knowledge();
  const known = new Set([...devices].flatMap(([type, { aliases }]) => [type, ...aliases]));
  assert.ok(PLATFORMS.length > 0);
  for (const { name, deviceTypes } of PLATFORMS) {
    assert.ok(
      deviceTypes.some((type) => devices.has(type)),
      `${name}: none of ${deviceTypes.join(", ")} has a skill`,
    );
    assert.ok(known.has(name) || deviceTypes.some((type) => known.has(type)), name);
  }
});

Deno.test("there are packet skills for the eight protocols, each with its own name", () => {
  const names = ["arp", "bgp", "dhcp", "dns", "icmp", "ospf", "stp", "tcp"];
  assert.deepEqual(PACKETS.map(({ protocol_key }) => protocol_key).sort(), names);
});

Deno.test("there are at least 30 faults over ten subjects, no id and no name twice", () => {
  assert.ok(ISSUES.length >= 30, `${ISSUES.length}`);
  assert.ok(CATALOGUES.length >= 10);
  for (
    const values of [
      ISSUES.map(([id]) => id),
      ISSUES.map(([, { name }]) => name),
      ISSUES.map(([, i]) => i.symptom),
    ]
  ) {
    const twice = values.filter((value, at) => values.indexOf(value) !== at);
    // The same mistake exists in several protocols.
    assert.deepEqual(twice.filter((value) => !COMMON_NAMES.has(value)), []);
  }
  const levels = new Set(ISSUES.map(([, { difficulty }]) => difficulty));
  assert.equal(levels.size, 3);
});
const COMMON_NAMES = new Set([
  "Passive interface on a transit link",
  "Network not announced",
  "Authentication on one end only",
]);

/** Every command list of the faults, with where it stands. */
function* commandLists(): Generator<
  { where: string; type: string; kind: string; commands: string[]; undo: string[] }
> {
  for (const [id, issue] of ISSUES) {
    for (const [type, lists] of Object.entries(issue.platforms)) {
      if ("filters" in lists) continue;
      for (const [kind, commands] of Object.entries(lists)) {
        yield { where: `${id} ${type} ${kind}`, kind, type, commands, undo: lists.undo };
      }
    }
  }
}

Deno.test("every value that a command needs is explained, and every explained value is needed", () => {
  for (const [id, issue] of ISSUES) {
    const used = new Set(JSON.stringify(issue.platforms).match(/<\w+>/g)?.map((name) => name.slice(1, -1)));
    assert.deepEqual([...used].sort(), Object.keys(issue.values).sort(), id);
  }
});

Deno.test("what is injected is undone: each command that starts a mode has its like, and what was put in is taken out", () => {
  const mode = /^(interface|router|bgp|ospf|ip dhcp pool|vlan) <|^router ospf$/;
  const lists = [...commandLists()];
  assert.ok(lists.length > 200);
  for (const { where, kind, commands, undo } of lists) {
    if (kind !== "inject") continue;
    assert.notDeepEqual(undo, commands, where);
    for (const line of commands.filter((line) => mode.test(line))) {
      if (!/^(no|undo) /.test(line)) {
        assert.ok(undo.includes(line), `${where}: undo does not enter "${line}"`);
      }
    }
    // `x` → `no x`, `no x` → `x`, or the same words with another value.
    const stem = (line: string) => line.replace(/^(no|undo|default) /, "").split(/[ <]/)[0];
    const stems = new Set(undo.map(stem));
    const bounced = (line: string) =>
      commands.includes(line.startsWith("no ") ? line.slice(3) : `no ${line}`);
    const forgotten = commands.filter((line) =>
      !stems.has(stem(line)) && !PARTS.has(stem(line)!) && !bounced(line)
    );
    assert.deepEqual(forgotten, [], where);
  }
});
/** Lines inside of something that is taken out as a whole. */
const PARTS = new Set([
  "deny",
  "permit",
  "rule",
  "key-string",
  "key",
  "quit",
  "exit",
  "area",
  "address-family",
]);

Deno.test("commands are of their platform's language, and none is a way around the tools", () => {
  for (const { where, type, kind, commands } of commandLists()) {
    const text = commands.join("\n");
    const huawei = type === "gns3_huawei_telnet_ce";
    if (kind === "verify") {
      const look = huawei
        ? /^(display|ping) /
        : type === "gns3_linux_telnet"
        ? /^(ip|sysctl|iptables) /
        : /^(show|ping) /;
      for (const line of commands) assert.match(line, look, where);
      if (type === "gns3_linux_telnet") assert.doesNotMatch(text, /sysctl -w|iptables .*-[ADI] /, where);
    } else {
      assert.doesNotMatch(
        text,
        /^(show|display|configure|conf t|system-view|commit|write|save|copy|reload|erase|delete)\b/m,
        where,
      );
      if (huawei) assert.doesNotMatch(text, /^no /m, where);
      else if (type !== "gns3_linux_telnet") assert.doesNotMatch(text, /^undo /m, where);
    }
    // Filters of output are refused by the tools that only look.
    assert.doesNotMatch(text.replace(/<\w+>/g, ""), /[|;&<>]/, where);
  }
});

/** Every filter and every field of the packet skills. */
const FILTERS = PACKETS.flatMap((skill) => [
  skill.display_filter,
  ...skill.filter_examples.map(({ filter }) => filter),
  /-Y (?:"([^"]+)"|(\S+))/.exec(skill.tshark_args)!.slice(1).find((one) => one)!,
]);
const FIELDS = new Set(PACKETS.flatMap((skill) => [
  ...skill.fields.map(({ tshark_field }) => tshark_field),
  ...[...skill.tshark_args.matchAll(/-e (\S+)/g)].map((match) => match[1]!),
]));

const needsTshark = hasProgram("tshark") ? null : "there is no tshark on PATH";

testWhere(needsTshark, "tshark knows every field of the packet skills", async () => {
  const { stdout } = await new Deno.Command("tshark", { args: ["-G", "fields"], stderr: "null" }).output();
  const known = new Set<string>();
  for (const line of new TextDecoder().decode(stdout).split("\n")) {
    const [kind, , name] = line.split("\t");
    if (kind === "F") known.add(name!);
  }
  assert.ok(known.size > 100_000 && FIELDS.size > 50);
  assert.deepEqual([...FIELDS].filter((name) => !known.has(name)), []);
});

testWhere(needsTshark, "tshark takes every display filter of the packet skills", async () => {
  const empty = await Deno.makeTempFile({ suffix: ".pcap" });
  // Header of a pcap file of Ethernet frames, without any (draft-ietf-opsawg-pcap, section 4).
  await Deno.writeFile(
    empty,
    new Uint8Array([0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]),
  );
  const take = async (filter: string) => {
    const args = ["-r", empty, "-Y", filter];
    const { code, stderr } = await new Deno.Command("tshark", { args, stdout: "null" }).output();
    return { code, said: new TextDecoder().decode(stderr) };
  };
  try {
    assert.ok(FILTERS.length > 40);
    const all = await take(FILTERS.map((filter) => `(${filter})`).join(" || "));
    assert.equal(all.code, 0, all.said);
    assert.notEqual((await take("(arp) || (nonsense.field == 1)")).code, 0);
  } finally {
    await Deno.remove(empty);
  }
});

/** vtysh from a package, or the one that the lab's routers are made of. */
function vtysh(): { program: string; env: Record<string, string> } | null {
  if (hasProgram("vtysh")) return { program: "vtysh", env: {} };
  const cache = Deno.env.get("LAB_CACHE") ??
    `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/gns3-lab`;
  const root = `${cache}/router/root`;
  try {
    if (!Deno.statSync(`${root}/usr/bin/vtysh`).isFile) return null;
  } catch {
    return null;
  }
  const libraries = ["usr/lib/x86_64-linux-gnu/frr", "usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"];
  return {
    program: `${root}/usr/bin/vtysh`,
    env: { LD_LIBRARY_PATH: libraries.map((dir) => `${root}/${dir}`).join(":") },
  };
}

/** Values that fit every placeholder of the faults. */
const SAMPLE: Record<string, string> = {
  interface: "eth0",
  address: "10.0.12.1",
  length: "24",
  wrong_length: "25",
  next_hop: "10.0.12.2",
  wrong_next_hop: "10.0.12.3",
  network: "10.2.0.0",
  area: "1",
  wrong_area: "2",
  asn: "65001",
  remote_asn: "65002",
  wrong_asn: "65012",
  neighbor: "10.0.12.2",
  hops: "2",
};

const frr = vtysh();
testWhere(
  frr ? null : "there is no vtysh (FRR)",
  "FRR takes every configuration command of its faults",
  async () => {
    const dir = await Deno.makeTempDir();
    await Deno.writeTextFile(`${dir}/vtysh.conf`, "");
    const check = async (commands: string[]) => {
      await Deno.writeTextFile(`${dir}/frr.conf`, `${commands.join("\n")}\n`);
      const command = new Deno.Command(frr!.program, {
        args: ["--config_dir", dir, "-C", "-f", `${dir}/frr.conf`],
        env: frr!.env,
      });
      const { code, stdout, stderr } = await command.output();
      return { code, said: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
    };
    try {
      let count = 0;
      for (const { where, type, kind, commands } of commandLists()) {
        if (type !== "gns3_frr_telnet" || kind === "verify") continue;
        const filled = commands.map((line) =>
          line.replace(/<(\w+)>/g, (_, name) => SAMPLE[name] ?? `<${name}>`)
        );
        const { code, said } = await check([
          "router bgp 65001",
          "neighbor 10.0.12.2 remote-as 65002",
          "exit",
          ...filled,
        ]);
        assert.equal(code, 0, `${where}: ${said}`);
        count++;
      }
      assert.ok(count > 30, `${count}`);
      assert.notEqual((await check(["router ospf", "make it so"])).code, 0);
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  },
);
