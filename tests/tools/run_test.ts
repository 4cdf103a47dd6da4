// How a tool call is checked and run: every failure is an answer that the model can act on.
import assert from "node:assert/strict";
import { z } from "zod";
import type { AuditedCall } from "../../src/domain/audit.ts";
import { AppError } from "../../src/domain/error.ts";
import { COPILOT_MODES, type CopilotMode } from "../../src/domain/model_config.ts";
import { TOOLS, toolsFor } from "../../src/tools/mod.ts";
import { executeCall, prepareCall } from "../../src/tools/run.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/tools/tool.ts";
import { FITTING } from "./fitting.ts";

const project = {
  project_id: "438ab39b-d78d-4c48-944c-a987cea63540",
  name: "lab",
  status: "opened" as const,
};

// Tools of this file touch neither GNS3 nor consoles.
function context(more: Partial<ToolContext> = {}): ToolContext {
  return {
    project,
    mode: "lab_automation_assistant",
    signal: new AbortController().signal,
    now: () => 0,
    ...more,
  } as ToolContext;
}

function tool(run: Tool["run"], more: Partial<Tool> = {}): Tool {
  return {
    ...defineTool({
      name: "probe",
      description: "for tests",
      input: z.object({ items: z.array(z.object({ id: z.string() })).optional() }),
      risk: "read",
      modes: COPILOT_MODES,
      run: () => Promise.resolve({}),
    }),
    run,
    ...more,
  };
}

const answer = (name: string, args: string, mode: CopilotMode = "lab_automation_assistant") => {
  const prepared = prepareCall({ name, arguments: args }, { project, mode });
  assert.equal(prepared.kind, "answer");
  const { output, status } = prepared.kind === "answer" ? prepared.answer : assert.fail();
  assert.equal(status, "error");
  return JSON.parse(output) as { error: string; expected?: unknown; received?: string };
};

Deno.test("prepareCall calls a tool unknown that does not exist or is not of the mode, and lists those that are", () => {
  const unknown = answer("reboot_everything", "{}");
  assert.match(
    unknown.error,
    /^unknown tool "reboot_everything" .*Tools: gns3_topology_reader, .*wait_seconds/,
  );
  assert.match(
    answer("create_gns3_node", "{}", "teaching_assistant").error,
    /^unknown tool "create_gns3_node"/,
  );
});

// C9
Deno.test("prepareCall takes an empty string for no arguments", () => {
  for (const empty of ["", "  ", "{}"]) {
    assert.equal(prepareCall({ name: "get_gns3_templates", arguments: empty }, context()).kind, "ready");
  }
});

// C9
Deno.test("prepareCall does not run cut-off JSON, and shows the expected shape and what came", () => {
  const cut = answer("wait_seconds", '{"seconds": ');
  assert.match(cut.error, /arguments are not valid JSON/);
  assert.deepEqual(cut.expected, {
    type: "object",
    properties: { seconds: { type: "integer", minimum: 1, maximum: 600 } },
    required: ["seconds"],
  });
  assert.equal(cut.received, '{"seconds": ');
  assert.ok(answer("wait_seconds", "x".repeat(100_000)).received!.length < 820);
});

// C9
Deno.test("prepareCall refuses JSON that is not an object", () => {
  for (const value of ["null", "[]", "[1, 2]", '"x"', "5", "true"]) {
    assert.match(answer("wait_seconds", value).error, /arguments are not a JSON object/);
  }
});

