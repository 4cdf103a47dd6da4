// What odd, broken or endless output of a model does to a turn: to its events, its history and its figures.
import assert from "node:assert/strict";
import { ANSWER_LIMITS } from "../../src/models/answer_limits.ts";
import { type Chat, type ChatServer, startChatServer, type Stream } from "../fakes/chat.ts";
import {
  type Answer,
  answer,
  chunk,
  type FakeEndpoint,
  fakeEndpoint,
  type Part,
  sse,
} from "../models/fake_endpoint.ts";

/** A server whose model gives `replies` to the turns, and a title to whoever asks for one. */
async function serverWith(
  ...replies: Answer[]
): Promise<AsyncDisposable & { server: ChatServer; alice: Chat }> {
  let at = 0;
  const endpoint: FakeEndpoint = fakeEndpoint(({ body }) =>
    body.tools ? replies[Math.min(at++, replies.length - 1)]! : answer("A title")
  );
  const server = await startChatServer({ model: { base_url: endpoint.url } });
  return {
    server,
    alice: server.chat("alice"),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await endpoint[Symbol.asyncDispose]();
    },
  };
}

const call = (fields: Record<string, unknown>, name?: string, args?: string) => ({
  ...fields,
  type: "function",
  function: { ...(name ? { name } : {}), ...(args === undefined ? {} : { arguments: args }) },
});
const calls = (...list: unknown[]) => chunk({ tool_calls: list });
const END = chunk({}, "tool_calls");

/** Every character of what a client was sent and of what is kept. */
async function assertWellFormed(alice: Chat, turn: Stream): Promise<void> {
  const walk = (value: unknown): void => {
    if (typeof value === "string") assert.ok(value.isWellFormed(), JSON.stringify(value));
    else if (typeof value === "object" && value !== null) {
      Object.entries(value).forEach((entry) => entry.forEach(walk));
    }
  };
  walk(turn.events);
  walk(await alice.messages(turn.sessionId));
}

Deno.test("a character that the model cuts in two arrives whole, in text, reasoning and arguments", async () => {
  const args = '{"name_contains": "😀"}';
  const at = args.indexOf("😀") + 1;
  await using given = await serverWith(
    {
      body: sse(
        chunk({ reasoning_content: "hm \ud83e" }),
        chunk({ content: "Hi \ud83d" }),
        chunk({ reasoning_content: "\udd14!" }),
        chunk({ content: "\ude00." }),
        calls(call({ index: 0, id: "a" }, "get_gns3_templates", args.slice(0, at))),
        calls(call({ index: 1, id: "b" }, "get_gns3_templates", args.slice(0, at))),
        calls(call({ index: 0 }, undefined, args.slice(at))),
        calls(call({ index: 1 }, undefined, args.slice(at))),
        END,
      ),
    },
    answer("D", "one \ud83d"),
  );
  const { alice } = given;
  const turn = await alice.send("go", { reasoning: true });
  assert.equal(turn.text, "Hi 😀.Done \ufffd");
  assert.equal(turn.of("reasoning").map(({ content }) => content).join(""), "hm 🤔!");
  const whole = turn.of("tool_call").filter(({ tool_call }) => tool_call.function.complete);
  assert.deepEqual(whole.map(({ tool_call }) => tool_call.function.arguments), [args, args]);
  await assertWellFormed(alice, turn);
  const history = await alice.messages(turn.sessionId);
  assert.deepEqual(history.filter(({ role }) => role === "assistant").map(({ content }) => content), [
    "Hi 😀.",
    "Done \ufffd",
  ]);
  // Positions are the same after a restart, so that whoever resumes after any event misses nothing and gets nothing twice.
  await given.server.restart();
  const from = turn.events.findIndex(({ type }) => type === "content");
  const resumed = await alice.follow(turn.sessionId, turn.ids[from]);
  await resumed.end();
  assert.equal(turn.events[from]!.content + resumed.text, turn.text);
});

