import assert from "node:assert/strict";
import { AIMessageChunk } from "@langchain/core/messages";
import { MessageCache } from "../../src/storage/message_cache.ts";
import { answer, user } from "./helpers.ts";

Deno.test("rowOf knows an object until its id, content, calls or additional fields are others", () => {
  const cache = new MessageCache(1000);
  const changes: ((message: ReturnType<typeof answer>) => void)[] = [
    (message) => message.id = "other",
    (message) => message.content = "other",
    (message) => message.tool_calls = [{ id: "c", name: "n", args: {} }],
    (message) => message.additional_kwargs = {},
  ];
  for (const [seq, change] of changes.entries()) {
    const message = answer("hello");
    cache.add(1, seq, message, 10);
    assert.equal(cache.rowOf(1, message), seq);
    assert.equal(cache.rowOf(2, message), undefined);
    change(message);
    assert.equal(cache.rowOf(1, message), undefined);
    assert.equal(cache.messages(1).has(seq), false);
  }
});

Deno.test("rowOf forgets rows that were deleted, and everything after clear", () => {
  const cache = new MessageCache(1000);
  const [a, b] = [user("a"), user("b")];
  cache.add(1, 1, a, 10);
  cache.add(1, 2, b, 10);
  cache.delete(1, 1);
  assert.deepEqual([cache.rowOf(1, a), cache.rowOf(1, b)], [undefined, 2]);
  assert.deepEqual([...cache.messages(1).keys()], [2]);
  cache.clear();
  assert.equal(cache.rowOf(1, b), undefined);
  assert.equal(cache.messages(1).size, 0);
});

Deno.test("messages drops the threads that were not used for the longest time, never the one asked for", () => {
  const cache = new MessageCache(100);
  for (const thread of [1, 2, 3]) cache.add(thread, 1, user("x"), 40);
  cache.messages(1);
  // 120 characters are too many: thread 2 is the longest unused.
  assert.deepEqual([1, 3].map((thread) => cache.messages(thread).size), [1, 1]);
  assert.equal(cache.messages(2).size, 0);
  cache.add(4, 1, user("x"), 5000);
  assert.equal(cache.messages(4).size, 1);
});

Deno.test("a chunk is known by its row but not returned for it", () => {
  const cache = new MessageCache(100);
  const chunk = new AIMessageChunk({ id: "a", content: "part" });
  cache.add(1, 1, chunk, 10);
  assert.equal(cache.rowOf(1, chunk), 1);
  assert.equal(cache.messages(1).size, 0);
});
