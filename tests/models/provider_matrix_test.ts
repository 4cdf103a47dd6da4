// The same conversation with a tool call against every provider's way of streaming it: one row each.
import assert from "node:assert/strict";
import type { ModelConfig } from "../../src/domain/model_config.ts";
import { startChatServer } from "../fakes/chat.ts";
import { messagesApi, type Reply } from "../fakes/messages_api.ts";
import { fakeEndpoint } from "./fake_endpoint.ts";
import { answerAs, DIALECTS } from "./provider_dialects.ts";

for (const dialect of DIALECTS) {
  Deno.test(`a conversation with a tool call works with ${dialect.name}`, async () => { // D1, D2, D5, D7, D8, D11
    await using endpoint = fakeEndpoint((request) => answerAs(dialect, request));
    await converse({ base_url: endpoint.url, model: dialect.model });
  });
}

Deno.test("a conversation with a tool call works with Anthropic's own API", async () => {
  await using api = messagesApi("sk-ant-test", ({ body }): Reply => {
    if (!body.tools) return { blocks: [{ text: ["A title"] }] };
    const called = JSON.stringify(body.messages).includes("tool_result");
    if (called) return { blocks: [{ text: ["All ", "good."] }] };
    return { blocks: [{ call: "get_gns3_templates", id: "toolu_1", input: ["{", "}"] }] };
  });
  await converse({ provider: "anthropic", base_url: api.url, model: "claude-x", api_key: "sk-ant-test" });
});

async function converse(model: Partial<ModelConfig>): Promise<void> {
  await using server = await startChatServer({ model });
  const alice = server.chat("alice");
  const turn = await alice.send("What can I build?");
  assert.equal(turn.last.finish_reason, "stop", JSON.stringify(turn.last));
  const [end] = turn.of("tool_end");
  assert.deepEqual([end!.tool_name, end!.status], ["get_gns3_templates", "success"]);
  assert.equal(turn.of("tool_end").length, 1);
  assert.ok(turn.text.endsWith("All good."), turn.text);
  const next = await alice.send("And again?", { session_id: turn.sessionId });
  assert.ok(next.text.endsWith("All good."));
  const session = await alice.json("GET", `/sessions/${turn.sessionId}`);
  assert.ok(session.input_tokens > 0 && session.output_tokens > 0);
  assert.equal(session.title, "A title");
}
