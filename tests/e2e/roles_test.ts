// What GNS3 refuses a role, the assistant refuses it too: every tool, called through the agent by users with real roles.
import assert from "node:assert/strict";
import { slow, text, toolCalls } from "../../src/practice/model_script.ts";
import { TOOLS } from "../../src/tools/mod.ts";
import type { Chat } from "../fakes/chat.ts";
import { type Copilot, gns3, startCopilot } from "./copilot.ts";
import { type Lab, labMissing, startLab } from "./lab.ts";
import { testWhere } from "./needs.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

/** GNS3's own two roles, and one of our own: all of `User` but the consoles. */
const ROLES = ["User", "User without Node.Console", "Auditor"] as const;
type Role = typeof ROLES[number];

interface Row {
  tool: string;
  /** Left out: for everybody who may enter. */
  refused?: readonly Role[];
  args: Record<string, unknown>;
  /** A tool that only this mode has. */
  inject?: true;
  /** What GNS3 answers to those who may, where it cannot do it here (VPCS nodes cannot be suspended, say). */
  fails?: RegExp;
  /** What the administrator does before, so that the call has something to do: stops these nodes, or captures. */
  stopped?: "all" | "PC4" | "PC5";
  capturing?: true;
}

const LOOKERS = ["Auditor"] as const;
const NO_CONSOLE = ["User without Node.Console", "Auditor"] as const;
const box = { x: 0, y: 300, width: 100, height: 50 };
const devices = (commands: Record<string, string[]>) => ({
  device_configs: [{ device_name: "PC1", ...commands }],
});

/** In the order in which they are called, in a project with PC1 to PC5, of which PC1 and PC2 are linked. */
const ROWS: readonly Row[] = [
  { tool: "gns3_topology_reader", args: {} },
  { tool: "get_gns3_templates", args: {} },
  { tool: "wait_seconds", args: { seconds: 1 } },
  { tool: "execute_vpcs_commands", args: devices({ commands: ["show ip"] }), refused: NO_CONSOLE },
  { tool: "execute_vpcs_commands", args: devices({ commands: ["ip 10.8.0.1/24"] }), refused: NO_CONSOLE },
  // VPCS nodes are not configured with these two; who may not use a console is told that first.
  { tool: "execute_multiple_device_commands", args: devices({ commands: ["show ip"] }), refused: NO_CONSOLE },
  {
    tool: "execute_multiple_device_config_commands",
    args: devices({ config_commands: ["ip 10.8.0.1/24"] }),
    refused: NO_CONSOLE,
  },
  { tool: "compare_device_config", args: { device_names: ["PC1"] }, refused: NO_CONSOLE },
  { tool: "start_gns3_capture", args: { link_id: "PC1 - PC2" }, refused: LOOKERS },
  { tool: "list_gns3_captures", args: {} },
  { tool: "packet_analysis", args: { link_id: "PC1 - PC2" }, refused: LOOKERS },
  { tool: "stop_gns3_capture", args: { link_id: "PC1 - PC2" }, refused: LOOKERS, capturing: true },
  { tool: "manage_gns3_packet_filter", args: { link_id: "PC1 - PC2", action: "get" }, inject: true },
  {
    tool: "manage_gns3_packet_filter",
    args: { link_id: "PC1 - PC2", action: "set", filters: { packet_loss: [10] } },
    inject: true,
    refused: LOOKERS,
  },
  { tool: "packet_analysis_skills", args: { action: "list" } },
  { tool: "device_skills", args: { action: "list" } },
  { tool: "injection_skills", args: { action: "list" }, inject: true },
  { tool: "create_gns3_node", args: { nodes: [{ template_id: "VPCS" }] }, refused: LOOKERS },
  {
    tool: "create_gns3_link",
    args: { links: [{ node_id1: "PC3", port1: "Ethernet0", node_id2: "PC4", port2: "Ethernet0" }] },
    refused: LOOKERS,
  },
  { tool: "stop_gns3_node", args: { node_ids: ["PC5"] }, refused: LOOKERS },
  {
    tool: "update_gns3_node_name",
    args: { nodes: [{ node_id: "PC5", new_name: "PC9" }] },
    refused: LOOKERS,
    stopped: "PC5",
  },
  { tool: "start_gns3_node", args: { node_ids: ["PC4"] }, refused: LOOKERS, stopped: "PC4" },
  {
    tool: "suspend_gns3_node",
    args: { node_ids: ["PC4"] },
    refused: LOOKERS,
    fails: /not support/i,
  },
  { tool: "create_gns3_text_drawing", args: { x: 0, y: 200, text: "note" }, refused: LOOKERS },
  { tool: "create_gns3_rectangle_drawing", args: box, refused: LOOKERS },
  { tool: "create_gns3_ellipse_drawing", args: box, refused: LOOKERS },
  { tool: "delete_gns3_link", args: { link_ids: ["PC1 - PC2"] }, refused: LOOKERS },
  { tool: "delete_gns3_node", args: { node_ids: ["PC3"] }, refused: LOOKERS },
  { tool: "create_gns3_snapshot", args: { name: "mine" }, refused: LOOKERS, stopped: "all" },
  { tool: "list_gns3_snapshots", args: {} },
  { tool: "restore_gns3_snapshot", args: { name: "theirs" }, refused: LOOKERS, stopped: "all" },
];

