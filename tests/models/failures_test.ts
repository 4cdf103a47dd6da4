import assert from "node:assert/strict";
import { AppError } from "../../src/domain/error.ts";
import type { ModelConfig } from "../../src/domain/model_config.ts";
import { CompletionsModel } from "../../src/models/completions_model.ts";
import { maskKeys, modelFailure } from "../../src/models/failures.ts";
import { ModelError } from "../../src/models/model_error.ts";
import { type Answer, fakeEndpoint, sse } from "./fake_endpoint.ts";
import { config, deltas, KEY } from "./fixtures.ts";

/** The failure that an endpoint with this answer leads to. */
async function failureOf(reply: Answer, more: Partial<ModelConfig> = {}) {
  await using endpoint = fakeEndpoint([reply]);
  const setup = config(endpoint.url, more);
  const error = await deltas(setup).then(() => assert.fail("the call should fail"), (error) => error);
  const { host } = new URL(endpoint.url);
  const { code, message } = modelFailure(error, setup);
  return { code, message: message.replaceAll(host, "HOST") };
}

const json = (status: number, body: unknown, headers = {}): Answer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
const openai = (status: number, message: string, code: string | null = null) =>
  json(status, { error: { message, code } });

const CASES: [name: string, reply: Answer, message: string, code?: string][] = [
  // D2
  [
    "a refused key, which it does not show",
    openai(401, `Incorrect API key provided: ${KEY}. You can find it at https://platform.example.`),
    "Authentication failed for HOST: it refused the API key. Check the key in the model configuration. " +
    'It says: "Incorrect API key provided: ***. You can find it at https://platform.example."',
  ],
  [
    "a key that may not use the model",
    openai(403, "Project does not have access to model"),
    'HOST does not allow this request: the API key may have no right to use the model "m-1". It says: "Project does not have access to model"',
  ],
  [
    "a used up quota",
    openai(429, "You exceeded your current quota", "insufficient_quota"),
    'The account at HOST has no quota or credit left. Top it up there, or choose another model configuration. It says: "You exceeded your current quota"',
  ],
  [
    "missing credit",
    openai(402, "Insufficient Balance"),
    'The account at HOST has no quota or credit left. Top it up there, or choose another model configuration. It says: "Insufficient Balance"',
  ],
  [
    "a rate limit with the time to wait",
    json(429, { error: { message: "Too fast" } }, { "retry-after": "42" }),
    'HOST limits how often it may be asked. Try again in 42 seconds. It says: "Too fast"',
    "rate_limited",
  ],
  [
    "a rate limit without a time",
    openai(429, "Too fast"),
    'HOST limits how often it may be asked. Wait a moment and try again. It says: "Too fast"',
    "rate_limited",
  ],
  [
    "a conversation that is too long",
    openai(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
    'The conversation is longer than the model "m-1" accepts. Set context_limit (now 128K) to the model\'s real context window, or start a new session. ' +
    'It says: "This model\'s maximum context length is 8192 tokens."',
  ],
  [
    "a model that Ollama does not have",
    json(404, { error: { message: 'model "m-1" not found, try pulling it first' } }),
    `HOST has no model "m-1". Check the model's name in the model configuration. It says: "model "m-1" not found, try pulling it first"`,
  ],
  [
    "a model that another server does not have, in its own words",
    json(404, { object: "error", message: "The model `m-1` does not exist.", code: 404 }),
    `HOST has no model "m-1". Check the model's name in the model configuration. It says: "The model \`m-1\` does not exist."`,
  ],
  // D10
  [
    "a model without tool support",
    openai(400, "registry.ollama.ai/library/m-1 does not support tools"),
    'The model "m-1" cannot call tools, and this assistant needs them. Choose a model that supports tools. ' +
    'It says: "registry.ollama.ai/library/m-1 does not support tools"',
  ],
  [
    "a server without tool support",
    openai(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    'The model "m-1" cannot call tools, and this assistant needs them. Choose a model that supports tools. ' +
    'It says: ""auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"',
  ],
  // D3
  [
    "a 404 with a web page, which it does not dump",
    {
      status: 404,
      headers: { "content-type": "text/html" },
      body: "<html><body>model not found</body></html>",
    },
    "http://HOST/v1/chat/completions did not answer like a model endpoint (404). Check the base_url of the model configuration: does it need /v1?",
  ],
  [
    "a 404 without a body",
    { status: 404, body: "" },
    "http://HOST/v1/chat/completions did not answer like a model endpoint (404). Check the base_url of the model configuration: does it need /v1?",
  ],
  [
    "a web page in place of an answer",
    { headers: { "content-type": "text/html" }, body: "<!doctype html><html></html>" },
    "http://HOST/v1/chat/completions did not answer like a model endpoint (200). Check the base_url of the model configuration: does it need /v1?",
  ],
  [
    "an answer of nothing",
    { body: "" },
    "http://HOST/v1/chat/completions answered with nothing. Check the base_url of the model configuration: does it need /v1?",
  ],
  [
    "an empty answer",
    { body: sse({ choices: [{ delta: { content: " " } }] }) },
    'The model "m-1" gave an empty answer, twice. Try again, or choose another model.',
  ],
  [
    "an overloaded server",
    { status: 503, headers: { "content-type": "text/html" }, body: "<html>Bad</html>" },
    "HOST has a fault or is overloaded (503). Try again later.",
  ],
  [
    "any other refusal, with the validation error of the server",
    json(422, { detail: [{ loc: ["body", "seed"], msg: "field required" }] }),
    'HOST refused the request (422). It says: "[{"loc":["body","seed"],"msg":"field required"}]"',
  ],
  [
    "a broken stream",
    { body: ['data: {"choices":[{"delta":{"content":"a"}}]}\n\n', 20, { break: true }] },
    "The connection to HOST broke before the answer was complete. Try again.",
  ],
  [
    "a stream that is not JSON",
    { body: "data: {oops\n\n" },
    "HOST sent an answer that is not valid JSON. Try again, or choose another model.",
  ],
  [
    "an error inside the stream",
    {
      body: sse({ choices: [{ delta: { content: "a" } }] }, {
        error: { message: "Upstream gone", code: 502 },
      }),
    },
    'HOST has a fault or is overloaded (502). Try again later. It says: "Upstream gone"',
  ],
];

for (const [name, reply, message, code = "model_error"] of CASES) {
  Deno.test(`modelFailure explains ${name}`, async () => {
    assert.deepEqual(await failureOf(reply), { code, message });
  });
}

Deno.test("modelFailure explains the array that Gemini's endpoint sends", async () => {
  const reply = json(400, [{
    error: {
      code: 400,
      message: "API key not valid. Please pass a valid API key.",
      status: "INVALID_ARGUMENT",
    },
  }]);
  const { message } = await failureOf(reply);
  assert.match(message, /^Authentication failed for HOST/);
});

Deno.test("modelFailure names the URL when nothing listens there or its name is unknown", async () => {
  const gone = fakeEndpoint([]);
  await gone[Symbol.asyncDispose]();
  const refused = config(gone.url);
  const error = await deltas(refused).catch((error) => error);
  assert.equal(
    modelFailure(error, refused).message,
    `Could not connect to ${gone.url}/chat/completions: the connection was refused. ` +
      "Check the base_url of the model configuration and that the server there is running.",
  );
  const unknown = config("http://no-such-host.invalid/v1");
  const other = await deltas(unknown).catch((error) => error);
  assert.match(
    modelFailure(other, unknown).message,
    /no-such-host\.invalid\/v1\/chat\/completions: the host name is unknown\./,
  );
});

Deno.test("modelFailure names how long nothing came, and the limit that was used up", () => {
  const setup = config("http://models.example/v1", { max_tokens: 100 });
  assert.equal(
    modelFailure(new ModelError("timeout", "600"), setup).message,
    "models.example sent nothing for 600 seconds. Check that the model is running, and try again.",
  );
  assert.equal(
    modelFailure(new ModelError("no_room"), setup).message,
    'The model "m-1" used up its output limit before it answered. Raise max_tokens (now 100) in the model configuration.',
  );
});

Deno.test("modelFailure shows neither the query nor the credentials of a base URL", () => {
  const setup = config("https://user:hunter22@models.example/v1?api-key=abc123");
  const { message } = modelFailure(new ModelError("not_an_api", "", { status: 404 }), setup);
  assert.match(message, /^https:\/\/models\.example\/v1\/chat\/completions did not answer/);
  assert.doesNotMatch(message, /hunter22|abc123/);
});

Deno.test("modelFailure quotes at most 300 characters, in one line", async () => {
  const { message } = await failureOf(openai(400, "x\n".repeat(1000)));
  assert.equal(message, `HOST refused the request (400). It says: "${"x ".repeat(150)}…"`);
});

Deno.test("modelFailure keeps an AppError and calls anything unknown a fault of this server", () => {
  const setup = config("http://models.example/v1");
  assert.deepEqual(modelFailure(new AppError("bad_request", "No base_url."), setup), {
    code: "bad_request",
    message: "No base_url.",
  });
  assert.deepEqual(modelFailure(new TypeError("x is undefined"), setup), {
    code: "internal",
    message: "The model call failed because of a fault in this server.",
  });
});

Deno.test("modelFailure finds the reason under LangChain's own errors", async () => {
  await using endpoint = fakeEndpoint([openai(401, "no")]);
  const setup = config(endpoint.url);
  const wrapped = await new CompletionsModel(setup).invoke("hi").catch((error) => error);
  assert.match(modelFailure(wrapped, setup).message, /^Authentication failed for 127\.0\.0\.1:\d+: /);
});

Deno.test("maskKeys replaces the configured key, known prefixes, bearer tokens, JWTs and long random words", () => {
  assert.equal(maskKeys("key hunter2 refused", "hunter2"), "key *** refused");
  assert.equal(maskKeys("got sk-ab****wxyz1234"), "got ***");
  assert.equal(maskKeys("Authorization: Bearer abc.def-123"), "Authorization: Bearer ***");
  assert.equal(maskKeys("gsk_0123456789abcdef and AIzaSyA0123456789abcdef"), "*** and ***");
  assert.equal(maskKeys("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln is bad"), "*** is bad");
  assert.equal(maskKeys("token 0123456789abcdef0123456789abcdef"), "token ***");
  assert.equal(
    maskKeys("The model gpt-4o-mini-2024-07-18 is fine."),
    "The model gpt-4o-mini-2024-07-18 is fine.",
  );
});