Deno.test("halves of characters become U+FFFD in arguments, results, names, titles and whatever a user sends", async () => {
  await using given = await serverWith(
    {
      body: sse(
        calls(call({ index: 0, id: "c\ud83d" }, "get_gns3_templates", '{"name_contains": "\\ud83d"}')),
        END,
      ),
    },
    { body: sse(calls(call({ index: 0, id: "d" }, "no\ude00tool", "{}")), END) },
    answer("ok"),
  );
  const { alice } = given;
  const turn = await alice.send("look \ud83d at \ude00 it");
  await assertWellFormed(alice, turn);
  const [asked] = await alice.messages(turn.sessionId);
  assert.equal(asked.content, "look \ufffd at \ufffd it");
  const renamed = await alice.json("PATCH", `/sessions/${turn.sessionId}`, { title: "\ud83d one" });
  assert.equal(renamed.title, "\ufffd one");
  assert.equal((await alice.json("POST", "/sessions", { title: "a\ude00" }, 201)).title, "a\ufffd");
});

const CHARS = 100_000;
const many = (times: number, make: (at: number) => unknown): Part[] =>
  Array.from({ length: times }, (_, at) => `data: ${JSON.stringify(make(at))}\n\n`);

const ENDLESS: [name: string, parts: Part[], said: RegExp][] = [
  [
    "text without a line break",
    many(170, () => chunk({ content: "x".repeat(CHARS) })),
    /after 16 million characters of text/,
  ],
  [
    "reasoning",
    many(170, () => chunk({ reasoning_content: "y".repeat(CHARS) })),
    /after 16 million characters of reasoning/,
  ],
  [
    "arguments of one call",
    many(
      40,
      (at) => calls(call({ index: 0, ...(at ? {} : { id: "a" }) }, at ? undefined : "f", "z".repeat(CHARS))),
    ),
    /after 2 million characters of arguments of one tool call/,
  ],
  [
    "arguments of many calls",
    many(100, (at) => calls(call({ index: at % 10 }, at < 10 ? "f" : undefined, "z".repeat(CHARS)))),
    /after 8 million characters of tool calls/,
  ],
  ["calls", many(1000, (at) => calls(call({ index: at, id: `c${at}` }, "f", "{}"))), /after 128 tool calls/],
  [
    "calls without index and id",
    many(1000, () => calls(call({}, "f", "{}"), call({}, "g", "{}"))),
    /after 128 tool calls/,
  ],
  [
    "pieces of nothing",
    many(600, () => calls(...Array.from({ length: 1000 }, () => call({ index: 0 }, undefined, "")))),
    /after 500,000 pieces/,
  ],
];

for (const [name, parts, said] of ENDLESS) {
  Deno.test(`a model that sends ${name} without end is cut off with one error, and what came before is kept`, async () => {
    await using given = await serverWith({
      body: [`data: ${JSON.stringify(chunk({ content: "Well: " }))}\n\n`, ...parts],
    }, answer("ok"));
    const { alice } = given;
    const turn = await alice.send("go", { reasoning: true });
    assert.equal(turn.last.type, "error");
    assert.match(turn.last.error, /^The model "practice-1" did not stop: its answer was cut off/);
    assert.match(turn.last.error, said);
    const { messages } = await alice.json("GET", `/sessions/${turn.sessionId}/history?limit=1000`);
    const [, kept, ...results] = messages;
    assert.equal(kept.content, turn.text);
    assert.ok(kept.content.startsWith("Well: ") && kept.content.length <= ANSWER_LIMITS.text);
    assert.ok((kept.tool_calls ?? []).length <= ANSWER_LIMITS.calls);
    assert.equal(results.length, (kept.tool_calls ?? []).length, "every call has a result");
    const last = new Map(
      turn.of("tool_call").map(({ tool_call }) => [tool_call.id, tool_call.function.name]),
    );
    assert.deepEqual([...last.keys()], (kept.tool_calls ?? []).map(({ id }: { id: string }) => id));
    const next = await alice.send("and now?", { session_id: turn.sessionId });
    assert.equal(next.text, "ok");
  });
}

