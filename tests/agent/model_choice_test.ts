// Whose model configuration a turn gets, when many people chat at once.
import assert from "node:assert/strict";
import { startPracticeModel } from "../../src/practice/model.ts";
import { slow } from "../../src/practice/model_script.ts";
import { Chat, startChatServer } from "../fakes/chat.ts";

/** Numbers that look random and are the same in every run: what fails once fails again. */
function numbers(seed: number): () => number {
  return () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
}

Deno.test("thirty students at once, with keys of their own and a group's: no key, sign-in or session is ever another's", async () => { // L3
  await using server = await startChatServer({ model: null });
  const model = await startPracticeModel();
  await using _ = { [Symbol.asyncDispose]: () => model.close() };
  const { gns3 } = server;
  const random = numbers(20_260_301);
  const pause = () => new Promise((resolve) => setTimeout(resolve, random() * 30));
  const admin = server.chat("admin");
  const call = (method: string, path: string, body?: unknown) =>
    fetch(gns3.url + path, {
      method,
      headers: { authorization: `Bearer ${admin.token}` },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  const { user_group_id } = await (await call("POST", "/v3/access/groups", { name: "class-a" })).json();
  const config = (api_key: string, name: string) => ({
    name: "mine",
    provider: "openai",
    base_url: model.url,
    model: name,
    context_limit: 128,
    is_default: true,
    api_key,
  });
  const groupKey = "sk-group-key-00000000";
  await admin.json(
    "POST",
    `/v3/access/groups/${user_group_id}/llm-model-configs`,
    config(groupKey, "group"),
    201,
  );
  const students = await Promise.all(Array.from({ length: 30 }, async (_, i) => {
    const name = `student${i}`;
    const id = gns3.addUser({ username: name, password: "x", roles: { [gns3.projectId]: "User" } });
    const chat = new Chat(server.url, gns3.projectId, gns3.newToken(name));
    await (await call("PUT", `/v3/access/groups/${user_group_id}/members/${id}`)).body?.cancel();
    return { i, name, chat, own: i % 2 === 0, path: `/v3/access/users/${id}/llm-model-configs` };
  }));

  await Promise.all(students.map(async ({ i, name, chat, own, path }) => {
    const key = own ? `sk-own-key-of-${name}` : groupKey;
    const made = own ? await chat.json("POST", path, config(key, name), 201) : undefined;
    for (let round = 0; round < 3; round++) {
      await pause();
      const tag = `${name}-${round}`;
      const turn = await chat.send(`${name} ${model.script(tag, [slow(3 + Math.floor(random() * 4), 1)])}`);
      const [question] = await chat.messages(turn.sessionId);
      assert.ok(question.content.startsWith(`${name} `));
      for (const { headers, body } of model.requests(tag)) {
        assert.deepEqual([headers.authorization, body.model], [`Bearer ${key}`, own ? name : "group"]);
      }
      assert.ok(model.requests(tag).length > 0);
      if (made && i % 4 === 0) {
        await chat.json("PUT", `${path}/${made.config_id}`, { temperature: round / 2 });
      }
      const seen = await chat.json("GET", path);
      assert.equal(seen.total, own ? 2 : 1);
      assert.ok(!JSON.stringify(seen).includes("sk-"));
    }
    assert.equal((await chat.json("GET", "/sessions?limit=500")).length, 3);
  }));
  const byStudent = new Map(students.map(({ name }) => [name, 0]));
  for (const { path, username } of gns3.requests) {
    if (path.endsWith("/nodes") && username !== null) {
      byStudent.set(username, (byStudent.get(username) ?? 0) + 1);
    }
  }
  for (const { name } of students) {
    assert.equal(byStudent.get(name), 3, `${name}'s lab was read with ${name}'s sign-in`);
  }
});
