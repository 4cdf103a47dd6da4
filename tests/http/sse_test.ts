import assert from "node:assert/strict";
import { EventLog } from "../../src/agent/event_log.ts";
import { gns3Dialect } from "../../src/http/dialects/gns3.ts";
import { type SseOptions, sseResponse } from "../../src/http/sse.ts";
import { assertTurn, type WireEvent } from "../fakes/grammar.ts";

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, llm_calls: 1 };

function stream(log: EventLog, options: Partial<SseOptions> = {}) {
  return sseResponse({
    turn: { log, turnId: "turn" },
    dialect: gns3Dialect("s"),
    heartbeatMs: 0,
    signal: new AbortController().signal,
    ...options,
  });
}

function eventsOf(body: string): WireEvent[] {
  return body.split("\n").filter((line) => line.startsWith("data: ")).map((line) =>
    JSON.parse(line.slice(6))
  );
}

function finished(...texts: string[]): EventLog {
  const log = new EventLog();
  log.append({ type: "turn_start", turnId: "turn" });
  for (const text of texts) log.append({ type: "text_delta", messageId: "m", text });
  log.append({ type: "turn_end", finishReason: "stop", usage });
  return log;
}

Deno.test("sseResponse sends an id line and one data line for each event, and a keep-alive without id first", async () => {
  const body = await stream(finished("a\nb")).text();
  assert.equal(
    body,
    'data: {"type":"heartbeat","session_id":"s"}\n\n' +
      'id: turn:4\ndata: {"type":"content","content":"a\\nb","message_id":"m","session_id":"s"}\n\n' +
      `id: turn:5\ndata: ${
        JSON.stringify({ type: "done", session_id: "s", finish_reason: "stop", usage })
      }\n\n`,
  );
});

Deno.test("sseResponse resumes in the middle of a text without losing or doubling a character", async () => {
  const log = finished("hello", " world");
  for (let after = 0; after <= 12; after++) {
    const events = eventsOf(await stream(log, { after }).text());
    const text = events.filter((event) => event.type === "content").map((event) => event.content).join("");
    assert.equal(text, "hello world".slice(Math.max(0, after - 1)), `after ${after}`);
    assertTurn(events, { resumed: true });
  }
});

Deno.test("sseResponse fills silences with keep-alives and stops them at the end", async () => { // B4
  const log = new EventLog();
  log.append({ type: "turn_start", turnId: "turn" });
  const body = stream(log, { heartbeatMs: 20 }).text();
  await new Promise((resolve) => setTimeout(resolve, 150));
  log.append({ type: "turn_end", finishReason: "stop", usage });
  const events = eventsOf(await body);
  assert.ok(events.filter((event) => event.type === "heartbeat").length >= 3);
  assert.equal(events.at(-1)!.type, "done");
});

Deno.test("sseResponse reads nothing for a client that does not read, and merges what has piled up", async () => { // B8
  const log = new EventLog();
  log.append({ type: "turn_start", turnId: "turn" });
  const reader = stream(log).body!.getReader();
  await reader.read();
  const written = "x".repeat(50_000);
  for (let i = 0; i < 100; i++) log.append({ type: "text_delta", messageId: "m", text: written });
  log.append({ type: "turn_end", finishReason: "stop", usage });
  let text = "";
  let chunks = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks++;
    for (const event of eventsOf(new TextDecoder().decode(value))) text += event.content ?? "";
  }
  assert.equal(text.length, 5_000_000);
  assert.ok(chunks < 40, `${chunks} chunks`);
});

Deno.test("sseResponse tells when its client leaves, once, and lets go of the log", async () => { // B2
  const log = new EventLog();
  log.append({ type: "turn_start", turnId: "turn" });
  const leaving = new AbortController();
  let gone = 0;
  const body = stream(log, { heartbeatMs: 20, signal: leaving.signal, onGone: () => gone++ }).text();
  await new Promise((resolve) => setTimeout(resolve, 30));
  leaving.abort();
  await body;
  assert.equal(gone, 1);
});

Deno.test("sseResponse serves two readers of one log at their own pace", async () => {
  const log = new EventLog();
  log.append({ type: "turn_start", turnId: "turn" });
  const early = stream(log).text();
  for (const text of ["a", "b", "c"]) log.append({ type: "text_delta", messageId: "m", text });
  const late = stream(log).text();
  log.append({ type: "turn_end", finishReason: "stop", usage });
  const join = (events: WireEvent[]) => events.map((event) => event.content ?? "").join("");
  assert.equal(join(eventsOf(await early)), "abc");
  assert.equal(join(eventsOf(await late)), "abc");
});

Deno.test("sseResponse asks whether its client still may listen, and ends with the reason when it may not", async () => {
  const log = new EventLog();
  log.append({ type: "turn_start", turnId: "turn" });
  log.append({ type: "text_delta", messageId: "m", text: "before" });
  let asked = 0;
  const refusal = { code: "forbidden" as const, message: "You have no access to this project." };
  const body = stream(log, {
    recheck: { everyMs: 5, refused: () => Promise.resolve(++asked < 3 ? undefined : refusal) },
  });
  const events = eventsOf(await body.text());
  assert.equal(asked, 3);
  assert.deepEqual(events.slice(1), [
    { type: "content", content: "before", message_id: "m", session_id: "s" },
    { type: "error", error: refusal.message, code: "forbidden", session_id: "s" },
  ]);
  // Neither an ended stream nor one that was left asks any more.
  await stream(finished("x"), { recheck: { everyMs: 1, refused: () => Promise.reject(new Error("asked")) } })
    .text();
  const left = stream(log, { recheck: { everyMs: 1, refused: () => Promise.resolve(void asked++) } });
  await left.body!.cancel();
  const now = asked;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(asked, now);
});

Deno.test("sseResponse breaks a stream that its dialect fails in, and tells that once, as of a client that left", async () => {
  const log = new EventLog();
  const client = new AbortController();
  let left = 0;
  const faulty = { ...gns3Dialect("s"), translate: () => assert.fail("a fault") };
  const reader = stream(log, { dialect: faulty, signal: client.signal, onGone: () => left++ }).body!
    .getReader();
  await reader.read();
  const next = reader.read();
  log.append({ type: "turn_start", turnId: "turn" });
  await assert.rejects(next, /a fault/);
  assert.equal(left, 1);
  client.abort();
  log.append({ type: "turn_end", finishReason: "stop", usage });
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(left, 1);
});
