import assert from "node:assert/strict";
import { textToolCalls } from "../../src/models/text_tool_calls.ts";

const names = new Set(["gns3_topology_reader", "wait_seconds"]);
const wait = { name: "wait_seconds", argumentsText: '{"seconds":3}' };

// D11
for (
  const [name, text, calls] of [
    ["an object", '{"name":"wait_seconds","arguments":{"seconds":3}}', [wait]],
    ["an object with its arguments as text", '{"name":"wait_seconds","arguments":"{\\"seconds\\":3}"}', [
      wait,
    ]],
    ["Llama's parameters", '\n{"name": "wait_seconds", "parameters": {"seconds": 3}}\n', [wait]],
    [
      "a list",
      '[{"name":"wait_seconds","arguments":{"seconds":3}},{"name":"gns3_topology_reader","arguments":{}}]',
      [wait, { name: "gns3_topology_reader", argumentsText: "{}" }],
    ],
    [
      "tags",
      '<tool_call>\n{"name":"wait_seconds","arguments":{"seconds":3}}\n</tool_call>\n<tool_call>{"name":"wait_seconds","arguments":{"seconds":3}}</tool_call>',
      [wait, wait],
    ],
    ["an unclosed tag", '<tool_call>{"name":"wait_seconds","arguments":{"seconds":3}}', [wait]],
    ["OpenAI's nesting", '{"type":"function","function":{"name":"wait_seconds","arguments":{"seconds":3}}}', [
      wait,
    ]],
    [
      "arguments nested without measure",
      `{"name":"wait_seconds","arguments":{"seconds":${"[".repeat(40_000)}${"]".repeat(40_000)}}}`,
      [],
    ],
    ["prose around it", 'I will call {"name":"wait_seconds","arguments":{"seconds":3}}', []],
    [
      "prose after the tag",
      '<tool_call>{"name":"wait_seconds","arguments":{"seconds":3}}</tool_call> Done.',
      [],
    ],
    ["a code block", '```json\n{"name":"wait_seconds","arguments":{"seconds":3}}\n```', []],
    ["an unknown tool", '{"name":"rm_rf","arguments":{}}', []],
    [
      "one unknown tool of two",
      '[{"name":"wait_seconds","arguments":{}},{"name":"rm_rf","arguments":{}}]',
      [],
    ],
    ["other JSON", '{"hostname":"R1"}', []],
    ["an empty list", "[]", []],
    ["cut JSON", '{"name":"wait_seconds","arguments":{"sec', []],
    ["nothing", "", []],
  ] as const
) {
  Deno.test(`textToolCalls finds ${calls.length} calls in ${name}`, () => {
    assert.deepEqual(textToolCalls(text, names), calls);
  });
}
