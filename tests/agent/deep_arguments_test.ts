import assert from "node:assert/strict";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { startChatServer } from "../fakes/chat.ts";

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

Deno.test("a model that nests arguments without end gets an answer, and the session goes on", async () => { // C9
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const calls: [string, string][] = [
    ["get_gns3_templates", `{"name_contains": ${nested(60_000)}}`],
    ["execute_vpcs_commands", `{"device_configs": ${nested(60_000)}}`],
    // This tool takes values of any shape, so that nothing but the depth is wrong.
    ["manage_gns3_packet_filter", `{"link_id": "x", "action": "set", "filters": {"bpf": ${nested(60_000)}}}`],
  ];
  for (const [name, args] of calls) {
    const call = toolCalls([{ name, args, id: "c" }], { fragment: 5_000 });
    const turn = await alice.send(server.model.script(name, [call, text("done")]), {}, "/inject");
    const [end] = turn.of("tool_end");
    assert.equal(end!.status, "error");
    assert.match(end!.tool_output, /nested more than 64 levels/);
    assert.ok(end!.tool_output.length < 10_000);
    assert.equal(turn.text, "done");
    const next = await alice.send(server.model.script(`${name}-next`, [text("goes on")]), {
      session_id: turn.sessionId,
    });
    assert.equal(next.text, "goes on");
    assert.equal(server.model.requests(`${name}-next`)[0]!.fate, "done");
    for (const format of ["json", "markdown"]) {
      const file = await alice.call("GET", `/sessions/${turn.sessionId}/export?format=${format}`);
      assert.equal(file.status, 200, await file.text());
    }
  }
  assert.deepEqual(server.lines.filter(({ level }) => level === "error"), []);
});

Deno.test("deep arguments that wait for approval are shown as they came", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  const args = `{"node_ids": ${nested(60_000)}}`;
  const call = toolCalls([{ name: "stop_gns3_node", args, id: "c" }], { fragment: 5_000 });
  const turn = await alice.send(server.model.script("t", [call, text("done")]), { approvals: true });
  assert.match(turn.of("tool_end")[0]!.tool_output, /nested more than 64 levels/);
  assert.equal(turn.text, "done");
});
