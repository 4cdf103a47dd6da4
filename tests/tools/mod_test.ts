// The list of tools, what each mode has of it, and the schemas that models see.
import assert from "node:assert/strict";
import { COPILOT_MODES } from "../../src/domain/model_config.ts";
import { TOOLS, toolsFor } from "../../src/tools/mod.ts";
import { toolSchema } from "../../src/tools/schema.ts";

const names = (...args: Parameters<typeof toolsFor>) => toolsFor(...args).map(({ name }) => name);

Deno.test("every tool has a name of its own, a description, and a mode", () => {
  assert.equal(new Set(TOOLS.map(({ name }) => name)).size, TOOLS.length);
  for (const { name, description, modes } of TOOLS) {
    assert.match(name, /^[a-z][a-z0-9_]{2,63}$/);
    assert.ok(description.length > 20 && modes.length > 0, name);
  }
});

// H9
Deno.test("every mode has tools", () => {
  for (const mode of COPILOT_MODES) assert.ok(toolsFor(mode).length >= 3, mode);
});

Deno.test("teaching has what reads, injection also no building, the lab everything", () => {
  assert.deepEqual(names("teaching_assistant"), [
    "gns3_topology_reader",
    "get_gns3_templates",
    "list_gns3_captures",
    "packet_analysis",
    "wait_seconds",
    "execute_multiple_device_commands",
    "compare_device_config",
    "execute_vpcs_commands",
    "packet_analysis_skills",
    "device_skills",
    "injection_skills",
  ]);
  const injecting = ["manage_gns3_packet_filter", "injection_skills"];
  assert.deepEqual(
    names("lab_automation_assistant"),
    TOOLS.map(({ name }) => name).filter((name) => !injecting.includes(name)),
  );
  assert.deepEqual(names("troubleshooting_injection"), [
    "gns3_topology_reader",
    "get_gns3_templates",
    "list_gns3_snapshots",
    "manage_gns3_packet_filter",
    "start_gns3_capture",
    "stop_gns3_capture",
    "list_gns3_captures",
    "packet_analysis",
    "wait_seconds",
    "execute_multiple_device_commands",
    "execute_multiple_device_config_commands",
    "compare_device_config",
    "execute_vpcs_commands",
    "packet_analysis_skills",
    "device_skills",
    "injection_skills",
  ]);
});

Deno.test("teaching gets the building tools only by setting", () => {
  const more = names("teaching_assistant", true);
  assert.deepEqual(more.filter((name) => !names("teaching_assistant").includes(name)), [
    "create_gns3_node",
    "create_gns3_link",
    "start_gns3_node",
    "update_gns3_node_name",
    "create_gns3_text_drawing",
    "create_gns3_rectangle_drawing",
    "create_gns3_ellipse_drawing",
  ]);
});

// D9
Deno.test("toolSchema is a plain object schema: no $schema, no $ref, no safe-integer bounds", () => {
  for (const tool of TOOLS) {
    const schema = toolSchema(tool);
    assert.equal(schema.type, "object", tool.name);
    assert.equal(typeof schema.properties, "object", tool.name);
    const text = JSON.stringify(schema);
    assert.ok(!/\$schema|\$ref|9007199254740991/.test(text), text);
  }
});

Deno.test("toolSchema shows fields, which are required, and their descriptions", () => {
  const schema = toolSchema(TOOLS.find(({ name }) => name === "create_gns3_node")!) as {
    required: string[];
    properties: {
      nodes: { type: string; items: { required: string[]; properties: Record<string, unknown> } };
    };
  };
  assert.deepEqual(schema.required, ["nodes"]);
  assert.deepEqual(schema.properties.nodes.items.required, ["template_id"]);
  assert.deepEqual(Object.keys(schema.properties.nodes.items.properties), ["template_id", "x", "y", "name"]);
});
