import assert from "node:assert/strict";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { AppError } from "../../src/domain/error.ts";
import { askModel } from "../../src/models/ask_model.ts";
import { createChatModel } from "../../src/models/chat_model.ts";
import { type FailureKind, ModelError } from "../../src/models/model_error.ts";
import { streamModel } from "../../src/models/stream.ts";
import { outcome } from "../fakes/collecting.ts";
import { type Answer, answer, chunk, fakeEndpoint, sse } from "./fake_endpoint.ts";
import { config, deltas, options, question, textOf } from "./fixtures.ts";

const begin = chunk({ role: "assistant", content: "" });
const calls = (...tool_calls: unknown[]) => chunk({ tool_calls });
const withoutDone = (text: string) => text.replace("data: [DONE]\n\n", "");
const json = (status: number, body: unknown, headers = {}): Answer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
const overloaded = json(503, { error: { message: "overloaded" } });

/** Asserts that asking fails with `kind`; returns the failure. */
async function fails(work: Promise<unknown>, kind: FailureKind): Promise<ModelError> {
  const error = await work.then(() => undefined, (error) => error);
  assert.ok(error instanceof ModelError, `expected a ModelError, got ${error}`);
  assert.equal(error.kind, kind);
  return error;
}

Deno.test("streamModel yields text, finish reason and usage in this order", async () => {
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 4,
    total_tokens: 13,
    prompt_tokens_details: { cached_tokens: 5 },
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const body = sse(begin, chunk({ content: "Hel" }), chunk({ content: "lo" }), chunk({}, "stop"), {
    choices: [],
    usage,
  });
  await using endpoint = fakeEndpoint([{ body }]);
  assert.deepEqual(await deltas(config(endpoint.url)), [
    { text: "Hel" },
    { text: "lo" },
    { finishReason: "stop" },
    { usage: { input: 9, output: 4, cached: 5, reasoning: 2 } },
  ]);
});

// D5
for (
  const [name, odd] of Object.entries({
    "choices: []": { choices: [] },
    "choices: null": { choices: null },
    "no choices": { id: "x" },
    "usage: null": { choices: [], usage: null },
    "a choice without delta": { choices: [{ index: 0 }] },
    "a null": null,
    "content: null": chunk({ content: null }),
    "tool_calls: null": chunk({ content: null, tool_calls: null }),
    "usage without numbers": { choices: [], usage: { prompt_tokens: null, completion_tokens: "7" } },
  })
) {
  Deno.test(`streamModel reads past a chunk with ${name}`, async () => {
    await using endpoint = fakeEndpoint([{
      body: sse(odd, begin, odd, chunk({ content: "hi" }), odd, chunk({}, "stop"), odd),
    }]);
    assert.deepEqual(await deltas(config(endpoint.url)), [{ text: "hi" }, { finishReason: "stop" }]);
  });
}

Deno.test("streamModel reports usage that is repeated on every chunk once, with its last value", async () => {
  // D5
  const used = (value: object, completion_tokens: number) => ({
    ...value,
    usage: { prompt_tokens: 3, completion_tokens },
  });
  const body = sse(
    used(begin, 0),
    used(chunk({ content: "a" }), 1),
    used(chunk({ content: "b" }), 2),
    used(chunk({}, "stop"), 2),
  );
  await using endpoint = fakeEndpoint([{ body }]);
  const pieces = await deltas(config(endpoint.url));
  assert.deepEqual(pieces.filter((piece) => piece.usage), [{ usage: { input: 3, output: 2 } }]);
});

Deno.test("streamModel finds usage where Groq and where Moonshot put it", async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  for (const last of [{ x_groq: { usage } }, { choices: [{ index: 0, delta: {}, usage }] }]) {
    await using endpoint = fakeEndpoint([{ body: sse(chunk({ content: "a" }), last) }]);
    const pieces = await deltas(config(endpoint.url));
    assert.deepEqual(pieces.at(-1), { usage: { input: 3, output: 2 } });
  }
});

