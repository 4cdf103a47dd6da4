// A request that is refused before its turn starts leaves no session behind.
import assert from "node:assert/strict";
import { type Chat, startChatServer } from "../fakes/chat.ts";

const MODEL = { name: "m", provider: "openai", model: "x", context_limit: 128 };

/** Sends a message and expects a refusal; the user has as many sessions afterwards as before. */
async function refused(
  alice: Chat,
  body: Record<string, unknown>,
  status: number,
  said: RegExp,
): Promise<void> {
  const before = await alice.json("GET", "/sessions");
  for (const path of ["/stream", "/inject"]) {
    const answer = await alice.call("POST", path, { session_id: "new-one", ...body });
    const { message, code } = await answer.json();
    assert.equal(answer.status, status, `${path}: ${message}`);
    assert.match(message, said);
    assert.ok(code);
  }
  assert.deepEqual(await alice.json("GET", "/sessions"), before);
  assert.equal((await alice.call("GET", "/sessions/new-one")).status, 404);
}

Deno.test("a refused request leaves no session: no model, an unusable one, a wrong body, too many turns, draining", async () => {
  await using server = await startChatServer({ model: null, config: { turnsPerMinute: 2 } });
  const alice = server.chat("alice");
  const configs = `/v3/access/users/${server.gns3.userIds.alice}/llm-model-configs`;
  const hello = { message: "hello" };

  await refused(alice, hello, 400, /configuration not found/);
  const { config_id } = await alice.json("POST", configs, {
    ...MODEL,
    base_url: `${server.model.url}`,
    model_type: "embedding",
    is_default: true,
  }, 201);
  await refused(alice, hello, 400, /cannot chat/);
  await alice.json("PUT", `${configs}/${config_id}`, { model_type: "text", api_key: "sk-test-1f6c2e9b7d30" });
  for (const message of [7, "", "\u200b", "x".repeat(100_001)]) {
    await refused(alice, { message }, 422, /^message: /);
  }
  await refused(alice, { ...hello, session_id: "a b" }, 422, /^session_id: /);
  await alice.send("one");
  await alice.send("two");
  await refused(alice, hello, 429, /2 messages a minute/);
  await server.drain();
  const answer = await alice.call("POST", "/stream", { ...hello, session_id: "new-one" });
  assert.equal(answer.status, 503, await answer.text());
});

Deno.test("a configuration whose provider is not known is refused when it is stored, or made so, unless it has an address", async () => {
  await using server = await startChatServer({ model: null });
  const alice = server.chat("alice");
  const configs = `/v3/access/users/${server.gns3.userIds.alice}/llm-model-configs`;
  const unknown = { ...MODEL, provider: "nobody" };
  const said =
    'base_url: The model configuration needs a base_url: the address of provider "nobody" is not known.';
  assert.equal((await alice.json("POST", configs, unknown, 422)).message, said);
  assert.equal((await alice.json("POST", configs, { ...unknown, base_url: "" }, 422)).message, said);
  for (const provider of ["constructor", "__proto__", "toString"]) {
    const { message } = await alice.json("POST", configs, { ...MODEL, provider }, 422);
    assert.match(message, /^base_url: The model configuration needs a base_url/);
  }
  const stored = await alice.json("POST", configs, { ...unknown, base_url: "http://127.0.0.1:9/v1" }, 201);
  assert.equal(
    (await alice.json("PUT", `${configs}/${stored.config_id}`, { base_url: null }, 422)).message,
    said,
  );
  await alice.json("PUT", `${configs}/${stored.config_id}`, { provider: "openai", base_url: null });
  assert.equal(
    (await alice.json("PUT", `${configs}/${stored.config_id}`, { provider: "nobody" }, 422)).message,
    said,
  );
});

Deno.test("a message or a title of which nothing can be seen is blank", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  for (const message of ["\u200b\u200d", "\ufeff", "\0", "\u0007\n", "\u2060 \u00ad", "\u202e\u2800"]) {
    const wrong = await alice.json("POST", "/stream", { message }, 422);
    assert.equal(wrong.message, "message: must not be blank");
    assert.deepEqual(wrong.details.errors[0].loc, ["body", "message"]);
    assert.equal(
      (await alice.json("POST", "/inject", { message }, 422)).message,
      "message: must not be blank",
    );
    assert.match((await alice.json("POST", "/sessions", { title: message }, 422)).message, /^title: /);
  }
  assert.deepEqual(await alice.json("GET", "/sessions"), []);
});