const ODD: [name: string, chunks: unknown[], text: string][] = [
  [
    "several choices",
    [
      {
        choices: [
          { index: 1, delta: { content: "second" } },
          { index: 0, delta: { content: "first" } },
          { index: 2, delta: { content: "third" }, finish_reason: "stop" },
        ],
      },
      { choices: [{ index: 1, delta: { content: " more" } }] },
      chunk({}, "stop"),
    ],
    "first",
  ],
  [
    "choices that are null",
    [{ choices: null }, chunk({ content: "ok" }), { choices: null, usage: null }],
    "ok",
  ],
  ["choices that are an object", [{ choices: { delta: { content: "ok" } } }], "ok"],
  ["a delta that is null, text, a list or missing", [
    { choices: [{ index: 0, delta: null }] },
    { choices: [{ index: 0, delta: "no" }] },
    { choices: [{ index: 0, delta: ["no"] }] },
    { choices: [{ index: 0 }] },
    chunk({ content: "ok" }),
  ], "ok"],
  ["content in parts, as a number and as what is no text", [
    chunk({ content: [{ type: "text", text: "a" }, "b", null, 7, { type: "image" }] }),
    chunk({ content: 42 }),
    chunk({ content: { type: "text", text: "c" } }),
    chunk({ content: true }),
  ], "ab42c"],
  ["calls that are none", [
    chunk({ content: "ok", tool_calls: [null, 1, "x", []] }),
    chunk({ tool_calls: {} }),
    chunk({ tool_calls: "no", function_call: null }),
    chunk({ role: "assistant" }),
  ], "ok"],
  ["chunks that are no objects", [1, "text", null, [], true, chunk({ content: "ok" })], "ok"],
  ["an empty error beside the answer", [
    { ...chunk({ content: "o" }), error: null },
    { ...chunk({ content: "k" }), error: {} },
    { ...chunk({}), error: "" },
    { ...chunk({}), error: false },
  ], "ok"],
];

for (const [name, chunks, text] of ODD) {
  Deno.test(`a stream with ${name} is an ordinary answer`, async () => {
    await using given = await serverWith({ body: sse(...chunks) });
    const turn = await given.alice.send("go");
    assert.equal(turn.last.finish_reason, "stop", JSON.stringify(turn.last));
    assert.equal(turn.text, text);
  });
}

const ERRORS: [name: string, error: unknown, said: RegExp][] = [
  ["an object", { error: { message: "model crashed", code: 500 } }, /It says: "model crashed"/],
  ["a text", { error: "model crashed" }, /It says: "model crashed"/],
  ["a list", { error: [{ message: "model crashed" }] }, /It says: "model crashed"/],
  ["an object error", { object: "error", message: "model crashed", code: 400 }, /It says: "model crashed"/],
  ["a detail", { detail: "model crashed" }, /It says: "model crashed"/],
  ["a code and a message", { code: "InternalError", message: "model crashed" }, /It says: "model crashed"/],
  ["a choice with an error", {
    choices: [{
      index: 0,
      delta: { content: "" },
      finish_reason: "error",
      error: { code: 502, message: "model crashed" },
    }],
  }, /It says: "model crashed"/],
  [
    "a choice that ended with an error",
    { choices: [{ index: 0, delta: {}, finish_reason: "error" }] },
    /refused the request/,
  ],
];

for (const [name, error, said] of ERRORS) {
  Deno.test(`an error inside the stream as ${name} ends the turn with a sentence, and keeps what was said`, async () => {
    await using given = await serverWith({ body: sse(chunk({ content: "So far " }), error) });
    const turn = await given.alice.send("go");
    assert.equal(turn.last.type, "error");
    assert.match(turn.last.error, said);
    assert.equal(turn.text, "So far ");
    assert.equal((await given.alice.messages(turn.sessionId))[1].content, "So far ");
  });
}

const deep = (open: string, close: string, levels = 50_000) =>
  open.repeat(levels) + "1" + close.repeat(levels);