interface Place {
  lab: Lab;
  copilot: Copilot;
  admin(method: string, path: string, body?: unknown): Promise<Json>;
}

async function ownRole({ admin }: Place): Promise<string> {
  const roles: Json[] = await admin("GET", "/v3/access/roles");
  const { privileges } = roles.find(({ name }) => name === "User");
  const { role_id } = await admin("POST", "/v3/access/roles", { name: "Without consoles", description: "" });
  for (const { name, privilege_id } of privileges) {
    if (name !== "Node.Console") await admin("PUT", `/v3/access/roles/${role_id}/privileges/${privilege_id}`);
  }
  return role_id;
}

/** A user with `role` on a new project: PC1 to PC5 started, PC1 linked with PC2, a snapshot "theirs". */
async function userOf(place: Place, role: Role, roleId: string): Promise<{ chat: Chat; at: string }> {
  const { lab, copilot, admin } = place;
  const name = role.toLowerCase().replaceAll(/[^a-z]+/g, "-");
  const project = await admin("POST", "/v3/projects", { name, auto_close: false });
  const at = `/v3/projects/${project.project_id}`;
  const template = (await admin("GET", "/v3/templates")).find((one: Json) => one.template_type === "vpcs");
  const nodes: Json[] = [];
  for (let i = 0; i < 5; i++) {
    nodes.push(
      await admin("POST", `${at}/templates/${template.template_id}`, {
        x: i * 200,
        y: 0,
        compute_id: "local",
      }),
    );
  }
  const ends = nodes.slice(0, 2).map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
  await admin("POST", `${at}/links`, { nodes: ends });
  await admin("POST", `${at}/snapshots`, { name: "theirs" });
  await admin("POST", `${at}/nodes/start`, {});
  const password = `${name}-password`;
  const user = { username: name, password, email: `${name}@example.com` };
  const { user_id } = await admin("POST", "/v3/access/users", user);
  await admin("POST", "/v3/access/acl", {
    ace_type: "user",
    path: `/projects/${project.project_id}`,
    propagate: true,
    allowed: true,
    user_id,
    role_id: roleId,
  });
  const { access_token } = await gns3(lab.base_url, "none", "POST", "/v3/access/users/authenticate", {
    username: name,
    password,
  });
  return { chat: copilot.chat(access_token, project.project_id), at };
}

/** Everything in the project that a refused call must leave as it was. */
async function stateOf({ admin }: Place, at: string): Promise<Json> {
  const kinds = ["nodes", "links", "drawings", "snapshots"];
  const [nodes, links, drawings, snapshots] = await Promise.all(
    kinds.map((kind) => admin("GET", `${at}/${kind}`)),
  );
  return {
    nodes: nodes.map(({ name, status }: Json) => `${name} ${status}`).sort(),
    links: links.map(({ link_id, capturing, filters }: Json) => [link_id, capturing, filters]),
    drawings: drawings.length,
    snapshots: snapshots.map(({ name }: Json) => name),
  };
}

let calls = 0;

/** Has the agent call the tool once; answers what came of it. */
async function call({ copilot }: Place, chat: Chat, { tool, args, inject }: Row): Promise<Json> {
  const name = tool;
  const tag = copilot.model.script(`call${++calls}`, [toolCalls([{ name, args, id: "c" }]), text("done")]);
  const turn = await chat.send(tag, {}, inject ? "/inject" : "/stream");
  const [end] = turn.of("tool_end");
  assert.ok(end, `${tool} was not called: ${JSON.stringify(turn.events.at(-1))}`);
  return end;
}

/** GNS3's own words for a missing right, or ours for a console. */
const REFUSAL = /privilege|Permission denied|"code":\s*"forbidden"/i;

async function prepare({ admin }: Place, at: string, { stopped, capturing }: Row): Promise<void> {
  if (stopped === "all") await admin("POST", `${at}/nodes/stop`, {});
  else if (stopped) {
    const node = (await admin("GET", `${at}/nodes`)).find(({ name }: Json) => name === stopped);
    await admin("POST", `${at}/nodes/${node.node_id}/stop`, {});
  }
  if (!capturing) return;
  const [link] = await admin("GET", `${at}/links`);
  if (!link.capturing) await admin("POST", `${at}/links/${link.link_id}/capture/start`, {});
}

async function tryRow(place: Place, role: Role, chat: Chat, at: string, row: Row): Promise<void> {
  await prepare(place, at, row);
  const before = await stateOf(place, at);
  const { status, tool_output: output } = await call(place, chat, row);
  const what = `${role}: ${row.tool} ${JSON.stringify(row.args)} → ${status} ${output}`;
  if (row.refused?.includes(role)) {
    assert.equal(status, "error", what);
    assert.match(output, REFUSAL, what);
    assert.deepEqual(await stateOf(place, at), before, what);
  } else if (row.fails && status === "error") {
    assert.match(output, row.fails, what);
    assert.doesNotMatch(output, REFUSAL, what);
  } else {
    assert.equal(status, "success", what);
  }
}