Deno.test("streamModel yields content that comes as parts, and reasoning under any of its names", async () => {
  const body = sse(
    chunk({ reasoning_content: "one " }),
    chunk({ reasoning: "two " }),
    chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "three" }] }] }),
    chunk({ content: [{ type: "text", text: "he" }, { type: "text", text: "llo" }] }, "stop"),
  );
  await using endpoint = fakeEndpoint([{ body }]);
  assert.deepEqual(await deltas(config(endpoint.url)), [
    { reasoning: "one " },
    { reasoning: "two " },
    { reasoning: "three" },
    { text: "he" },
    { text: "llo" },
    { finishReason: "stop" },
  ]);
});

Deno.test("streamModel yields tool-call fragments as they are sent, also without a role, an index or an id", async () => {
  // A11
  const body = sse(
    calls({ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }),
    calls({ index: 1, function: { name: "g", arguments: '{"x"' } }, {
      index: 0,
      id: "",
      function: { arguments: "{}" },
    }),
    calls({ id: "c", function: { name: "h", arguments: { y: 1 } } }),
    calls({ function: { name: null, arguments: null } }),
    chunk({ function_call: { name: "old", arguments: "{}" } }),
    chunk({}, "tool_calls"),
  );
  await using endpoint = fakeEndpoint([{ body }]);
  assert.deepEqual(await deltas(config(endpoint.url)), [
    { toolCalls: [{ index: 0, id: "a", name: "f", args: "" }] },
    { toolCalls: [{ index: 1, name: "g", args: '{"x"' }, { index: 0, args: "{}" }] },
    { toolCalls: [{ id: "c", name: "h", args: '{"y":1}' }] },
    { toolCalls: [{ index: 0, name: "old", args: "{}" }] },
    { finishReason: "tool_calls" },
  ]);
});

for (
  const [name, change] of Object.entries({
    "CRLF line ends": (body: string) => [body.replaceAll("\n", "\r\n")],
    "every byte by itself": (body: string) =>
      [...new TextEncoder().encode(body)].map((byte) => new Uint8Array([byte])),
    "CRLF, byte by byte": (body: string) =>
      [...new TextEncoder().encode(body.replaceAll("\n", "\r\n"))].map((byte) => new Uint8Array([byte])),
    "no space after data:": (body: string) => [body.replaceAll("data: ", "data:")],
    "no blank lines": (body: string) => [body.replaceAll("\n\n", "\n")],
    "comments and ids": (body: string) => [`: PROCESSING\n\nid: 7\nretry: 10\n${body}`],
    "no [DONE]": (body: string) => [withoutDone(body)],
    "no newline at the end": (body: string) => [withoutDone(body).trimEnd()],
    "data after [DONE]": (body: string) => [`${body}data: {"choices":[{"delta":{"content":"late"}}]}\n\n`],
  })
) {
  Deno.test(`streamModel reads a stream with ${name}`, async () => {
    const body = change(sse(begin, chunk({ content: "hé€" }), chunk({ content: "😀" }, "stop")));
    await using endpoint = fakeEndpoint([{ body }]);
    assert.deepEqual(await deltas(config(endpoint.url)), [{ text: "hé€" }, { text: "😀" }, {
      finishReason: "stop",
    }]);
  });
}

Deno.test("streamModel takes an orderly end without finish_reason and [DONE] for an answer", async () => {
  const body = withoutDone(sse(begin, chunk({ content: "hi" })));
  await using endpoint = fakeEndpoint([{ body }, { body, closeDelimited: true }]);
  assert.equal(textOf(await deltas(config(endpoint.url))), "hi");
  assert.equal(textOf(await deltas(config(endpoint.url))), "hi");
});

Deno.test("streamModel takes the whole answer of a server that does not stream", async () => {
  const message = {
    role: "assistant",
    content: "hi",
    tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
  };
  const body = {
    choices: [{ index: 0, message, finish_reason: "tool_calls" }],
    usage: { prompt_tokens: 2, completion_tokens: 1 },
  };
  await using endpoint = fakeEndpoint([json(200, body)]);
  assert.deepEqual(await deltas(config(endpoint.url)), [
    { text: "hi" },
    { toolCalls: [{ id: "a", name: "f", args: "{}" }] },
    { finishReason: "tool_calls" },
    { usage: { input: 2, output: 1 } },
  ]);
});

