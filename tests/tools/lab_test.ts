// The tools on a small real GNS3 server, in the shapes of both versions.
import assert from "node:assert/strict";
import { Consoles } from "../../src/devices/consoles.ts";
import { Gns3Client } from "../../src/gns3/client.ts";
import { executeCall, prepareCall, type ToolAnswer } from "../../src/tools/run.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { FakeConsole } from "../devices/fake_console.ts";
import { faultsInMemory, skillsWith } from "../fakes/skills.ts";
import { FakeGns3, PROJECT_ID, VPCS_TEMPLATE } from "../gns3/fake_gns3.ts";

// deno-lint-ignore no-explicit-any -- the answers' shapes are what the tests are about
type Json = any;

async function lab(version = "3.1.0a7") {
  const fake = new FakeGns3();
  fake.version = version;
  const consoles = new Consoles({ limits: { wakeMs: 2_000 } });
  const gns3 = new Gns3Client({ baseUrl: fake.baseUrl, credential: "alice" });
  const context: ToolContext = {
    project: await gns3.project(PROJECT_ID),
    gns3,
    consoles: consoles.forCaller(gns3),
    skills: skillsWith(),
    faults: faultsInMemory(),
    mode: "lab_automation_assistant",
    signal: new AbortController().signal,
    now: Date.now,
  };
  const answer = (name: string, args: unknown, more: Partial<ToolContext> = {}): Promise<ToolAnswer> => {
    const used = { ...context, ...more };
    return executeCall(prepareCall({ name, arguments: JSON.stringify(args) }, used), used, {
      onFault: (fault) => {
        throw fault;
      },
    });
  };
  return {
    fake,
    context,
    answer,
    async call(name: string, args: unknown): Promise<Json> {
      return JSON.parse((await answer(name, args)).output);
    },
    /** A PC with a console that answers. */
    pc(name: string, status = "started"): FakeConsole {
      const console = new FakeConsole({
        prompt: `${name}> `,
        commands: { "show ip": `I am ${name}\r\n`, "ip 10.0.0.1/24": "PC1 : 10.0.0.1 255.255.255.0\r\n" },
      });
      fake.consoles.set(fake.add(name, { status, x: 300 * fake.nodes.length }).node_id, console);
      return console;
    },
    async [Symbol.asyncDispose]() {
      await consoles.close();
      await fake[Symbol.asyncDispose]();
    },
  };
}

// E6
Deno.test("gns3_topology_reader shows the lab as it is at that moment", async () => {
  await using l = await lab();
  assert.deepEqual(await l.call("gns3_topology_reader", {}), { project: "lab", nodes: [], links: [] });
  l.fake.add("R9");
  const { nodes } = await l.call("gns3_topology_reader", {});
  assert.deepEqual(nodes.map((node: Json) => [node.name, node.status]), [["R9", "stopped"]]);
});

// G6
Deno.test("get_gns3_templates lists built-in templates too and finds by name, type and category", async () => {
  await using l = await lab();
  const names = async (args: unknown) =>
    (await l.call("get_gns3_templates", args)).templates.map((t: Json) => t.name);
  assert.deepEqual(await names({}), ["VPCS", "Ethernet switch"]);
  assert.deepEqual(await names({ name_contains: "SWITCH" }), ["Ethernet switch"]);
  assert.deepEqual(await names({ name_contains: "guest" }), ["VPCS"]);
  assert.match(
    (await l.call("get_gns3_templates", { name_contains: "juniper" })).note,
    /There are: VPCS, Ethernet switch/,
  );
});

