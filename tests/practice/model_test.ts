// The practice model as an endpoint: scripts, strictness, refusals, the record of requests and what became of them.
import assert from "node:assert/strict";
import {
  type PracticeModel,
  type PracticeModelOptions,
  startPracticeModel,
} from "../../src/practice/model.ts";
import { type ChatBody, slow, status, text, toolCalls } from "../../src/practice/model_script.ts";

async function withModel(
  work: (model: PracticeModel) => Promise<void>,
  options?: PracticeModelOptions,
): Promise<void> {
  const model = await startPracticeModel(options);
  try {
    await work(model);
  } finally {
    await model.close();
  }
}

const TOOL = { type: "function", function: { name: "look", parameters: { type: "object" } } };

function post(
  model: PracticeModel,
  body: Record<string, unknown>,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${model.url}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "practice-1", tools: [TOOL], stream: true, ...body }),
    ...init,
  });
}

const user = (content: string) => [{ role: "user", content }];

interface Chunk {
  choices?: {
    delta: {
      content?: string;
      tool_calls?: { index?: number; id?: string; function: { name?: string; arguments: string } }[];
    };
    finish_reason: string | null;
  }[] | null;
  usage?: unknown;
}

/** The chunks of a stream and whether it ended with [DONE]. */
async function chunksOf(response: Response): Promise<{ chunks: Chunk[]; done: boolean }> {
  const lines = (await response.text()).split("\n\n").filter(Boolean);
  assert.ok(lines.every((line) => line.startsWith("data: ")));
  const done = lines.at(-1) === "data: [DONE]";
  return { chunks: lines.slice(0, done ? -1 : undefined).map((line) => JSON.parse(line.slice(6))), done };
}

const textOf = (chunks: Chunk[]) => chunks.map(({ choices }) => choices?.[0]?.delta.content ?? "").join("");

Deno.test("steps are played one a request, the last one again; a request without tools plays the title", async () => {
  await withModel(async (model) => {
    const tag = model.script("k1", [text(["one", " two"]), text("three")], { title: text("A title") });
    assert.equal(tag, "[[k1]]");
    const ask = async (tools: unknown[]) =>
      textOf((await chunksOf(await post(model, { messages: user(`go ${tag}`), tools }))).chunks);
    assert.deepEqual([await ask([TOOL]), await ask([]), await ask([TOOL]), await ask([TOOL])], [
      "one two",
      "A title",
      "three",
      "three",
    ]);
    assert.deepEqual(model.requests("k1").map(({ title, fate, n }) => [title, fate, n]), [
      [false, "done", 0],
      [true, "done", 1],
      [false, "done", 2],
      [false, "done", 3],
    ]);
    assert.equal(model.requests("other").length, 0);
  });
});

Deno.test("a step may be made from the request, and the newest key in the user's messages counts", async () => {
  await withModel(async (model) => {
    model.script("a", [text("from a")]);
    model.script("b", [(body: ChatBody) => text(`saw ${body.messages.length} messages`)]);
    const messages = [...user("[[a]]"), { role: "assistant", content: "from a" }, ...user("now [[b]]")];
    assert.equal(textOf((await chunksOf(await post(model, { messages }))).chunks), "saw 3 messages");
  });
});

