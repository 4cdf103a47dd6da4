import assert from "node:assert/strict";
import type { BaseMessage } from "@langchain/core/messages";
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

/** The pages that a client meets which goes back from the newest message to the oldest, as it would show them. */
function allPages(history: readonly BaseMessage[], limit: number): string[][] {
  const pages: string[][] = [];
  let before: string | undefined;
  for (;;) {
    const page = historyOf(session, history, { limit, before }).messages.map(({ id }) => id);
    if (page.length === 0) return pages;
    pages.unshift(page);
    before = page[0];
  }
}

/** A question, a message with this many calls, their results, and so on, `stray` results, an answer. */
function conversation(batches: readonly number[], stray = 0): BaseMessage[] {
  const made: BaseMessage[] = [userMessage("q", at("q"))];
  const result = (callId: string) =>
    toolMessage({ callId, name: "wait_seconds", output: "{}", status: "success" }, at(`r-${callId}`));
  for (const [batch, calls] of batches.entries()) {
    const ids = Array.from({ length: calls }, (_, i) => `${batch}-${i}`);
    made.push(assistantMessage({ text: "", calls: ids.map(call) }, at(`a-${batch}`)), ...ids.map(result));
  }
  for (let i = 0; i < stray; i++) made.push(result(`stray-${i}`));
  return [...made, assistantMessage({ text: "done" }, at("done"))];
}

Deno.test("pages of any length hold every message once, and none starts with a result whose call is cut off", () => {
  for (const history of [conversation([1, 1, 8, 2]), conversation([3, 40]), conversation([2], 7)]) {
    for (let limit = 1; limit <= history.length + 1; limit++) {
      const pages = allPages(history, limit);
      assert.deepEqual(pages.flat(), history.map(({ id }) => id), `limit ${limit}`);
      for (const page of pages) {
        assert.doesNotMatch(page[0]!, /^r-\d/, `limit ${limit}`);
        assert.ok(page.length <= Math.max(limit, 41), `limit ${limit}: a page of ${page.length}`);
      }
    }
  }
});

Deno.test("a message with thousands of calls is paged like any other", () => {
  const history = conversation([5_000]);
  for (const limit of [99, 1_000]) {
    const pages = allPages(history, limit);
    assert.deepEqual(pages.flat(), history.map(({ id }) => id));
    assert.ok(Math.max(...pages.map((page) => page.length)) <= 1_000);
  }
});

Deno.test("messages without an id are paged by their place", () => {
  const history = conversation([2]);
  for (const message of history) message.id = undefined;
  assert.deepEqual(allPages(history, 3).flat(), [1, 2, 3, 4, 5].map((place) => `message-${place}`));
});

Deno.test("historyOf pages backwards from a message and refuses one that is not there", () => {
  assert.deepEqual(ids({ limit: 2, before: "3" }), ["1", "2"]);
  assert.deepEqual(ids({ before: "1" }), []);
  assert.throws(
    () => ids({ before: "x" }),
    (error) => error instanceof AppError && error.code === "validation_error",
  );
});