Deno.test("streamModel yields what came before a connection broke, then fails, and does not ask again", async () => {
  // B6
  await using endpoint = fakeEndpoint([{
    body: [withoutDone(sse(begin, chunk({ content: "one" }), chunk({ content: "two" }))), 20, {
      break: true,
    }],
  }]);
  const seen: string[] = [];
  const work = streamModel(createChatModel(config(endpoint.url)), question, options(), (batch) => {
    seen.push(textOf(batch));
  });
  await fails(work, "cut");
  assert.equal(seen.join(""), "onetwo");
  assert.equal(endpoint.requests.length, 1);
});

Deno.test("streamModel notices a connection that breaks in the middle of a line, though it ends in an orderly way", async () => {
  const body = withoutDone(sse(begin, chunk({ content: "one" }))) +
    'data: {"choices":[{"delta":{"content":"t';
  await using endpoint = fakeEndpoint([{ body }]);
  await fails(deltas(config(endpoint.url)), "cut");
});

Deno.test("streamModel does not mind a connection that breaks after finish_reason", async () => {
  await using endpoint = fakeEndpoint([{
    body: [withoutDone(sse(begin, chunk({ content: "one" }, "stop"))), 20, { break: true }],
  }]);
  assert.deepEqual(await deltas(config(endpoint.url)), [{ text: "one" }, { finishReason: "stop" }]);
});

Deno.test("streamModel yields what came in the same read as an error, then fails with it", async () => {
  const error = { error: { message: "Provider exploded", code: 502 } };
  await using endpoint = fakeEndpoint([{ body: sse(begin, chunk({ content: "one" }), error) }]);
  const seen: string[] = [];
  const work = streamModel(createChatModel(config(endpoint.url)), question, options(), (batch) => {
    seen.push(textOf(batch));
  });
  const failure = await fails(work, "overloaded");
  assert.equal(failure.detail, "Provider exploded");
  assert.deepEqual(seen, ["one"]);
  assert.equal(endpoint.requests.length, 1);
});

Deno.test("streamModel fails on a line that is not JSON, after what came before it", async () => {
  const body = withoutDone(sse(begin, chunk({ content: "one" }))) + 'data: {"choices":[{"delta":\n\n' +
    sse(chunk({ content: "two" }));
  await using endpoint = fakeEndpoint([{ body }]);
  const seen: string[] = [];
  const work = streamModel(createChatModel(config(endpoint.url)), question, options(), (batch) => {
    seen.push(textOf(batch));
  });
  await fails(work, "malformed");
  assert.deepEqual(seen, ["one"]);
});

Deno.test("streamModel knows a web page, an error object and nothing at all from an answer", async () => {
  // D3
  const html = { headers: { "content-type": "text/html" }, body: "<!doctype html>\n<html>Welcome</html>" };
  await using endpoint = fakeEndpoint((request) =>
    request.path.startsWith("/html/")
      ? html
      : request.path.startsWith("/error/")
      ? json(200, { error: { message: "model 'm-1' not found" } })
      : { body: "" }
  );
  const at = (path: string) => config(endpoint.url.replace("/v1", path));
  assert.equal((await fails(deltas(at("/html")), "not_an_api")).detail, "");
  assert.equal((await fails(deltas(at("/error")), "model_not_found")).detail, "model 'm-1' not found");
  assert.equal((await fails(deltas(at("/nothing")), "empty")).detail, "nothing");
});

Deno.test("streamModel asks once more when the answer has neither text nor calls, then fails", async () => {
  // D17
  const empty: Answer = { body: sse(begin, chunk({ content: "  " }), chunk({}, "stop")) };
  await using once = fakeEndpoint([empty, answer("hello")]);
  assert.equal(textOf(await deltas(config(once.url))).trim(), "hello");
  assert.equal(once.requests.length, 2);
  await using always = fakeEndpoint([empty]);
  await fails(deltas(config(always.url)), "empty");
  assert.equal(always.requests.length, 2);
});

Deno.test("streamModel says when the output limit or a content filter left no answer, and does not ask again", async () => {
  await using endpoint = fakeEndpoint([
    { body: sse(chunk({ reasoning_content: "hmm" }), chunk({}, "length")) },
    { body: sse(begin, chunk({}, "content_filter")) },
  ]);
  await fails(deltas(config(endpoint.url)), "no_room");
  await fails(deltas(config(endpoint.url)), "filtered");
  assert.equal(endpoint.requests.length, 2);
});