for (const version of ["3.1.0a7", "3.0.6"]) {
  // G6, G10
  Deno.test(`create_gns3_node names and places nodes on GNS3 ${version}`, async () => {
    await using l = await lab(version);
    const { results, summary } = await l.call("create_gns3_node", {
      nodes: [
        { template_id: VPCS_TEMPLATE, name: "Alice" },
        { template_id: "vpcs" },
        { template_id: "VPCS", x: 40, y: -50, name: "bad name" },
        { template_id: "toaster" },
        { template_id: "VPCS", name: "Alice" },
      ],
    });
    assert.equal(summary, "4 of 5 succeeded, 1 failed.");
    assert.deepEqual(results.map((one: Json) => one.status), [
      "success",
      "success",
      "success",
      "error",
      "success",
    ]);
    assert.deepEqual([results[0].name, results[0].x, results[0].y], ["Alice", 0, 0]);
    assert.deepEqual([results[2].x, results[2].y, results[2].name], [40, -50, "badname"]);
    assert.match(results[2].note, /GNS3 named it "badname"/);
    assert.match(results[3].error, /no template "toaster".*VPCS \(52136454/);
    assert.match(results[4].note, /"Alice" is taken/);
    const chosen = l.fake.nodes.filter(({ name }) => name !== "badname");
    for (const a of chosen) {
      for (const b of chosen) assert.ok(a === b || Math.hypot(a.x - b.x, a.y - b.y) >= 250);
    }
  });

  Deno.test(`start, stop and suspend tell each node's outcome on GNS3 ${version}`, async () => {
    await using l = await lab(version);
    l.pc("PC1", "stopped");
    l.fake.add("PC2", { status: "started" });
    l.fake.add("R1", { node_type: "qemu", status: "stopped", template_id: null });
    const started = await l.call("start_gns3_node", {
      node_ids: ["PC1", l.fake.nodes[1]!.node_id, "R1", "PC9"],
    });
    assert.deepEqual(started.results.map((one: Json) => [one.name, one.status, one.node_status]), [
      ["PC1", "success", "started"],
      ["PC2", "success", "started"],
      ["R1", "success", "started"],
      [undefined, "error", undefined],
    ]);
    assert.equal(started.results[0].console, "ready");
    assert.match(started.results[1].note, /already started; nothing was done/);
    assert.match(started.results[2].note, /minutes to boot\. What kind of device R1 .*device_type/);
    assert.match(started.results[3].error, /no node "PC9". Nodes: PC1, PC2, R1/);
    const starts = l.fake.paths().filter((path) => path.endsWith("/start"));
    assert.equal(starts.length, 2);
    const suspended = await l.answer("suspend_gns3_node", { node_ids: ["PC1"] });
    assert.equal(suspended.status, "error");
    assert.match(JSON.parse(suspended.output).results[0].error, /not supported for VPCS|may not support it/);
    const stopped = await l.call("stop_gns3_node", { node_ids: ["PC1", "PC1"] });
    assert.equal(stopped.summary, "2 of 2 succeeded.");
    assert.equal(l.fake.nodes[0]!.status, "stopped");
  });
}

// G1, G11
Deno.test("start_gns3_node reports a console that does not answer, and GNS3's own refusals", async () => {
  await using l = await lab();
  l.pc("PC1", "stopped").hung = true;
  const node = l.fake.add("PC2");
  l.fake.instead.set(
    `POST /v3/projects/${PROJECT_ID}/nodes/${node.node_id}/start`,
    () => Response.json({ message: "VPCS executable version must be >= 0.6.1" }, { status: 409 }),
  );
  // The tool waits ten seconds for a virtual PC; here less will do.
  const { consoles } = l.context;
  const hasty = {
    ...consoles,
    ready: (...[id, node, , signal]: Parameters<typeof consoles.ready>) =>
      consoles.ready(id, node, 400, signal),
  };
  const answer = await l.answer("start_gns3_node", { node_ids: ["PC1", "PC2"] }, { consoles: hasty });
  const { results } = JSON.parse(answer.output);
  assert.deepEqual([results[0].status, results[0].console], ["success", "not ready"]);
  assert.match(results[0].note, /PC1/);
  assert.deepEqual([results[1].status, results[1].error], [
    "error",
    "VPCS executable version must be >= 0.6.1",
  ]);
});

// G8, G5
Deno.test("update_gns3_node_name renames stopped nodes and says what the device's own name does", async () => {
  await using l = await lab();
  l.fake.add("PC1");
  l.fake.add("PC2", { status: "started" });
  l.fake.add("R1", { node_type: "qemu" });
  const { results } = await l.call("update_gns3_node_name", {
    nodes: [
      { node_id: "PC1", new_name: "Alice" },
      { node_id: "PC2", new_name: "Bob" },
      { node_id: "R1", new_name: "Edge" },
      { node_id: "Edge", new_name: "Alice" },
      { node_id: "Edge", new_name: "Edge" },
    ],
  });
  assert.deepEqual(results.map((one: Json) => one.status), [
    "success",
    "error",
    "success",
    "error",
    "success",
  ]);
  assert.deepEqual([results[0].old_name, results[0].new_name], ["PC1", "Alice"]);
  assert.match(results[0].note, /takes it over as its own host name at its next start/);
  assert.match(results[1].error, /PC2 is running: stop it first \(stop_gns3_node\)/);
  assert.match(results[2].note, /own host name is unchanged/);
  assert.equal(results[3].error, 'The name "Alice" is taken; Alice-2 is free.');
  assert.match(results[4].note, /already has this name/);
  assert.deepEqual(l.fake.nodes.map(({ name }) => name), ["Alice", "PC2", "Edge"]);
});

// G2
Deno.test("create_gns3_link links by any spelling, one after the other, and names what is in the way", async () => {
  await using l = await lab();
  l.fake.add("R1", {}, ["GigabitEthernet0/0", "GigabitEthernet0/1"]);
  l.fake.add("SW1", { node_type: "ethernet_switch" }, ["Ethernet0", "Ethernet1"]);
  const link = (node_id1: string, port1: string, node_id2: string, port2: string) => ({
    node_id1,
    port1,
    node_id2,
    port2,
  });
  const { results, summary } = await l.call("create_gns3_link", {
    links: [
      link("R1", "gi0/1", l.fake.nodes[1]!.node_id, "e0"),
      link("r1", "GigabitEthernet0/1", "SW1", "Ethernet1"),
      link("R1", "Gi0/0", "R1", "Gi0/1"),
      link("R1", "Gi0/9", "SW1", "e1"),
      link("R1", "g0/0", "SW1", "1"),
    ],
  });
  assert.equal(summary, "2 of 5 succeeded, 3 failed.");
  assert.equal(results[0].link, "R1 GigabitEthernet0/1 - SW1 Ethernet0");
  assert.match(
    results[1].error,
    /R1 GigabitEthernet0\/1 is in use by the link R1 GigabitEthernet0\/1 - SW1 Ethernet0 \(link-1\)\. Free ports of R1: GigabitEthernet0\/0\./,
  );
  assert.match(results[2].error, /cannot be linked with itself/);
  assert.match(results[3].error, /R1 has no port "Gi0\/9"\. Ports: GigabitEthernet0\/0, GigabitEthernet0\/1/);
  assert.equal(results[4].link, "R1 GigabitEthernet0/0 - SW1 Ethernet1");
  assert.equal(l.fake.links.length, 2);
});

// F15, F8
Deno.test("execute_vpcs_commands gives every device and command its own outcome", async () => {
  await using l = await lab();
  const [one, two] = [l.pc("PC1"), l.pc("PC2")];
  l.pc("PC3", "stopped");
  l.fake.add("SW1", { node_type: "ethernet_switch", status: "started", console_type: "none" });
  l.fake.add("R1", { node_type: "qemu", status: "started", tags: ["device_type:toaster"] });
  const device = (device_name: string, ...commands: string[]) => ({ device_name, commands });
  const { results, summary } = await l.call("execute_vpcs_commands", {
    device_configs: [
      device("PC1", "show ip", "bogus", "! id", "ip 10.0.0.1/24"),
      device("PC3", "show ip"),
      device("pc2", "show ip"),
      device("SW1", "show ip"),
      device("R1", "show ip"),
      device("PC9", "show ip"),
    ],
  });
  assert.deepEqual(results.map((r: Json) => [r.device_name, r.status]), [
    ["PC1", "partial"],
    ["PC3", "error"],
    ["PC2", "success"],
    ["SW1", "error"],
    ["R1", "error"],
    ["PC9", "error"],
  ]);
  assert.equal(summary, "1 of 6 succeeded, 1 partly, 4 failed.");
  assert.deepEqual(results[0].commands.map((c: Json) => [c.command, c.status]), [
    ["show ip", "success"],
    ["bogus", "error"],
    ["! id", "error"],
    ["ip 10.0.0.1/24", "success"],
  ]);
  assert.equal(results[0].commands[0].output, "I am PC1");
  assert.match(results[0].commands[1].error, /^Bad command/);
  assert.match(results[0].commands[2].error, /program on the GNS3 server/);
  assert.match(results[1].error, /PC3 is stopped: start it first/);
  assert.match(results[3].error, /SW1 has no console/);
  assert.match(results[5].error, /no node "PC9"/);
  assert.deepEqual(one.ran, ["show ip", "bogus", "ip 10.0.0.1/24"]);
  assert.deepEqual(two.ran, ["show ip"]);
});

Deno.test("execute_vpcs_commands types one device's commands in call order, also when it is listed twice", async () => {
  await using l = await lab();
  const console = l.pc("PC1");
  const device = (...commands: string[]) => ({ device_name: "PC1", commands });
  // The first call's look at the nodes takes longest.
  const delays = [150, 0, 0];
  l.fake.instead.set(`GET /v3/projects/${PROJECT_ID}/nodes`, async () => {
    await new Promise((resolve) => setTimeout(resolve, delays.shift() ?? 0));
    return Response.json(l.fake.nodes);
  });
  const calls = [
    l.call("execute_vpcs_commands", { device_configs: [device("show ip", "echo 1"), device("echo 2")] }),
    l.call("execute_vpcs_commands", { device_configs: [device("echo 3")] }),
  ];
  await Promise.all(calls);
  assert.deepEqual(console.ran, ["show ip", "echo 1", "echo 2", "echo 3"]);
  assert.equal(console.mostClients, 1);
});

Deno.test("execute_vpcs_commands says of each command that it was not run when the device is lost", async () => {
  await using l = await lab();
  const console = l.pc("PC1");
  const type = console.type.bind(console);
  console.type = (text) => text.includes("echo 2") ? console.drop() : type(text);
  const { results } = await l.call("execute_vpcs_commands", {
    device_configs: [{ device_name: "PC1", commands: ["show ip", "echo 2", "show ip"] }],
  });
  assert.equal(results[0].status, "partial");
  assert.deepEqual(results[0].commands.map((c: Json) => c.status), ["success", "error", "error"]);
  assert.match(results[0].commands[1].error, /^Not run: PC1: the console closed/);
});

// A7
Deno.test("execute_vpcs_commands ends with the turn, and the console is given back", async () => {
  await using l = await lab();
  const console = l.pc("PC1");
  const stop = new AbortController();
  const args = { device_configs: [{ device_name: "PC1", commands: Array(20).fill("show ip") }] };
  const answer = l.answer("execute_vpcs_commands", args, { signal: stop.signal });
  while (console.ran.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  stop.abort();
  assert.match(JSON.parse((await answer).output).error, /^aborted before it finished/);
  const after = await l.call("execute_vpcs_commands", {
    device_configs: [{ device_name: "PC1", commands: ["show ip"] }],
  });
  assert.equal(after.results[0].status, "success");
});

// G3
Deno.test("a sign-in that ends in the middle is told once, and the rest is not tried", async () => {
  await using l = await lab();
  for (const name of ["PC1", "PC2", "PC3"]) l.fake.add(name);
  for (const { node_id } of l.fake.nodes.slice(1)) {
    l.fake.instead.set(
      `PUT /v3/projects/${PROJECT_ID}/nodes/${node_id}`,
      () => Response.json({ message: "Token has expired" }, { status: 401 }),
    );
  }
  const { output, status, code } = await l.answer("update_gns3_node_name", {
    nodes: ["PC1", "PC2", "PC3"].map((name) => ({ node_id: name, new_name: `${name}x` })),
  });
  const { results } = JSON.parse(output);
  assert.deepEqual([status, code], ["success", "unauthorized"]);
  assert.deepEqual(results.map((one: Json) => one.status), ["success", "error", "error"]);
  assert.match(results[2].error, /sign in again/);
  assert.equal(l.fake.paths().filter((path) => path.startsWith("PUT")).length, 2);
});

// G9
Deno.test("a GNS3 server that is down is an answer, and the next call works", async () => {
  await using l = await lab();
  l.fake.instead.set(`GET /v3/projects/${PROJECT_ID}/nodes`, () => new Response(null, { status: 503 }));
  const down = await l.answer("gns3_topology_reader", {});
  assert.deepEqual([down.status, down.code], ["error", "unavailable"]);
  l.fake.instead.clear();
  assert.equal((await l.answer("gns3_topology_reader", {})).status, "success");
});