Deno.test("usage comes only when it is asked for, unless it is forced", async () => {
  await withModel(async (model) => {
    const tag = model.script("u", [text("x", { use: [7, 3] }), [{
      usage: { total_tokens: 1 },
      force: true,
    }]]);
    const asked = await chunksOf(
      await post(model, { messages: user(tag), stream_options: { include_usage: true } }),
    );
    assert.deepEqual([asked.chunks.at(-1)!.choices, asked.chunks.at(-1)!.usage], [
      [],
      { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    ]);
    const forced = await chunksOf(await post(model, { messages: user(tag) }));
    assert.deepEqual(forced.chunks.map(({ usage }) => usage), [{ total_tokens: 1 }]);
  });
});

Deno.test("parallel tool calls come one after the other or interleaved, with or without ids and indexes", async () => {
  await withModel(async (model) => {
    const calls = [{ name: "look", args: { at: "first device" } }, {
      name: "look",
      args: { at: "second device" },
    }];
    const tag = model.script("t", [
      toolCalls(calls, { fragment: 4 }),
      toolCalls(calls, { fragment: 4, order: "interleaved" }),
      toolCalls(calls, { omitIds: true, omitIndex: true, before: "Let me look." }),
    ]);
    const deltas = async () => {
      const { chunks } = await chunksOf(await post(model, { messages: user(tag) }));
      assert.equal(chunks.at(-1)!.choices?.[0]?.finish_reason, "tool_calls");
      return chunks.flatMap(({ choices }) => choices?.[0]?.delta.tool_calls ?? []);
    };
    const joined = (list: Awaited<ReturnType<typeof deltas>>, index: number) =>
      list.filter((d) => d.index === index).map((d) => d.function.arguments).join("");
    const sequential = await deltas();
    assert.deepEqual(JSON.parse(joined(sequential, 1)), { at: "second device" });
    assert.ok(sequential.findIndex((d) => d.index === 1) > sequential.findLastIndex((d) => d.index === 0));
    const mixed = await deltas();
    assert.deepEqual(
      [JSON.parse(joined(mixed, 0)), JSON.parse(joined(mixed, 1))],
      calls.map(({ args }) => args),
    );
    assert.deepEqual(mixed.slice(0, 4).map((d) => d.index), [0, 1, 0, 1]);
    const ids = [...sequential, ...mixed].flatMap((d) => d.id ?? []);
    assert.equal(new Set(ids).size, 4, "ids differ, also between requests");
    assert.ok((await deltas()).every((d) => d.id === undefined && d.index === undefined));
  });
});

Deno.test("anything can be sent: exact choices, bytes cut anywhere, an end without [DONE], [DONE] in the middle", async () => {
  await withModel(async (model) => {
    const tag = model.script("raw", [
      [{ choices: null }, { choices: [] }, { delta: { content: "a" } }, { noDone: true }],
      [{ bytes: 'data: {"choices":[{"delta":{"content":"sp' }, { sleep: 10 }, { bytes: 'lit"}}]}\n\n' }],
      [{ delta: { content: "x" } }, { done: true }, { bytes: "data: after\n\n" }],
    ]);
    const first = await chunksOf(await post(model, { messages: user(tag) }));
    assert.deepEqual([first.chunks.map(({ choices }) => choices).slice(0, 2), first.done], [
      [null, []],
      false,
    ]);
    const split = await post(model, { messages: user(tag) });
    const parts: string[] = [];
    for await (const part of split.body!.pipeThrough(new TextDecoderStream())) parts.push(part);
    assert.deepEqual(parts.slice(0, 2), ['data: {"choices":[{"delta":{"content":"sp', 'lit"}}]}\n\n']);
    assert.match(
      await (await post(model, { messages: user(tag) })).text(),
      /"x"[^]*data: \[DONE\]\n\ndata: after\n\n$/,
    );
  });
});

Deno.test("a status is answered with its headers and body", async () => {
  await withModel(async (model) => {
    const tag = model.script("s", [
      status(429, undefined, { "retry-after": "2" }),
      status(500, "<html>oops</html>"),
    ]);
    const limited = await post(model, { messages: user(tag) });
    assert.deepEqual([limited.status, limited.headers.get("retry-after")], [429, "2"]);
    assert.equal((await limited.json()).error.message, "scripted error 429");
    const broken = await post(model, { messages: user(tag) });
    assert.deepEqual([broken.status, await broken.text()], [500, "<html>oops</html>"]);
  });
});

Deno.test("a cut ends the connection in the middle: what was sent arrives, then the stream fails", async () => {
  await withModel(async (model) => {
    const tag = model.script("c", [[{ delta: { content: "three" } }, { delta: { content: " words" } }, {
      cut: true,
    }]]);
    const response = await post(model, { messages: user(tag) });
    let got = "";
    await assert.rejects(async () => {
      for await (const part of response.body!.pipeThrough(new TextDecoderStream())) got += part;
    });
    assert.match(got, /three[^]* words/);
  });
});

// B2
Deno.test("a client that leaves is noticed at once, in a pause, in silence and between words", async () => {
  await withModel(async (model) => {
    const tag = model.script("h", [
      [{ delta: { content: "x" } }, { hang: true }],
      [{ sleep: 60_000 }],
      slow(1000, 5),
    ]);
    for (let i = 0; i < 3; i++) {
      const abort = new AbortController();
      const answer = post(model, { messages: user(tag) }, { signal: abort.signal });
      answer.catch(() => {});
      await model.waitFor(() => model.requests("h").length === i + 1);
      await new Promise((resolve) => setTimeout(resolve, 30));
      assert.equal(model.openRequests(), 1);
      const left = Date.now();
      abort.abort();
      await model.waitFor(() => model.openRequests() === 0, AbortSignal.timeout(2000));
      const { fate, endedAt } = model.requests("h")[i]!;
      assert.equal(fate, "cut");
      assert.ok(endedAt! >= left);
    }
  });
});

Deno.test("words come at a pace by the clock", async () => {
  await withModel(async (model) => {
    const tag = model.script("w", [slow(20, 10)]);
    const began = performance.now();
    const { chunks } = await chunksOf(await post(model, { messages: user(tag) }));
    assert.ok(performance.now() - began >= 199);
    assert.equal(
      textOf(chunks),
      "alpha beta gamma delta node link port vlan ospf bgp alpha beta gamma delta node link port vlan ospf bgp",
    );
  });
});

Deno.test("a request without stream gets one body, tool calls put together", async () => {
  await withModel(async (model) => {
    const tag = model.script("n", [
      toolCalls([{ name: "look", args: { a: 1 }, id: "c1" }], { before: "So:", fragment: 2 }),
      slow(3, 1),
    ]);
    const whole = async () =>
      (await (await post(model, { messages: user(tag), stream: false })).json()).choices[0];
    assert.deepEqual(await whole(), {
      index: 0,
      message: {
        role: "assistant",
        content: "So:",
        tool_calls: [{ type: "function", function: { name: "look", arguments: '{"a":1}' }, id: "c1" }],
      },
      finish_reason: "tool_calls",
    });
    assert.equal((await whole()).message.content, "alpha beta gamma");
  });
});

// C1
Deno.test("messages whose tool calls and answers do not match are refused, unless that is switched off", async () => {
  await withModel(async (model) => {
    const tag = model.script("strict", [text("fine")]);
    const call = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "{}" } });
    const asks = (...ids: string[]) => ({ role: "assistant", content: null, tool_calls: ids.map(call) });
    const answers = (id: string) => ({ role: "tool", tool_call_id: id, content: "seen" });
    const first = user(tag);
    const cases: [unknown[], number][] = [
      [[...first, asks("a", "b"), answers("b"), answers("a")], 200],
      [[...first, asks("a", "b"), answers("a")], 400],
      [[...first, asks("a"), ...user("again")], 400],
      [[...first, asks("a"), answers("a"), answers("a")], 400],
      [[...first, answers("z")], 400],
      [[...first, asks("a", "a"), answers("a")], 400],
      [[answers("a"), ...first], 400],
    ];
    for (const [messages, expected] of cases) {
      const response = await post(model, { messages });
      assert.equal(response.status, expected, await response.text());
    }
    assert.deepEqual(model.requests("strict").map(({ fate }) => fate), ["done", ...Array(6).fill("refused")]);
    const title = await post(model, { messages: cases[1]![0], tools: [] });
    assert.equal(title.status, 400, "title requests too");
    await title.body?.cancel();
    const lax = model.script("lax", [text("fine")], { strict: false });
    const taken = await post(model, { messages: [...user(lax), answers("z")] });
    assert.equal(taken.status, 200, await taken.text());
  });
});