const EXTREME: [name: string, data: string][] = [
  ["content nested without measure", `{"choices":[{"delta":{"content":${deep('{"thinking":', "}")}}}]}`],
  ["an error nested without measure", `{"error":${deep('{"error":', "}")}}`],
  ["an error whose message is nested without measure", `{"error":{"message":${deep("[", "]")}}}`],
  ["an error with an endless message", `{"error":{"message":"${"model ".repeat(500_000)}"}}`],
  ["usage nested without measure", `{"usage":${deep('{"prompt_tokens":', "}")}}`],
  [
    "very many fragments at once",
    JSON.stringify(chunk({ tool_calls: Array(300_000).fill({ index: 0, function: { arguments: "x" } }) })),
  ],
  [
    "very many parts at once",
    JSON.stringify(chunk({ content: Array(300_000).fill({ type: "text", text: "x" }) })),
  ],
  ["very many choices at once", `{"choices":[${Array(300_000).fill('{"index":7}').join(",")}]}`],
  [
    "very many calls as text",
    JSON.stringify(
      chunk({ content: `[${Array(2000).fill('{"name":"wait_seconds","arguments":{}}').join(",")}]` }),
    ),
  ],
];

for (const [name, data] of EXTREME) {
  Deno.test(`a stream with ${name} ends the turn in good order`, async () => {
    await using given = await serverWith({ body: `data: ${data}\n\ndata: [DONE]\n\n` }, answer("ok"));
    const turn = await given.alice.send("go", { reasoning: true });
    assert.ok(
      turn.last.type === "done" || turn.last.code === "model_error",
      JSON.stringify(turn.last).slice(0, 500),
    );
    assert.ok(JSON.stringify(turn.last).length < 2000);
    assert.ok(turn.of("tool_start").length <= ANSWER_LIMITS.calls);
    assert.deepEqual(given.server.lines.filter(({ level }) => level === "error"), []);
    const next = await given.alice.send("and now?", { session_id: turn.sessionId });
    assert.equal(next.text, "ok");
  });
}

const USAGE: [name: string, usage: unknown][] = [
  ["negative", { prompt_tokens: -5, completion_tokens: 3 }],
  ["negative in one field", { prompt_tokens: 5, completion_tokens: -3 }],
  ["text", { prompt_tokens: "900", completion_tokens: "12" }],
  ["a text itself", "lots"],
  ["huge", { prompt_tokens: 1e300, completion_tokens: 1e300 }],
  ["beyond whole numbers", { prompt_tokens: 2 ** 60, completion_tokens: 1 }],
  ["a list", [900, 12]],
  ["lists", { prompt_tokens: [900], completion_tokens: [12] }],
  ["null", { prompt_tokens: null, completion_tokens: null }],
  ["not there", undefined],
  ["zero", { prompt_tokens: 0, completion_tokens: 0 }],
  ["objects where details are", {
    prompt_tokens: { a: 1 },
    prompt_tokens_details: 7,
    completion_tokens_details: "x",
  }],
];

for (const [name, usage] of USAGE) {
  Deno.test(`usage that is ${name} is ignored, and the tokens are counted here`, async () => {
    await using given = await serverWith({
      body: sse(chunk({ content: "One two three." }), { choices: [], usage }),
    });
    const turn = await given.alice.send("go");
    assert.equal(turn.last.type, "done", JSON.stringify(turn.last));
    const session = await given.alice.json("GET", `/sessions/${turn.sessionId}`);
    assert.equal(session.stats.estimated, true);
    assert.ok(session.input_tokens > 100 && session.input_tokens < 100_000, `${session.input_tokens}`);
    assert.ok(session.output_tokens > 0 && session.output_tokens < 100, `${session.output_tokens}`);
    assert.deepEqual(turn.last.usage.input_tokens, session.input_tokens);
  });
}

Deno.test("of a usage that is true, details that cannot be true are left out", async () => {
  const usage = {
    prompt_tokens: 900,
    completion_tokens: 12,
    prompt_tokens_details: { cached_tokens: 9000 },
    completion_tokens_details: { reasoning_tokens: "7" },
  };
  await using given = await serverWith({ body: sse(chunk({ content: "ok" }), { choices: [], usage }) });
  const turn = await given.alice.send("go", { max_tokens: 50 });
  const { stats, input_tokens } = await given.alice.json("GET", `/sessions/${turn.sessionId}`);
  assert.equal(input_tokens, 900);
  assert.ok(!stats.cached_input_tokens && !stats.reasoning_tokens, JSON.stringify(stats));
});
