import assert from "node:assert/strict";
import { EventLog } from "../../../src/agent/event_log.ts";
import type { TurnEvent } from "../../../src/domain/event.ts";
import { cutAt } from "../../../src/http/dialects/dialect.ts";
import { gns3Dialect } from "../../../src/http/dialects/gns3.ts";

const usage = { input_tokens: 9421, output_tokens: 684, total_tokens: 10105, llm_calls: 2 };
const logOf = (...events: TurnEvent[]) => {
  const log = new EventLog();
  for (const event of events) log.append(event);
  return log.slice(0);
};
const text = (text: string): TurnEvent => ({ type: "text_delta", messageId: "m", text });
const call = (toolCallId: string, ...parts: string[]): TurnEvent[] => [
  { type: "tool_call_start", messageId: "m", toolCallId, name: "wait_seconds" },
  ...parts.map((part): TurnEvent => ({ type: "tool_call_delta", messageId: "m", toolCallId, text: part })),
  { type: "tool_call_end", messageId: "m", toolCallId },
];

Deno.test("gns3Dialect joins neighbouring text of a batch and carries the last position", () => {
  const messages = gns3Dialect("s").translate(logOf(text("ab"), text("c"), text("d")));
  assert.deepEqual(messages, [
    { data: { type: "content", content: "abcd", message_id: "m", session_id: "s" }, seq: 4 },
  ]);
});

Deno.test("gns3Dialect shows a call empty, growing and complete, each call with its own arguments", () => {
  const dialect = gns3Dialect("s");
  const seen: string[] = [];
  const interleaved: TurnEvent[] = [
    { type: "tool_call_start", messageId: "m", toolCallId: "a", name: "x" },
    { type: "tool_call_start", messageId: "m", toolCallId: "b", name: "y" },
    { type: "tool_call_delta", messageId: "m", toolCallId: "a", text: '{"nodes": "1111' },
    { type: "tool_call_delta", messageId: "m", toolCallId: "b", text: '{"links": "2222' },
    { type: "tool_call_delta", messageId: "m", toolCallId: "a", text: '11"}' },
    { type: "tool_call_delta", messageId: "m", toolCallId: "b", text: '22"}' },
    { type: "tool_call_end", messageId: "m", toolCallId: "a" },
    { type: "tool_call_end", messageId: "m", toolCallId: "b" },
  ];
  for (const entry of logOf(...interleaved)) {
    for (const { data } of dialect.translate([entry])) {
      const { tool_call } = data as {
        tool_call: { id: string; function: { arguments: string; complete?: true } };
      };
      seen.push(
        `${tool_call.id}:${tool_call.function.arguments}${tool_call.function.complete ? " complete" : ""}`,
      );
    }
  }
  assert.deepEqual(seen, [
    "a:",
    "b:",
    'a:{"nodes": "111111"}',
    'b:{"links": "222222"}',
    'a:{"nodes": "111111"} complete',
    'b:{"links": "222222"} complete',
  ]);
});

Deno.test("gns3Dialect keeps all updates of a call of 100 kB within five times its size", () => {
  const dialect = gns3Dialect("s");
  let sent = 0;
  for (const entry of logOf(...call("a", ...Array.from({ length: 25_000 }, () => "abcd")))) {
    for (const { data } of dialect.translate([entry])) sent += JSON.stringify(data).length;
  }
  assert.ok(sent > 100_000 && sent < 500_000, `${sent} characters`);
});

Deno.test("gns3Dialect ends an aborted turn with abort and done, of which only done has a position", () => {
  const messages = gns3Dialect("s").translate(logOf({ type: "turn_end", finishReason: "aborted", usage }));
  assert.deepEqual(messages, [
    { data: { type: "abort", session_id: "s" } },
    { data: { type: "done", session_id: "s", finish_reason: "aborted", usage }, seq: 1 },
  ]);
});

Deno.test("gns3Dialect ends a failed turn with error and nothing else", () => {
  const error = { code: "model_error" as const, message: "The model refused the key." };
  const messages = gns3Dialect("s").translate(
    logOf({ type: "turn_end", finishReason: "error", usage, error }),
  );
  assert.deepEqual(messages, [
    {
      data: { type: "error", error: "The model refused the key.", code: "model_error", session_id: "s" },
      seq: 1,
    },
  ]);
});

Deno.test("gns3Dialect shows reasoning only to a client that asked for it", () => {
  const batch = logOf({ type: "reasoning_delta", messageId: "m", text: "hm" });
  assert.deepEqual(gns3Dialect("s").translate(batch), []);
  assert.equal(gns3Dialect("s", { reasoning: true }).translate(batch).length, 1);
});

Deno.test("cutAt cuts a text at the position the client has seen", () => {
  const [seen, fresh] = cutAt(logOf({ type: "turn_start", turnId: "t" }, text("hello"), text(" world")), 4);
  assert.deepEqual(seen.map((entry) => entry.event), [{ type: "turn_start", turnId: "t" }, text("hel")]);
  assert.deepEqual(fresh.map((entry) => entry.event), [text("lo"), text(" world")]);
});