Deno.test("a key, a model and a body that are not right are refused as OpenAI refuses them; every request is kept", async () => {
  await withModel(async (model) => {
    const key = { headers: { authorization: "Bearer sk-right" } };
    const wrong = await post(model, { messages: user("hi") }, {
      headers: { authorization: "Bearer sk-wrong" },
    });
    assert.deepEqual([wrong.status, (await wrong.json()).error.code], [401, "invalid_api_key"]);
    const unknown = await post(model, { model: "other", messages: user("hi") }, key);
    assert.deepEqual([unknown.status, (await unknown.json()).error.code], [404, "model_not_found"]);
    const list = await (await fetch(`${model.url}/models`, key)).json();
    assert.deepEqual(list.data.map((m: { id: string }) => m.id), ["tiny"]);
    const odd = await fetch(`${model.url}/chat/completions`, { method: "POST", body: "{", ...key });
    assert.equal(odd.status, 400);
    await odd.body?.cancel();
    const nowhere = await fetch(`${model.url}/nothing`, key);
    assert.equal(nowhere.status, 404);
    await nowhere.body?.cancel();
    const fine = await post(model, { model: "tiny", messages: user("hi"), temperature: 0 }, key);
    await fine.text();
    const { body, headers, at, endedAt } = model.requests().at(-1)!;
    assert.equal(body.temperature, 0);
    assert.equal(headers.authorization, "Bearer sk-right");
    assert.ok(at <= endedAt!);
  }, { apiKey: "sk-right", models: ["tiny"] });
});
