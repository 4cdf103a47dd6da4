import assert from "node:assert/strict";
import { historyOf } from "../../src/agent/history.ts";
import { assistantMessage, toolMessage, userMessage } from "../../src/agent/messages.ts";
import { AppError } from "../../src/domain/error.ts";
import type { ChatSession } from "../../src/domain/session.ts";

const at = (id: string) => ({ id, createdAt: "2026-01-01T00:00:00.000Z" });
const call = (id: string) => ({ id, name: "wait_seconds", argumentsText: "{}" });
const messages = [
  userMessage("q", at("1")),
  assistantMessage({ text: "", calls: [call("a"), call("b")] }, at("2")),
  toolMessage({ callId: "a", name: "wait_seconds", output: "{}", status: "success" }, at("3")),
  toolMessage({ callId: "b", name: "wait_seconds", output: "{}", status: "success" }, at("4")),
  assistantMessage({ text: "done" }, at("5")),
];
const session = {
  thread_id: "t",
  title: "T",
  created_at: "x",
  updated_at: "y",
  llm_calls_count: 2,
} as ChatSession;
const ids = (page: { limit?: number; before?: string }) =>
  historyOf(session, messages, page).messages.map((message) => message.id);

Deno.test("historyOf gives the newest messages, oldest first", () => {
  assert.deepEqual(ids({}), ["1", "2", "3", "4", "5"]);
  assert.deepEqual(ids({ limit: 1 }), ["5"]);
  assert.deepEqual(ids({ limit: 100 }), ["1", "2", "3", "4", "5"]);
});

Deno.test("historyOf never begins a page with a result whose call is cut off", () => {
  assert.deepEqual(ids({ limit: 3 }), ["5"]);
  assert.deepEqual(ids({ limit: 4 }), ["2", "3", "4", "5"]);
});

Deno.test("historyOf pages backwards from a message and refuses one that is not there", () => {
  assert.deepEqual(ids({ limit: 2, before: "3" }), ["1", "2"]);
  assert.deepEqual(ids({ before: "1" }), []);
  assert.throws(
    () => ids({ before: "x" }),
    (error) => error instanceof AppError && error.code === "validation_error",
  );
});