// C9
Deno.test("prepareCall refuses arguments that are nested more than 64 levels deep, and says so", () => {
  const nested = (levels: number) => `{"items":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
  assert.match(answer("wait_seconds", nested(64)).error, /do not fit/);
  for (const levels of [65, 600, 100_000]) {
    const { error, received } = answer("wait_seconds", nested(levels));
    assert.match(error, /nested more than 64 levels deep; send a flatter object/);
    assert.ok(received!.startsWith('{"items":[['));
  }
});

Deno.test("prepareCall names every field that does not fit", () => {
  const { error, expected } = answer(
    "create_gns3_link",
    '{"links": [{"node_id1": "A", "port1": 5}], "x": 1}',
  );
  assert.match(error, /links\[0\]\.port1: .*expected string/);
  assert.match(error, /links\[0\]\.node_id2: /);
  assert.match(error, /links\[0\]\.port2: /);
  assert.ok(expected);
  assert.match(answer("wait_seconds", '{"seconds": 601}').error, /seconds: .*600/);
});

Deno.test("prepareCall takes the turn's project_id on every tool, by id or name, and no other", () => {
  for (const id of [project.project_id, project.project_id.toUpperCase(), "lab"]) {
    const args = JSON.stringify({ project_id: id, seconds: 1 });
    const prepared = prepareCall({ name: "wait_seconds", arguments: args }, context());
    assert.equal(prepared.kind, "ready");
    assert.deepEqual(prepared.kind === "ready" && prepared.args, { seconds: 1 });
  }
  for (const id of ["00000000-0000-4000-8000-000000000000", "", null, 5]) {
    assert.match(
      answer("gns3_topology_reader", JSON.stringify({ project_id: id })).error,
      /not this chat's project/,
    );
  }
});

// W21
Deno.test("prepareCall lets nothing pass in teaching mode that does more than read", () => {
  const passed: string[] = [];
  for (const { name } of TOOLS) {
    assert.ok(name in FITTING, `${name}: give it arguments here`);
    const call = { name, arguments: JSON.stringify(FITTING[name]) };
    const prepared = prepareCall(call, { project, mode: "teaching_assistant" }, { tools: TOOLS });
    if (prepared.kind === "ready") {
      assert.equal(prepared.risk, "read", name);
      passed.push(name);
    }
    assert.equal(prepareCall(call, context(), { tools: TOOLS }).kind, "ready", `${name} in the lab mode`);
  }
  assert.deepEqual(passed, [
    "gns3_topology_reader",
    "get_gns3_templates",
    "list_gns3_snapshots",
    "list_gns3_captures",
    "packet_analysis",
    "wait_seconds",
    "execute_multiple_device_commands",
    "compare_device_config",
    "packet_analysis_skills",
    "device_skills",
    "injection_skills",
  ]);
});

Deno.test("prepareCall resolves the risk of VPCS commands from the commands", () => {
  const risk = (commands: string[]) => {
    const args = JSON.stringify({ device_configs: [{ device_name: "PC1", commands }] });
    const prepared = prepareCall({ name: "execute_vpcs_commands", arguments: args }, context());
    return prepared.kind === "ready" ? prepared.risk : assert.fail();
  };
  assert.equal(risk(["show ip", "ping 10.0.0.1", "version"]), "read");
  assert.equal(risk(["show ip", "ip dhcp"]), "change");
  assert.equal(risk(["! id", "show ip"]), "read"); // what is refused on the console never reaches the device
});

Deno.test("prepareCall resolves the risk of configuring from the lines, whatever kind the device is of", () => {
  const risk = (...config_commands: string[]) => {
    const args = JSON.stringify({ device_configs: [{ device_name: "R1", config_commands }] });
    const call = { name: "execute_multiple_device_config_commands", arguments: args };
    const prepared = prepareCall(call, context());
    return prepared.kind === "ready" ? prepared.risk : assert.fail();
  };
  assert.equal(risk("interface Gi0/1", "description reload", "no shutdown"), "change");
  for (const line of ["reload", "do wr erase", "undo bgp 65001", "rm -rf /etc", "no router ospf 1"]) {
    assert.equal(risk("hostname R1", line), "destroy", line);
  }
  assert.equal(risk("hostname R1\nreload"), "destroy");
});

Deno.test("prepareCall explains in teaching mode why a change is not made", () => {
  const args = JSON.stringify({ device_configs: [{ device_name: "PC1", commands: ["ip 10.0.0.1/24"] }] });
  const { error } = answer("execute_vpcs_commands", args, "teaching_assistant");
  assert.match(error, /^not done: .*would change the lab.*teaching mode.*Explain to the user/);
});

Deno.test("prepareCall lets teaching build when the settings say so, but not more", () => {
  const context = { project, mode: "teaching_assistant", teachingCanBuild: true } as const;
  const kind = (name: string) =>
    prepareCall({ name, arguments: JSON.stringify(FITTING[name]) }, context).kind;
  for (const name of ["create_gns3_node", "create_gns3_link", "start_gns3_node", "update_gns3_node_name"]) {
    assert.equal(kind(name), "ready", name);
  }
  for (const name of ["stop_gns3_node", "suspend_gns3_node", "execute_vpcs_commands"]) {
    assert.equal(kind(name), "answer", name);
  }
});

const run = (probe: Tool, more: Partial<ToolContext> = {}, onFault?: (error: unknown) => void) => {
  const prepared = prepareCall({ name: "probe", arguments: "{}" }, context(), { tools: [probe] });
  return executeCall(prepared, context(more), { onFault });
};

Deno.test("executeCall answers with the tool's value as JSON", async () => {
  assert.deepEqual(await run(tool(() => Promise.resolve({ a: "上" }))), {
    output: '{"a":"上"}',
    status: "success",
  });
  assert.deepEqual(await run(tool(() => Promise.resolve({ error: "no" }))), {
    output: '{"error":"no"}',
    status: "error",
  });
});

Deno.test("executeCall calls a list failed when all of it failed, and tells of a lost sign-in", async () => {
  const results = (...list: { status: string; code?: string }[]) =>
    tool(() => Promise.resolve({ results: list }));
  assert.equal((await run(results({ status: "success" }, { status: "error" }))).status, "success");
  assert.equal((await run(results({ status: "error" }, { status: "error" }))).status, "error");
  assert.equal((await run(results({ status: "partial" }))).status, "success");
  assert.equal(
    (await run(results({ status: "success" }, { status: "error", code: "unauthorized" }))).code,
    "unauthorized",
  );
});

Deno.test("executeCall hands on the answer of a call that was not prepared", async () => {
  const prepared = prepareCall({ name: "nothing", arguments: "{}" }, context());
  assert.equal((await executeCall(prepared, context())).status, "error");
});

// C11
Deno.test("executeCall turns what a tool throws into an answer, and only the unexpected goes to the log", async () => {
  const faults: unknown[] = [];
  const expected = await run(
    tool(() => Promise.reject(new AppError("conflict", "Port is already used"))),
    {},
    (e) => faults.push(e),
  );
  assert.deepEqual(JSON.parse(expected.output), { error: "Port is already used", code: "conflict" });
  assert.deepEqual([expected.status, expected.code, faults], ["error", "conflict", []]);
  for (
    const bad of [() => Promise.reject(new TypeError("secret detail")), () => assert.fail("secret detail")]
  ) {
    const answer = await run(tool(bad), {}, (error) => faults.push(error));
    assert.deepEqual(JSON.parse(answer.output), {
      error: "internal: probe failed unexpectedly.",
      code: "internal",
    });
    assert.equal(answer.status, "error");
  }
  assert.equal(faults.length, 2);
});

// A7
Deno.test("executeCall returns at once when the turn is stopped, however long the tool takes", async () => {
  const stop = new AbortController();
  const held = Promise.withResolvers<unknown>();
  const answer = run(tool(() => held.promise), { signal: stop.signal });
  stop.abort(new Error("stop"));
  const { output, status } = await answer;
  assert.equal(status, "error");
  assert.match(JSON.parse(output).error, /^aborted before it finished/);
  held.resolve({});
  let ran = false;
  const late = await run(tool(() => Promise.resolve(ran = true)), { signal: stop.signal });
  assert.match(JSON.parse(late.output).error, /^aborted before it finished/);
  assert.equal(ran, false);
});

Deno.test("executeCall reports an abort, not a fault, when the tool throws because of it", async () => {
  const stop = new AbortController();
  const faults: unknown[] = [];
  const answer = await run(
    tool(() => {
      stop.abort(new Error("stop"));
      return Promise.reject(new Error("stop"));
    }),
    { signal: stop.signal },
    (error) => faults.push(error),
  );
  assert.match(JSON.parse(answer.output).error, /^aborted before it finished/);
  assert.deepEqual(faults, []);
});

Deno.test("wait_seconds waits, and ends with the turn", async () => {
  const wait = toolsFor("teaching_assistant").find(({ name }) => name === "wait_seconds")!;
  const stop = new AbortController();
  const prepared = prepareCall({ name: "wait_seconds", arguments: '{"seconds": 600}' }, context());
  const answer = executeCall(prepared, context({ signal: stop.signal }));
  stop.abort();
  assert.equal((await answer).status, "error");
  assert.deepEqual(await wait.run({ seconds: 1 }, context()), { waited_seconds: 1 });
});

Deno.test("executeCall tells the audit log of every call once, with what it was and what came of it", async () => {
  const audited: AuditedCall[] = [];
  let now = 0;
  const more = { audit: (call: AuditedCall) => void audited.push(call), now: () => now += 7 };
  const stop = new AbortController();
  await run(tool(() => Promise.resolve({}), { risk: "destroy" }), more);
  await run(tool(() => Promise.reject(new AppError("conflict", "in use"))), more);
  await run(tool(() => Promise.resolve({ results: [{ status: "error", error: "no node" }] })), more);
  await run(tool(() => Promise.reject(new TypeError("x"))), more, () => {});
  stop.abort();
  await run(tool(() => Promise.resolve({})), { ...more, signal: stop.signal });
  await executeCall(prepareCall({ name: "nothing", arguments: '{"a": ' }, context()), context(more));
  const probe = { tool: "probe", risk: "read" as const, arguments: {}, duration_ms: 7 };
  assert.deepEqual(audited.map((call) => ({ ...call, error: call.error?.slice(0, 20) })), [
    { ...probe, risk: "destroy", outcome: "success", error: undefined },
    { ...probe, outcome: "error", error: "in use" },
    { ...probe, outcome: "error", error: "no node" },
    { ...probe, outcome: "error", error: "internal: probe fail" },
    { ...probe, outcome: "aborted", error: "aborted before it fi" },
    {
      tool: "nothing",
      risk: null,
      arguments: '{"a": ',
      outcome: "refused",
      error: 'unknown tool "nothin',
      duration_ms: 7,
    },
  ]);
});

Deno.test("executeCall asks for a restore point before a change only, and not when the turn was stopped meanwhile", async () => {
  const order: string[] = [];
  const point = { name: "chat 1", note: "n" };
  const restorePoint = () => {
    order.push("point");
    return Promise.resolve(point);
  };
  const probe = (more: Partial<Tool>) =>
    tool(() => {
      order.push("run");
      return Promise.resolve({ a: 1 });
    }, more);
  await run(probe({ risk: "read" }), { restorePoint });
  await run(probe({ risk: "change", restorePoint: false }), { restorePoint });
  assert.deepEqual(order.splice(0), ["run", "run"]);
  const { output } = await run(probe({ risk: "change" }), { restorePoint });
  assert.deepEqual([order.splice(0), JSON.parse(output)], [["point", "run"], { a: 1, restore_point: point }]);
  const stop = new AbortController();
  const stopped = await run(probe({ risk: "destroy" }), {
    signal: stop.signal,
    restorePoint: () => {
      stop.abort();
      return Promise.resolve(point);
    },
  });
  assert.match(stopped.output, /aborted before it finished/);
  assert.deepEqual(order, []);
});
