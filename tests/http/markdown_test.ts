import assert from "node:assert/strict";
import { markdownOf } from "../../src/http/markdown.ts";

const at = "2026-01-01T00:00:00.000Z";
const message = { created_at: at, metadata: {} };

Deno.test("markdownOf finds a fence for a text of very many backticks", () => {
  const call = { name: "f", arguments: "` ``` ".repeat(200_000) };
  const tool_calls = [{ id: "c", type: "function" as const, function: call }];
  const text = markdownOf({
    thread_id: "t",
    title: "x",
    created_at: at,
    updated_at: at,
    llm_calls: 1,
    messages: [{ ...message, id: "1", role: "assistant", content: "", tool_calls }],
  });
  assert.ok(text.endsWith("\n````\n"));
});

Deno.test("markdownOf shows who said what, and calls with their arguments", () => {
  const text = markdownOf({
    thread_id: "t",
    title: "Two\nlines",
    created_at: at,
    updated_at: at,
    llm_calls: 1,
    messages: [
      { ...message, id: "1", role: "user", content: "Can PC1 reach PC2?" },
      {
        ...message,
        id: "2",
        role: "assistant",
        content: "Looking.",
        tool_calls: [{
          id: "c",
          type: "function",
          function: { name: "wait_seconds", arguments: '{"seconds":1}' },
        }],
      },
      {
        ...message,
        id: "3",
        role: "tool",
        name: "wait_seconds",
        tool_call_id: "c",
        content: "```\nnot json",
      },
    ],
  });
  assert.match(text, /^# Two lines\n/);
  assert.match(text, /## You · 2026-01-01T00:00:00\.000Z\n\nCan PC1 reach PC2\?/);
  assert.match(text, /Calls `wait_seconds`:\n\n```json\n{\n {2}"seconds": 1\n}\n```/);
  assert.match(text, /````json\n```\nnot json\n````/);
});
