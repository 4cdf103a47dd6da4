import assert from "node:assert/strict";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAICompletions } from "@langchain/openai";
import { askModel } from "../../src/models/ask_model.ts";
import { createChatModel } from "../../src/models/chat_model.ts";
import { answer, fakeEndpoint } from "./fake_endpoint.ts";
import { config, deltas, KEY, options } from "./fixtures.ts";

Deno.test("createChatModel sends temperature as a number, 0 too, and 0.7 when there is none", async () => {
  // D8
  await using endpoint = fakeEndpoint([answer("ok")]);
  await deltas(config(endpoint.url, { temperature: 0 }));
  await deltas(config(endpoint.url, { temperature: 1.3 }));
  await deltas(config(endpoint.url));
  assert.deepEqual(endpoint.requests.map((request) => request.body.temperature), [0, 1.3, 0.7]);
});

Deno.test("createChatModel lets a request override temperature and max_tokens", async () => {
  await using endpoint = fakeEndpoint([answer("ok")]);
  const model = createChatModel(config(endpoint.url, { temperature: 1, max_tokens: 50 }), {
    temperature: 0,
    maxTokens: 7,
  });
  await askModel(model, [new HumanMessage("x")], options());
  assert.equal(endpoint.requests[0]!.body.temperature, 0);
  assert.equal(endpoint.requests[0]!.body.max_tokens, 7);
});

Deno.test("createChatModel sends max_tokens only when it is configured, and asks for usage in the stream", async () => {
  await using endpoint = fakeEndpoint([answer("ok")]);
  await deltas(config(endpoint.url, { max_tokens: 50 }));
  await deltas(config(endpoint.url));
  const [first, second] = endpoint.requests.map((request) => request.body);
  assert.equal(first.max_tokens, 50);
  assert.equal("max_tokens" in second, false);
  assert.equal("max_completion_tokens" in second, false);
  assert.deepEqual(first.stream_options, { include_usage: true });
  assert.equal(first.stream, true);
  assert.deepEqual(first.messages, [{ role: "user", content: "hi" }]);
});

for (const model of ["gpt-5-mini", "o3", "o4-mini", "openai/gpt-5", "openai/o1"]) {
  Deno.test(`createChatModel sends ${model} no temperature and limits it with max_completion_tokens`, async () => {
    // D8
    await using endpoint = fakeEndpoint([answer("ok")]);
    await deltas(config(endpoint.url, { model, temperature: 0.2, max_tokens: 50 }));
    const { body } = endpoint.requests[0]!;
    assert.equal("temperature" in body, false);
    assert.equal("max_tokens" in body, false);
    assert.equal(body.max_completion_tokens, 50);
    assert.equal(body.model, model);
  });
}

for (const model of ["gpt-5-chat-latest", "gpt-4o", "olmo-7b", "o200k-fine", "openai/gpt-4o-mini"]) {
  Deno.test(`createChatModel treats ${model} as an ordinary model and sends its name unchanged`, async () => {
    // D2
    await using endpoint = fakeEndpoint([answer("ok")]);
    await deltas(config(endpoint.url, { model, temperature: 0.2, max_tokens: 50 }));
    const { body } = endpoint.requests[0]!;
    assert.equal(body.temperature, 0.2);
    assert.equal(body.max_tokens, 50);
    assert.equal(body.model, model);
  });
}

Deno.test("createChatModel speaks Chat Completions for every model name", async () => {
  // LangChain's ChatOpenAI would send these to the Responses API.
  await using endpoint = fakeEndpoint([answer("ok")]);
  for (const model of ["gpt-5.2-pro", "gpt-5-codex", "codex-mini"]) {
    await deltas(config(endpoint.url, { model }));
  }
  assert.deepEqual(endpoint.requests.map((request) => request.path), Array(3).fill("/v1/chat/completions"));
  assert.ok(createChatModel(config(endpoint.url)) instanceof ChatOpenAICompletions);
});

Deno.test("createChatModel calls the same path for every way of writing the base URL", async () => {
  // D3
  await using endpoint = fakeEndpoint([answer("ok")]);
  const spellings = ["", "/", "//", "/chat/completions", "/chat/completions/"];
  for (const end of spellings) await deltas(config(endpoint.url + end));
  await deltas(
    config(endpoint.url.replace("/v1", "/openai/deployments/d/chat/completions?api-version=2024-10-21")),
  );
  assert.deepEqual(endpoint.requests.map((request) => request.path), [
    ...spellings.map(() => "/v1/chat/completions"),
    "/openai/deployments/d/chat/completions?api-version=2024-10-21",
  ]);
});

Deno.test("createChatModel sends the key as Bearer, and without a key no Authorization at all", async () => {
  await using endpoint = fakeEndpoint([answer("ok")]);
  await deltas(config(endpoint.url));
  await deltas(config(endpoint.url, { api_key: undefined }));
  assert.equal(endpoint.requests[0]!.headers.get("authorization"), `Bearer ${KEY}`);
  assert.equal(endpoint.requests[1]!.headers.get("authorization"), null);
});

Deno.test("createChatModel reads nothing from the environment, and works where it may not", async () => {
  await using endpoint = fakeEndpoint([answer("from", " worker")]);
  const names = [
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_ORG_ID",
    "OPENAI_ORGANIZATION",
    "OPENAI_PROJECT_ID",
  ];
  const before = names.map((name) => Deno.env.get(name));
  for (const name of names) Deno.env.set(name, "from-the-environment");
  try {
    await deltas(config(endpoint.url, { api_key: undefined }));
  } finally {
    names.forEach((name, at) =>
      before[at] === undefined ? Deno.env.delete(name) : Deno.env.set(name, before[at]!)
    );
  }
  const { headers } = endpoint.requests[0]!;
  for (const name of ["authorization", "openai-organization", "openai-project"]) {
    assert.equal(headers.get(name), null);
  }

  const worker = new Worker(new URL("./no_env_worker.ts", import.meta.url), {
    type: "module",
    deno: {
      permissions: {
        env: false,
        net: true,
        read: false,
        write: false,
        run: false,
        ffi: false,
        import: false,
      },
    },
  } as WorkerOptions);
  const result = await new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      resolve(event.message);
    };
    worker.postMessage(config(endpoint.url));
  });
  worker.terminate();
  assert.equal(result, "from worker");
});
