// Model configurations through the routes, as GNS3's Web UI and scripts use them, on the whole server.
import assert from "node:assert/strict";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { API_KEY, type Chat, type ChatServer, startChatServer } from "../fakes/chat.ts";
import { holds } from "../storage/state.ts";

const UNKNOWN = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

/** One user and the routes of their own configurations, or of a group's. */
class Models {
  readonly path: string;

  constructor(
    readonly server: ChatServer,
    readonly as: string,
    owner: { user?: string; group?: string } = {},
  ) {
    this.path = owner.group
      ? `/v3/access/groups/${owner.group}/llm-model-configs`
      : `/v3/access/users/${server.gns3.userIds[owner.user ?? as]}/llm-model-configs`;
  }

  get chat(): Chat {
    return this.server.chat(this.as);
  }

  // deno-lint-ignore no-explicit-any
  json(method: string, path = "", body?: unknown, status = 200): Promise<any> {
    return this.chat.json(method, this.path + path, body, status);
  }

  create(parts: Record<string, unknown> = {}, status = 201) {
    return this.json("POST", "", {
      name: "one",
      model_type: "text",
      provider: "openai",
      base_url: this.server.model.url,
      model: "practice-1",
      context_limit: 128,
      api_key: API_KEY,
      ...parts,
    }, status);
  }
}