Deno.test("streamModel asks again at most twice for 429, 5xx and a refused connection, and not for other refusals", async () => {
  // D15
  for (
    const [status, asked] of [[429, 3], [500, 3], [503, 3], [400, 1], [401, 1], [403, 1], [404, 1]] as const
  ) {
    await using endpoint = fakeEndpoint([json(status, { error: { message: "no" } })]);
    await assert.rejects(deltas(config(endpoint.url)), ModelError);
    assert.equal(endpoint.requests.length, asked, `status ${status}`);
  }
  await using endpoint = fakeEndpoint([{ hangUp: true }, overloaded, answer("at last")]);
  const waits: string[] = [];
  const pieces = await deltas(config(endpoint.url), { onRetry: (failure) => waits.push(failure.kind) });
  assert.equal(textOf(pieces), "at last");
  assert.deepEqual(waits, ["unreachable", "overloaded"]);
});

Deno.test("streamModel waits as long as Retry-After says, and gives up at once when that is more than 20 seconds", async () => {
  // D15
  const limited = (after: string) => json(429, { error: { message: "slow down" } }, { "retry-after": after });
  await using endpoint = fakeEndpoint([limited("0.05"), limited("21")]);
  const waits: number[] = [];
  const failure = await fails(
    deltas(config(endpoint.url), { onRetry: (_, wait) => waits.push(wait) }),
    "rate_limit",
  );
  assert.deepEqual(waits, [50]);
  assert.equal(failure.retryAfter, 21_000);
  assert.equal(endpoint.requests.length, 2);
});

Deno.test("streamModel does not ask again when the quota is used up", async () => {
  // D15
  const body = {
    error: {
      message: "You exceeded your current quota, please check your plan.",
      code: "insufficient_quota",
    },
  };
  await using endpoint = fakeEndpoint([json(429, body)]);
  await fails(deltas(config(endpoint.url)), "quota");
  assert.equal(endpoint.requests.length, 1);
});

Deno.test("streamModel retries a failure inside the stream only before the first piece", async () => {
  const failed = { body: sse({ error: { message: "Rate limit reached", code: 429 } }) };
  await using endpoint = fakeEndpoint([failed, answer("ok")]);
  assert.equal(textOf(await deltas(config(endpoint.url))), "ok");
});

Deno.test("streamModel cancels the request on the wire when it is stopped in the middle of an answer", async () => {
  // C6
  await using endpoint = fakeEndpoint([{
    body: [sse(begin, chunk({ content: "one" })).replace("data: [DONE]\n\n", ""), 60_000],
  }]);
  const stop = new AbortController();
  const reason = new Error("stopped by the user");
  const seen: string[] = [];
  const model = createChatModel(config(endpoint.url));
  const work = streamModel(model, question, options({ signal: stop.signal }), (batch) => {
    seen.push(textOf(batch));
    stop.abort(reason);
  });
  await assert.rejects(work, (error) => error === reason);
  await endpoint.requests[0]!.closed;
  assert.deepEqual(seen, ["one"]);
});