/** The README's table: a tool's name → who may use it, as the table says. */
async function shownTable(): Promise<Map<string, string>> {
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  const lines = readme.slice(readme.indexOf("### Roles")).split("\n");
  const rows = lines.filter((line) => line.startsWith("| `"));
  return new Map(rows.flatMap((line) => {
    const [, tools, ...cells] = line.split("|").map((cell) => cell.trim());
    return [...tools!.matchAll(/`(\w+)`/g)].map(([, tool]) => [tool!, cells.slice(0, 3).join(" ")] as const);
  }));
}

Deno.test("README: the table of roles and tools says of every tool what is tried with real roles", async () => {
  const shown = await shownTable();
  const missing = TOOLS.filter(({ name }) => !ROWS.some(({ tool }) => tool === name)).map(({ name }) => name);
  assert.deepEqual(missing, [], "tools without a row in ROWS");
  for (const { name } of TOOLS) {
    const rows = ROWS.filter(({ tool }) => tool === name);
    const may = (role: Role) => {
      const refused = rows.filter((row) => row.refused?.includes(role)).length;
      return refused === 0 ? "yes" : refused === rows.length ? "no" : "reads";
    };
    assert.equal(shown.get(name), ROLES.map(may).join(" "), `the row of ${name} in the README`);
  }
});

for (const [version, slot] of [["3.1.0a7", 49], ["3.0.6", 50]] as const) {
  testWhere(labMissing(), `every tool with every role on GNS3 ${version}`, async (t) => {
    await using lab = await startLab({ version, vpcs: 1, slot });
    await using copilot = await startCopilot(lab);
    const admin: Place["admin"] = (method, path, body) =>
      gns3(lab.base_url, lab.tokens.admin, method, path, body);
    const place: Place = { lab, copilot, admin };
    const roles: Json[] = await admin("GET", "/v3/access/roles");
    const named = (name: string) => roles.find((role) => role.name === name).role_id;
    const ids: Record<Role, string> = {
      "User": named("User"),
      "Auditor": named("Auditor"),
      "User without Node.Console": await ownRole(place),
    };
    for (const role of ROLES) {
      const { chat, at } = await userOf(place, role, ids[role]);
      for (const row of ROWS.filter(({ tool }) => TOOLS.some(({ name }) => name === tool))) {
        const may = row.refused?.includes(role) ? "refused" : "allowed";
        await t.step(
          `${role}: ${row.tool} ${JSON.stringify(row.args)} is ${may}`,
          () => tryRow(place, role, chat, at, row),
        );
      }
      await admin("DELETE", at);
    }
  });
}

testWhere(
  labMissing(),
  "a right that is taken away ends within a minute what is already running: a console, and a turn",
  async () => {
    await using lab = await startLab({ version: "3.1.0a7", vpcs: 1, slot: 49 });
    await using copilot = await startCopilot(lab);
    const admin: Place["admin"] = (method, path, body) =>
      gns3(lab.base_url, lab.tokens.admin, method, path, body);
    const place: Place = { lab, copilot, admin };
    const roleId = await ownRole(place);
    const privileges: Json[] = await admin("GET", "/v3/access/privileges");
    const { privilege_id } = privileges.find(({ name }) => name === "Node.Console");
    await admin("PUT", `/v3/access/roles/${roleId}/privileges/${privilege_id}`);
    const { chat, at } = await userOf(place, "User", roleId);

    // Pings of some three seconds each, to nobody.
    const commands = ["ip 10.8.0.1/24", ...Array(16).fill("ping 10.8.0.77 -c 1")];
    const call = { name: "execute_vpcs_commands", args: devices({ commands }), id: "c" };
    const busy = await chat.start(copilot.model.script("busy", [toolCalls([call]), text("done")]));
    const talk = await chat.start(copilot.model.script("talk", [slow(20_000, 10)]));
    await busy.untilType("tool_start");
    await talk.untilType("content");
    await admin("DELETE", `/v3/access/roles/${roleId}/privileges/${privilege_id}`);
    const began = performance.now();
    const end = await busy.untilType("tool_end");
    const consoleTook = performance.now() - began;
    assert.match(end.tool_output, /privilege Node\.Console is needed/);
    await busy.end();

    const aces: Json[] = await admin("GET", "/v3/access/acl");
    const ace = aces.find(({ path }) => `/v3${path}` === at);
    await admin("DELETE", `/v3/access/acl/${ace.ace_id}`);
    const gone = performance.now();
    await talk.end();
    const turnTook = performance.now() - gone;
    assert.deepEqual([talk.last.type, talk.last.code], ["error", "forbidden"]);
    console.log(`console: ${Math.round(consoleTook / 1000)} s, turn: ${Math.round(turnTook / 1000)} s`);
    for (const took of [consoleTook, turnTook]) assert.ok(took < 60_000, `${took} ms`);
  },
);