/** A new group with these members. */
async function group(server: ChatServer, name: string, ...members: string[]): Promise<string> {
  const admin = server.chat("admin");
  const call = (method: string, path: string, body?: unknown) =>
    fetch(server.gns3.url + path, {
      method,
      headers: { authorization: `Bearer ${admin.token}` },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  const { user_group_id } = await (await call("POST", "/v3/access/groups", { name })).json();
  for (const member of members) {
    await (await call("PUT", memberPath(server, user_group_id, member))).body?.cancel();
  }
  return user_group_id;
}

const memberPath = (server: ChatServer, groupId: string, member: string) =>
  `/v3/access/groups/${groupId}/members/${server.gns3.userIds[member]}`;

async function leave(server: ChatServer, groupId: string, member: string) {
  await fetch(server.gns3.url + memberPath(server, groupId, member), {
    method: "DELETE",
    headers: { authorization: `Bearer ${server.gns3.tokens.admin}` },
  });
}

Deno.test("what GNS3's Web UI does in a profile: create, list, change, set and unset the default, delete", async () => { // I1, I5, A15
  await using server = await startChatServer({ model: null });
  const alice = new Models(server, "alice");
  assert.deepEqual(await alice.json("GET"), { configs: [], default_config: null, total: 0 });
  await alice.json("GET", "/default", undefined, 404);
  const refused = await alice.chat.json("POST", "/stream", { message: "hello" }, 400);
  assert.equal(refused.code, "bad_request");
  assert.match(refused.message, /^LLM configuration not found\. Please configure your LLM settings first/);
  assert.deepEqual(await alice.chat.json("GET", "/sessions"), [], "nothing was started");

  // As the dialogue sends it, a custom field included.
  const made = await alice.create({
    temperature: 0.3,
    context_strategy: "balanced",
    copilot_mode: "teaching_assistant",
    is_default: false,
    max_tokens: "2000",
    top_p: "0.9",
  });
  assert.deepEqual([made.config.max_tokens, made.config.top_p, made.is_default], [2000, "0.9", false]);
  const list = await alice.json("GET");
  assert.deepEqual(list, {
    configs: [{ ...made, source: "user", group_name: null }],
    default_config: { ...made, source: "user", group_name: null },
    total: 1,
  });
  assert.deepEqual(await alice.json("GET", "/own"), [made]);
  const one = `/${made.config_id}`;
  // The bar over the chat: another model, another mode.
  const chosen = await alice.json("PUT", `/default${one}`, {});
  assert.deepEqual([chosen.config_id, chosen.is_default, chosen.config.copilot_mode], [
    made.config_id,
    true,
    "teaching_assistant",
  ]);
  const switched = await alice.json("PUT", one, { copilot_mode: "lab_automation_assistant" });
  assert.equal(switched.config.copilot_mode, "lab_automation_assistant");
  const unset = await alice.json("PUT", one, { is_default: false });
  assert.deepEqual([unset.is_default, unset.version], [false, 3]);
  // A row that was edited: every field again, the key left out, an empty base_url where the provider is enough.
  const edited = await alice.json("PUT", one, {
    ...made.config,
    api_key: undefined,
    name: "two",
    is_default: true,
  });
  assert.deepEqual([edited.name, edited.is_default, edited.api_key_status], ["two", true, "stored"]);
  assert.equal((await alice.chat.send(server.model.script("t", [text("fine")]))).text, "fine");
  assert.equal(server.model.requests("t")[0]!.headers.authorization, `Bearer ${API_KEY}`);
  assert.equal((await alice.chat.call("DELETE", alice.path + one)).status, 204);
  await alice.json("GET", one, undefined, 404);
  assert.deepEqual(await alice.json("GET", "/own"), []);
});

Deno.test("an unknown default, and another owner's, change nothing; a stale version is 409", async () => { // I6
  await using server = await startChatServer({ model: null });
  const alice = new Models(server, "alice");
  const first = await alice.create({ is_default: true });
  const bobs = await new Models(server, "bob").create({ is_default: true });
  for (const id of [UNKNOWN, "no-uuid", bobs.config_id]) {
    await alice.json("PUT", `/default/${id}`, {}, 404);
    await alice.json("PUT", `/${id}`, { temperature: 1 }, 404);
    await alice.json("DELETE", `/${id}`, undefined, 404);
    await alice.json("POST", `/${id}/test`, undefined, 404);
  }
  assert.equal((await alice.json("GET")).default_config.config_id, first.config_id);
  const conflict = await alice.json(
    "PUT",
    `/${first.config_id}`,
    { temperature: 1, expected_version: 7 },
    409,
  );
  assert.deepEqual([conflict.code, conflict.details], ["conflict", { version: 1 }]);
  assert.deepEqual(await alice.json("GET", `/${first.config_id}`), {
    ...first,
    source: "user",
    group_name: null,
  });
});

Deno.test("what cannot be right is 422 that names the field, and echoes no key", async () => { // D2, E5
  await using server = await startChatServer({ model: null });
  const alice = new Models(server, "alice");
  const made = await alice.create();
  const bad: [string, unknown][] = [
    ["model", ""],
    ["context_limit", 0],
    ["context_limit", undefined],
    ["temperature", 3],
    ["max_tokens", "many"],
    ["copilot_mode", "root"],
    ["name", ""],
    ["base_url", "not an address"],
    ["base_url", "ftp://x/v1"],
    ["base_url", "http://169.254.169.254/v1"],
    ["base_url", "http://[::ffff:169.254.169.254]/v1"],
    ["base_url", server.gns3.url],
    ["base_url", server.gns3.url.replace("127.0.0.1", "localhost") + "/v3"],
    ["base_url", server.url],
    ["base_url", "https://user:secret@api.example/v1"],
    ["base_url", "https://api.example/v1?api_key=abc"],
  ];
  for (const [field, value] of bad) {
    const { code, message, details } = await alice.create({ [field]: value }, 422);
    assert.equal(code, "validation_error");
    assert.ok(message.startsWith(`${field}: `), message);
    assert.deepEqual(details.errors[0].loc, ["body", field]);
    assert.ok(!JSON.stringify(details).includes(API_KEY) && !message.includes(API_KEY));
    if (value !== undefined) await alice.json("PUT", `/${made.config_id}`, { [field]: value }, 422);
  }
  const unknownProvider = await alice.create({ provider: "mine", base_url: "" }, 422);
  assert.match(unknownProvider.message, /^base_url: .*provider "mine" is not known/);
  assert.equal(
    (await alice.create({ provider: "ollama", base_url: "", api_key: undefined })).api_key_status,
    "none",
  );
  assert.equal((await alice.json("GET")).total, 2);
});

Deno.test("--model-hosts narrows what may be stored and what may be called", async () => {
  await using server = await startChatServer({ model: null });
  const alice = new Models(server, "alice");
  await alice.create({ is_default: true });
  await server.restart({ modelHosts: ["api.openai.com"] });
  const refused = await alice.create({}, 422);
  assert.match(refused.message, /^base_url: .*the administrator allows only api\.openai\.com/);
  await alice.create({ base_url: "https://api.openai.com/v1", name: "allowed" });
  const turn = await alice.chat.json("POST", "/stream", { message: "hello" }, 403);
  assert.match(turn.message, /the administrator allows only/);
  const { ok, message } = await alice.json("POST", `/${(await alice.json("GET", "/own"))[0].config_id}/test`);
  assert.equal(ok, false);
  assert.match(message, /the administrator allows only/);
  assert.equal(server.model.requests().length, 0);
});

Deno.test("a name that leads to this server by now is not called: the turn ends with an error, the test says why", async () => {
  await using server = await startChatServer({ model: null });
  const alice = new Models(server, "alice");
  // A name of this machine that does not look like one.
  const name = Deno.hostname();
  const { port } = new URL(server.model.url);
  const made = await alice.create({ base_url: `http://${name}:${port}/v1`, is_default: true });
  const turn = await alice.chat.send(server.model.script("t", [text("fine")]));
  if (turn.last.type !== "done") return console.log(`${name} is no name of this machine: nothing to try`);
  server.pretendPort(Number(port));
  const refused = await alice.chat.send(server.model.script("u", [text("never")]));
  assert.deepEqual([refused.last.type, refused.last.code], ["error", "forbidden"]);
  assert.equal(refused.last.error, "base_url may not point at the GNS3 server or at this server.");
  const { ok, message } = await alice.json("POST", `/${made.config_id}/test`);
  assert.deepEqual([ok, message], [false, refused.last.error]);
  assert.equal(server.model.requests("u").length, 0);
  const again = await alice.create({ base_url: `http://${name}:${port}/v1` }, 422);
  assert.equal(again.message, "base_url: may not point at the GNS3 server or at this server.");
});

Deno.test("rights: own ones; others' for super administrators only; a group's as GNS3 lets people see and change it", async () => {
  await using server = await startChatServer({ model: null });
  const groupId = await group(server, "class-a", "alice");
  const mine = await new Models(server, "alice").create();
  const theirs = await new Models(server, "admin", { group: groupId }).create();
  server.gns3.grant("bob", `/access/groups/${groupId}`, "Group viewer");
  server.gns3.grant("carol", `/access/groups/${groupId}`, "Group manager");
  const status = async (
    as: string,
    owner: { user?: string; group?: string },
    method: string,
    path: string,
    body?: unknown,
  ) => {
    const models = new Models(server, as, owner);
    const answer = await models.chat.call(method, models.path + path, body);
    await answer.body?.cancel();
    return answer.status;
  };
  const table: [who: string, user: number, read: number, write: number][] = [
    ["alice", 200, 403, 403],
    ["bob", 403, 200, 403],
    ["carol", 403, 200, 200],
    ["admin", 200, 200, 200],
  ];
  for (const [who, user, read, write] of table) {
    for (const path of ["", "/own", `/${mine.config_id}`, "/default"]) {
      assert.equal(await status(who, { user: "alice" }, "GET", path), user, `${who} GET ${path}`);
    }
    assert.equal(await status(who, { user: "alice" }, "PUT", `/${mine.config_id}`, { temperature: 1 }), user);
    for (const path of ["", "/own", `/${theirs.config_id}`]) {
      assert.equal(await status(who, { group: groupId }, "GET", path), read, `${who} GET group ${path}`);
    }
    const g = { group: groupId };
    assert.equal(await status(who, g, "PUT", `/${theirs.config_id}`, { temperature: 1 }), write, who);
    assert.equal(await status(who, g, "PUT", `/default/${theirs.config_id}`), write, who);
    assert.equal(await status(who, g, "POST", `/${theirs.config_id}/test`), write, who);
  }
  for (const owner of [{ user: "alice" }, { group: groupId }]) {
    const models = new Models(server, "alice", owner);
    assert.equal((await fetch(server.url + models.path)).status, 401);
    assert.equal(
      (await fetch(server.url + models.path, { headers: { authorization: "Bearer rubbish" } })).status,
      401,
    );
  }
  const admin = server.chat("admin");
  await admin.json("GET", `/v3/access/users/${UNKNOWN}/llm-model-configs`, undefined, 404);
  await admin.json("GET", `/v3/access/groups/${UNKNOWN}/llm-model-configs`, undefined, 404);
  await admin.json("GET", "/v3/access/groups/x/llm-model-configs", undefined, 422);
  const { code } = await server.chat("bob").json(
    "GET",
    `/v3/access/users/${UNKNOWN}/llm-model-configs`,
    undefined,
    403,
  );
  assert.equal(code, "forbidden", "an unknown user looks like another one");
});

Deno.test("a group's configuration is inherited, its key unseen; the order is own default, group's default, first; leaving takes it away", async () => { // I5
  await using server = await startChatServer({ model: null });
  const groupId = await group(server, "class-a", "alice");
  const teacher = new Models(server, "admin", { group: groupId });
  const plain = await teacher.create({ name: "small" });
  const used = await teacher.create({
    name: "large",
    is_default: true,
    copilot_mode: "lab_automation_assistant",
  });
  assert.deepEqual(await teacher.json("GET"), { configs: [plain, used], default_config: used, total: 2 });
  assert.deepEqual(await teacher.json("GET", "/default"), used);

  const alice = new Models(server, "alice");
  const names = async () => {
    const seen = await alice.json("GET");
    assert.ok(!JSON.stringify(seen).includes(API_KEY));
    // deno-lint-ignore no-explicit-any
    return [seen.configs.map((c: any) => `${c.source} ${c.group_name} ${c.name}`), seen.default_config?.name];
  };
  assert.deepEqual(await names(), [["group class-a small", "group class-a large"], "large"]);
  assert.equal((await alice.chat.send(server.model.script("t", [text("fine")]))).text, "fine");
  const inherited = await alice.json("PUT", `/${used.config_id}`, { temperature: 1 }, 403);
  assert.match(inherited.message, /belongs to the group class-a/);
  await alice.json("DELETE", `/${used.config_id}`, undefined, 403);
  // The bar over the chat offers inherited ones too: choosing one holds for this user alone.
  assert.equal((await alice.json("PUT", `/default/${plain.config_id}`, {})).name, "small");
  assert.deepEqual((await names())[1], "small");
  assert.deepEqual((await teacher.json("GET")).default_config.name, "large");
  const own = await alice.create({ name: "mine", is_default: true });
  assert.deepEqual((await names())[1], "mine");
  await alice.json("DELETE", `/${own.config_id}`, undefined, 204);
  assert.deepEqual((await names())[1], "large");
  await alice.create({ name: "mine" });
  assert.deepEqual((await names())[1], "large", "a group's default comes before the first of one's own");
  await alice.json("PUT", `/default/${plain.config_id}`, {});
  await leave(server, groupId, "alice");
  assert.deepEqual(await names(), [["user null mine"], "mine"]);
});

Deno.test("when GNS3 tells nobody about groups, the refusal says so; a super administrator's visit ends that", async () => {
  await using server = await startChatServer({ model: null });
  const groupId = await group(server, "class-a", "alice");
  await new Models(server, "admin", { group: groupId }).create({ is_default: true });
  await server.restart();
  const alice = server.chat("alice");
  const refused = await alice.json("POST", "/stream", { message: "hello" }, 400);
  assert.match(refused.message, /GNS3 does not tell this server in which groups you are/);
  assert.ok(
    server.lines.some(({ level, msg }) => level === "warn" && msg.includes("in which groups users are")),
  );
  await server.chat("admin").json("GET", "/sessions");
  assert.equal((await alice.send(server.model.script("t", [text("fine")]))).text, "fine");
  // A sign-in that has ended stands in for nobody.
  server.gns3.revoke("admin");
  await server.restart();
  await alice.json("POST", "/stream", { message: "hello" }, 400);
});

Deno.test("a turn asks GNS3 no more than before, and about groups only when it must", async () => {
  await using server = await startChatServer({ model: null });
  const alice = new Models(server, "alice");
  const made = await alice.create({ is_default: true });
  const send = async () => {
    const before = server.gns3.requests.length;
    await alice.chat.send(server.model.script("t", [text("x")]));
    return server.gns3.requests.slice(before).map(({ path }) => path);
  };
  await send();
  const project = `/v3/projects/${server.gns3.projectId}`;
  const usual = [project, `${project}/links`, `${project}/nodes`];
  assert.deepEqual((await send()).sort(), usual);
  const groupId = await group(server, "class-a", "alice");
  await new Models(server, "admin", { group: groupId }).create({ is_default: true });
  assert.deepEqual((await send()).sort(), usual, "the user's own default needs no group");
  await alice.json("DELETE", `/${made.config_id}`, undefined, 204);
  const groups = `/v3/access/users/${server.gns3.userIds.alice}/groups`;
  // With Alice's sign-in, then with the administrator's: GNS3 tells ordinary users nothing about groups.
  assert.deepEqual((await send()).sort(), [groups, groups, ...usual]);
  // Who leaves the group loses what is its at once.
  await leave(server, groupId, "alice");
  const refused = await alice.chat.call("POST", "/stream", { message: "x" });
  assert.equal(refused.status, 400, await refused.text());
});

Deno.test("a change holds for the next message; a running turn keeps what it started with", async () => { // I4
  await using server = await startChatServer({ model: null });
  const alice = new Models(server, "alice");
  const { config_id } = await alice.create({ is_default: true, copilot_mode: "lab_automation_assistant" });
  const wait = toolCalls([{ name: "wait_seconds", args: { seconds: 1 } }]);
  const stream = await alice.chat.start(server.model.script("a", [wait, text("done")]));
  await stream.untilType("tool_start");
  await alice.json("PUT", `/${config_id}`, { model: "vendor/other-1", temperature: 1.5 });
  await stream.end();
  await alice.chat.send(server.model.script("b", [text("next")]));
  const models = (key: string) =>
    server.model.requests(key).map(({ body }) => [body.model, body.temperature]);
  assert.deepEqual(new Set(models("a").map(String)), new Set(["practice-1,0.7"]));
  assert.equal(String(models("b")[0]), "vendor/other-1,1.5");
});

Deno.test("with the encryption key lost, lists answer, the chat says which configuration, and nothing is sent", async () => { // I2
  await using server = await startChatServer({ model: null, config: { secretKeys: ["first passphrase 1"] } });
  const alice = new Models(server, "alice");
  const { config_id } = await alice.create({ name: "class model", is_default: true });
  await server.restart({ secretKeys: ["second passphrase 2"] });
  assert.ok(
    server.lines.some(({ level, msg }) =>
      level === "warn" && msg.startsWith("1 stored API key(s) cannot be read")
    ),
  );
  const { default_config } = await alice.json("GET");
  assert.deepEqual([default_config.api_key_status, default_config.config.api_key], ["needs re-entry", null]);
  const refused = await alice.chat.json("POST", "/stream", { message: "hello" }, 400);
  assert.match(refused.message, /"class model" can no longer be read\. Enter it again/);
  const { ok, message } = await alice.json("POST", `/${config_id}/test`);
  assert.ok(!ok && message.includes("Enter it again"));
  assert.equal(server.model.requests().length, 0, "no cipher text went anywhere");
  const updated = await alice.json("PUT", `/${config_id}`, { temperature: 1 });
  assert.equal(updated.api_key_status, "needs re-entry", "other fields can be changed meanwhile");
  await alice.json("PUT", `/${config_id}`, { api_key: API_KEY });
  assert.equal((await alice.chat.send(server.model.script("t", [text("fine")]))).text, "fine");
});

Deno.test("a key that somebody else entered is not sent to another server", async () => {
  await using server = await startChatServer({ model: null });
  const groupId = await group(server, "class-a");
  server.gns3.grant("carol", `/access/groups/${groupId}`, "Group manager");
  const [admin, carol] = ["admin", "carol"].map((as) => new Models(server, as, { group: groupId }));
  const { config_id } = await admin!.create();
  const refused = await carol!.json(
    "PUT",
    `/${config_id}`,
    { base_url: "https://collector.example/v1" },
    422,
  );
  assert.match(refused.message, /^api_key: somebody else entered/);
  await carol!.json("PUT", `/${config_id}`, { provider: "deepseek", base_url: null }, 422);
  await carol!.json("PUT", `/${config_id}`, {
    base_url: `${server.model.url}/chat/completions`,
    model: "m-2",
  });
  await carol!.json("PUT", `/${config_id}`, {
    base_url: "https://collector.example/v1",
    api_key: "sk-carol-55aa66bb",
  });
  await admin!.json("PUT", `/${config_id}`, { base_url: "https://api.openai.com/v1" }, 422);
});

Deno.test("the test of a configuration tells what works and what does not, and counts as a message", async () => {
  await using server = await startChatServer({
    model: null,
    config: { turnsPerMinute: 3, tokensPerDay: 1_000_000 },
  });
  const alice = new Models(server, "alice");
  const good = await alice.create();
  server.model.script("default", [toolCalls([{ name: "report_ready", args: { word: "ready" } }])]);
  const trial = (id: string) => alice.json("POST", `/${id}/test`);
  const { latency_ms, ...result } = await trial(good.config_id);
  assert.deepEqual(result, {
    ok: true,
    message: "The model answers and uses tools.",
    model: "practice-1",
    supports_tools: true,
  });
  assert.ok(latency_ms >= 0);
  const wrongKey = await trial((await alice.create({ api_key: "sk-wrong-000000001" })).config_id);
  assert.equal(wrongKey.ok, false);
  assert.match(wrongKey.message, /^Authentication failed for 127\.0\.0\.1:\d+: it refused the API key/);
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = closed.addr;
  closed.close();
  const away = await trial((await alice.create({ base_url: `http://127.0.0.1:${port}/v1` })).config_id);
  assert.ok(
    away.message.startsWith(
      `Could not connect to http://127.0.0.1:${port}/v1/chat/completions: the connection was refused.`,
    ),
    away.message,
  );
  await alice.json("POST", `/${good.config_id}/test`, undefined, 429);
});

Deno.test("--turns-per-minute answers 429 with Retry-After, for this user alone", async () => {
  await using server = await startChatServer({ config: { turnsPerMinute: 2 } });
  server.gns3.grant("bob", server.gns3.projectId, "User");
  const alice = server.chat("alice");
  const [a, b, c] = ["a", "b", "c"].map((key) => server.model.script(key, [text("x")]));
  const turn = await alice.send(a!);
  await alice.send(b!, { session_id: turn.sessionId });
  const answer = await alice.call("POST", "/stream", { message: c });
  assert.equal(answer.status, 429);
  const seconds = Number(answer.headers.get("retry-after"));
  assert.ok(seconds > 0 && seconds <= 60);
  const { code, message } = await answer.json();
  assert.equal(code, "rate_limited");
  assert.match(message, /2 messages a minute/);
  assert.equal((await alice.json("GET", "/sessions")).length, 1, "no session was made for it");
  await server.chat("bob").send(c!);
});

Deno.test("--tokens-per-day counts every call, answers 429, and a restart does not begin the day anew", async () => {
  await using server = await startChatServer({ config: { tokensPerDay: 50 } });
  const alice = server.chat("alice");
  await alice.send(server.model.script("t", [text("some words")]));
  const refused = () => alice.call("POST", "/stream", { message: "more" });
  for (const again of [false, true]) {
    if (again) await server.restart();
    const answer = await refused();
    assert.equal(answer.status, 429);
    assert.ok(Number(answer.headers.get("retry-after")) <= 24 * 3600);
    assert.match((await answer.json()).message, /today's 50 tokens/);
  }
  await server.restart({ tokensPerDay: 0 });
  await alice.send(server.model.script("u", [text("free again")]));
});

Deno.test("after all of this no key is in any file, log line, answer or model's input", async () => { // I7
  await using server = await startChatServer({ model: null });
  const alice = new Models(server, "alice");
  const secret = "sk-sweep-0f1e2d3c4b5a";
  const { config_id } = await alice.create({ api_key: secret, is_default: true });
  await alice.json("POST", `/${config_id}/test`);
  await alice.json("PUT", `/${config_id}`, { api_key: API_KEY });
  await alice.chat.send(server.model.script("t", [text("fine")]));
  await alice.create({ api_key: secret, temperature: 9 }, 422);
  await alice.chat.call("POST", alice.path, `{"api_key": "${secret}"`);
  await server.restart();
  const keys = [secret, API_KEY, ...Object.values(server.gns3.tokens)];
  for (const key of keys) {
    assert.ok(!holds(server.gns3.projectsDir, key), "a file holds a key");
    assert.ok(!JSON.stringify(server.lines).includes(key), "a log line holds a key");
    assert.ok(!server.model.requests().some(({ body }) => JSON.stringify(body).includes(key)));
  }
});