Deno.test("streamModel can be stopped before the answer begins and between two attempts, and then asks no more", async () => {
  // C6
  const reason = new Error("stopped");
  await using silent = fakeEndpoint([{ body: [60_000] }]);
  const first = new AbortController();
  const waiting = deltas(config(silent.url), { signal: first.signal });
  while (silent.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  first.abort(reason);
  await assert.rejects(waiting, (error) => error === reason);
  await silent.requests[0]!.closed;

  await using busy = fakeEndpoint([overloaded]);
  const second = new AbortController();
  const pausing = deltas(config(busy.url), {
    signal: second.signal,
    backoff: 60_000,
    onRetry: () => assert.fail("not within 20 s"),
  });
  await fails(pausing, "overloaded");
  const third = new AbortController();
  const between = deltas(config(busy.url), {
    signal: third.signal,
    backoff: 10_000,
    onRetry: () => queueMicrotask(() => third.abort(reason)),
  });
  await assert.rejects(between, (error) => error === reason);
  assert.equal(busy.requests.length, 2);

  await assert.rejects(
    deltas(config(busy.url), { signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  );
  assert.equal(busy.requests.length, 2);
});

Deno.test("streamModel stops one of two calls of the same model, and the other one goes on", async () => {
  const words = [...Array(20)].flatMap((_, at) => [withoutDone(sse(chunk({ content: `${at} ` }))), 10]);
  await using endpoint = fakeEndpoint([{ body: [...words, sse(chunk({}, "stop"))] }]);
  const model = createChatModel(config(endpoint.url));
  const stop = new AbortController();
  const [stopped, whole] = await Promise.allSettled([
    streamModel(model, question, options({ signal: stop.signal }), () => stop.abort("stop")),
    askModel(model, question, options()),
  ]);
  assert.equal(stopped.status === "rejected" && stopped.reason, "stop");
  assert.equal(whole.status === "fulfilled" && whole.value.text.trim().split(" ").length, 20);
});

Deno.test("streamModel stops by itself when the request or its body does not heed the signal", async () => {
  // C6
  const reason = new Error("stopped");
  for (const answering of [true, false]) {
    let cancelled = false;
    const body = new ReadableStream({
      type: "bytes",
      start: (controller) => controller.enqueue(new TextEncoder().encode(sse(begin).slice(0, 20))),
      cancel: () => void (cancelled = true),
    });
    const opening = Promise.withResolvers<Response>();
    if (answering) opening.resolve(new Response(body));
    const model = createChatModel(config("http://127.0.0.1:1/v1"));
    model.open = () => opening.promise;
    const stop = new AbortController();
    const work = deltas(config("http://127.0.0.1:1/v1"), { signal: stop.signal }, question, model);
    setTimeout(() => stop.abort(reason), 20);
    assert.equal(await outcome(work), "failed: stopped");
    // An answer that comes only now is let go.
    if (!answering) opening.resolve(new Response(body));
    await new Promise((resolve) => setTimeout(resolve, 0));
    assert.ok(cancelled);
  }
});

Deno.test("streamModel cancels the request when its answer is not taken, and throws why", async () => {
  await using endpoint = fakeEndpoint([{
    body: [withoutDone(sse(begin, chunk({ content: "one" }))), 60_000],
  }]);
  const full = new Error("no more");
  const work = streamModel(createChatModel(config(endpoint.url)), question, options(), () => {
    throw full;
  });
  await assert.rejects(work, (error) => error === full);
  await endpoint.requests[0]!.closed;
});

Deno.test("streamModel gives up after a silence, before the answer and in the middle of it", async () => {
  await using endpoint = fakeEndpoint([{ body: [60_000] }, {
    body: [sse(begin, chunk({ content: "one" })).slice(0, -20), 60_000],
  }]);
  await fails(deltas(config(endpoint.url), { silenceLimit: 60 }), "timeout");
  await fails(deltas(config(endpoint.url), { silenceLimit: 60 }), "timeout");
  assert.equal(endpoint.requests.length, 2);
  await Promise.all(endpoint.requests.map((request) => request.closed));
});

Deno.test("streamModel gives up on an endpoint that shows signs of life for ever, and never answers", async () => {
  const ping = [": ping\n\n", 5, sse({ choices: [] }).split("data: [DONE]")[0]!, 5];
  await using endpoint = fakeEndpoint([{ body: Array.from({ length: 200 }, () => ping).flat() }]);
  await fails(deltas(config(endpoint.url), { silenceLimit: 60 }), "timeout");
  assert.equal(endpoint.requests.length, 1);
});

Deno.test("streamModel uses the connection again for the next call, and ends at [DONE] though the body stays open", async () => {
  await using endpoint = fakeEndpoint([answer("one"), {
    body: [sse(begin, chunk({ content: "two" }, "stop")), 60_000],
  }]);
  await deltas(config(endpoint.url));
  assert.equal(textOf(await deltas(config(endpoint.url))), "two");
  assert.deepEqual(endpoint.requests.map((request) => request.connection), [0, 0]);
});

Deno.test("streamModel tells of the first byte once", async () => {
  let bytes = 0;
  await using endpoint = fakeEndpoint([answer("a", "b")]);
  await deltas(config(endpoint.url), { onFirstByte: () => bytes++ });
  assert.equal(bytes, 1);
});

Deno.test("streamModel follows a redirect within the server only, and never with the key to another", async () => {
  await using other = fakeEndpoint([answer("stolen")]);
  await using endpoint = fakeEndpoint((request) => {
    if (request.path.startsWith("/v1/")) return answer("moved");
    const location = request.path.startsWith("/near/") ? "/v1/chat/completions" : other.url;
    return { status: 308, headers: { location } };
  });
  assert.equal(textOf(await deltas(config(endpoint.url.replace("/v1", "/near")))), "moved");
  const failure = await fails(deltas(config(endpoint.url.replace("/v1", "/far"))), "not_an_api");
  assert.match(failure.detail, /^It redirects to 127\.0\.0\.1:\d+\.$/);
  assert.equal(other.requests.length, 0);
});

Deno.test("streamModel sends tools without strict and $schema, and an object schema for a tool without arguments", async () => {
  // D9
  await using endpoint = fakeEndpoint([answer("ok")]);
  const parameters = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { x: { type: "number" } },
  };
  const tools = [{ name: "f", description: "does f", parameters }, {
    name: "g",
    description: "does g",
    parameters: {},
  }];
  await deltas(config(endpoint.url), { tools });
  await deltas(config(endpoint.url), { tools, toolChoice: "none" });
  await deltas(config(endpoint.url), { tools: [] });
  const [first, second, third] = endpoint.requests.map((request) => request.body);
  assert.deepEqual(first.tools, [
    {
      type: "function",
      function: {
        name: "f",
        description: "does f",
        parameters: { type: "object", properties: { x: { type: "number" } } },
      },
    },
    {
      type: "function",
      function: { name: "g", description: "does g", parameters: { type: "object", properties: {} } },
    },
  ]);
  assert.equal("tool_choice" in first, false);
  assert.equal(second.tool_choice, "none");
  assert.equal("tools" in third, false);
});

Deno.test("streamModel repeats a request without stream_options when they are refused, and remembers that", async () => {
  // D5
  await using endpoint = fakeEndpoint((request) =>
    request.body.stream_options
      ? json(400, { error: { message: "Unrecognized request argument supplied: stream_options" } })
      : answer("ok")
  );
  assert.equal(textOf(await deltas(config(endpoint.url))), "ok");
  assert.equal(textOf(await deltas(config(endpoint.url))), "ok");
  assert.equal(endpoint.requests.length, 3);
});

Deno.test("streamModel does without tool_choice where it is refused, and does not take that for a lack of tools", async () => {
  await using endpoint = fakeEndpoint((request) =>
    request.body.tool_choice
      ? json(400, { error: { message: "tool_choice is not supported by this model" } })
      : answer("ok")
  );
  const tools = [{ name: "f", description: "does f", parameters: {} }];
  assert.equal(textOf(await deltas(config(endpoint.url), { tools, toolChoice: "none" })), "ok");
  assert.equal(endpoint.requests[1]!.body.tools.length, 1);
});

Deno.test("streamModel learns which length field, and whether a temperature, a model takes", async () => {
  // D8
  await using endpoint = fakeEndpoint((request) => {
    if (request.body.max_tokens) {
      return json(400, {
        error: {
          message:
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        },
      });
    }
    if ("temperature" in request.body) {
      return json(400, {
        error: { message: "Unsupported value: 'temperature' does not support 0.7 with this model." },
      });
    }
    return answer("ok");
  });
  assert.equal(textOf(await deltas(config(endpoint.url, { max_tokens: 9 }))), "ok");
  const last = endpoint.requests.at(-1)!.body;
  assert.equal(last.max_completion_tokens, 9);
  assert.equal("temperature" in last, false);
  assert.equal(endpoint.requests.length, 3);
});

const call = new AIMessage({
  content: "",
  tool_calls: [{ id: "a", name: "f", args: {}, type: "tool_call" }],
});
const result = new ToolMessage({ tool_call_id: "a", content: "done" });

Deno.test("streamModel sends null for empty content beside calls, and an empty string where null is refused", async () => {
  // D7
  await using endpoint = fakeEndpoint((request) =>
    request.body.messages[1].content === null
      ? json(400, { error: { message: "messages[1].content: none is not an allowed value" } })
      : answer("ok")
  );
  assert.equal(textOf(await deltas(config(endpoint.url), {}, [...question, call, result])), "ok");
  assert.deepEqual(endpoint.requests.map((request) => request.body.messages[1].content), [null, ""]);
});

Deno.test("streamModel gives reasoning_content back within a turn to the endpoint that sends it, and to no other", async () => {
  // D1
  const thought = new AIMessage({
    content: "",
    tool_calls: [{ id: "a", name: "f", args: {}, type: "tool_call" }],
    additional_kwargs: { reasoning_content: "let me look" },
  });
  await using deepseek = fakeEndpoint([
    {
      body: sse(
        chunk({ role: "assistant", reasoning_content: "let me look" }),
        calls({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }),
        chunk({}, "tool_calls"),
      ),
    },
    answer("ok"),
  ]);
  await deltas(config(deepseek.url));
  await deltas(config(deepseek.url), {}, [...question, thought, result]);
  assert.equal(deepseek.requests[1]!.body.messages[1].reasoning_content, "let me look");
  await deltas(config(deepseek.url), {}, [...question, thought, result, new HumanMessage("next")]);
  assert.equal("reasoning_content" in deepseek.requests[2]!.body.messages[1], false);

  await using other = fakeEndpoint([answer("ok")]);
  await deltas(config(other.url), {}, [...question, thought, result]);
  assert.equal("reasoning_content" in other.requests[0]!.body.messages[1], false);

  // After a restart nothing is known of the endpoint: its refusal teaches it.
  await using strict = fakeEndpoint((request) =>
    request.body.messages[1].reasoning_content ? answer("ok") : json(400, {
      error: { message: "The `reasoning_content` in the thinking mode must be passed back to the API." },
    })
  );
  assert.equal(textOf(await deltas(config(strict.url), {}, [...question, thought, result])), "ok");
});

Deno.test("streamModel serves models without a system role and models that want strict alternation", async () => {
  const messages = [new SystemMessage("Be kind."), new HumanMessage("one"), new HumanMessage("two")];
  await using endpoint = fakeEndpoint((request) => {
    const roles: string[] = request.body.messages.map((message: { role: string }) => message.role);
    if (roles.includes("system")) return json(400, { error: { message: "System role not supported" } });
    if (roles.length > 1) {
      return json(400, {
        error: { message: "Conversation roles must alternate user/assistant/user/assistant/..." },
      });
    }
    return answer("ok");
  });
  await deltas(config(endpoint.url), {}, messages);
  assert.deepEqual(endpoint.requests.at(-1)!.body.messages, [{
    role: "user",
    content: "Be kind.\n\none\n\ntwo",
  }]);
});

Deno.test("streamModel keeps a provider's opaque data of a call and sends it back", async () => {
  const extra_content = { google: { thought_signature: "abc" } };
  await using endpoint = fakeEndpoint([{
    body: sse(calls({ index: 0, id: "a", extra_content, function: { name: "f", arguments: "{}" } })),
  }]);
  assert.deepEqual(await deltas(config(endpoint.url)), [{
    toolCalls: [{ index: 0, id: "a", name: "f", args: "{}", extra: extra_content }],
  }]);
});

Deno.test("streamModel tells inline thinking from the answer", async () => {
  // D1, D12
  await using endpoint = fakeEndpoint([answer("<th", "ink>hm", "m</thi", "nk>\n\nHel", "lo <think>")]);
  const pieces = await deltas(config(endpoint.url));
  assert.equal(textOf(pieces), "Hello <think>");
  assert.equal(pieces.map((piece) => piece.reasoning ?? "").join(""), "hmm");
});

Deno.test("askModel returns the whole answer", async () => {
  await using endpoint = fakeEndpoint([{
    body: sse(begin, chunk({ content: "a" }), chunk({ content: "b" }, "stop"), {
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    }),
  }]);
  const whole = await askModel(createChatModel(config(endpoint.url)), question, options());
  assert.deepEqual(whole, {
    text: "ab",
    reasoning: "",
    toolCalls: [],
    finishReason: "stop",
    usage: { input: 1, output: 2 },
  });
});

Deno.test("streamModel asks before each call whether it may, and calls nobody when it may not", async () => {
  await using endpoint = fakeEndpoint([answer("hi")]);
  let asked = 0;
  const model = (refusal?: Error) =>
    createChatModel(config(endpoint.url), {}, () => {
      asked++;
      return refusal ? Promise.reject(refusal) : Promise.resolve();
    });
  const refusal = new AppError("forbidden", "not there");
  await assert.rejects(askModel(model(refusal), question, options()), refusal);
  assert.equal(endpoint.requests.length, 0);
  assert.equal((await askModel(model(), question, options())).text, "hi");
  assert.deepEqual([asked, endpoint.requests.length], [2, 1]);
});
