// Reloading the skills, and what it changes for turns: the whole server with a skills folder.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { text, toolCalls } from "../../../src/practice/model_script.ts";
import { startChatServer } from "../../fakes/chat.ts";

const PATH = "/v3/copilot/reload/skills";

async function withFolder(work: (dir: string, put: (path: string, text: string) => void) => Promise<void>) {
  const dir = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "skills-" }));
  const put = (path: string, text: string) => {
    Deno.mkdirSync(dirname(join(dir, path)), { recursive: true });
    Deno.writeTextFileSync(join(dir, path), text);
  };
  try {
    await work(dir, put);
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
}

Deno.test("only a superadmin of GNS3 reloads the skills", async () => {
  await using server = await startChatServer();
  const none = await fetch(server.url + PATH, { method: "POST" });
  assert.deepEqual([none.status, (await none.json()).code], [401, "unauthorized"]);
  const wrong = await server.chat("not-a-token").call("POST", PATH);
  assert.deepEqual([wrong.status, (await wrong.json()).code], [401, "unauthorized"]);
  const alice = await server.chat("alice").json("POST", PATH, undefined, 403);
  assert.match(alice.message, /superadmin/);
  const get = await server.chat("admin").call("GET", PATH);
  assert.deepEqual([get.status, get.headers.get("allow")], [405, "POST"]);
  await get.body?.cancel();
});

Deno.test("without a folder the answer tells what is embedded, in GNS3's fields", async () => {
  await using server = await startChatServer();
  assert.deepEqual(await server.chat("admin").json("POST", PATH), {
    success: true,
    skills: true,
    skill_count: 18,
    prompts: true,
    prompt_count: 6,
    protocols: true,
    protocol_count: 8,
    forbidden_commands: 0,
    version: "builtin",
    fault_count: 64,
    problems: [],
  });
  const { paths } = await (await fetch(`${server.url}/openapi.json`)).json();
  assert.ok(paths[PATH].post.responses["200"].content["application/json"].schema);
});

Deno.test("a reload sees what is new in the folder, names what is broken, and fails without changing anything", async () => {
  await withFolder(async (dir, put) => {
    await using server = await startChatServer({ config: { skillsDir: dir } });
    const admin = server.chat("admin");
    const before = await admin.json("POST", PATH);
    put("device/acme_os.md", "---\nname: acme_os\n---\n# ACME\n\nUse wibble.\n");
    put("device/broken.yaml", "name: [\n");
    put("prompts/poem.md", "Roses are red.\n");
    put("config/forbidden_commands.txt", "debug\nreload\n");
    const after = await admin.json("POST", PATH);
    assert.equal(after.skill_count, before.skill_count + 1);
    assert.notEqual(after.version, before.version);
    assert.deepEqual([after.forbidden_commands, after.success], [2, true]);
    assert.deepEqual(after.problems.map((one: { file: string }) => one.file), [
      "device/broken.yaml",
      "prompts/poem.md",
    ]);
    assert.ok(!JSON.stringify(after).includes(dir));
    assert.ok(server.lines.some((line) => line.file === "device/broken.yaml"));
    Deno.renameSync(dir, `${dir}.away`);
    const gone = await admin.json("POST", PATH, undefined, 503);
    assert.match(gone.message, /--skills-dir/);
    assert.ok(!gone.message.includes(dir));
    Deno.renameSync(`${dir}.away`, dir);
    assert.deepEqual(await admin.json("POST", PATH), after);
  });
});

Deno.test("a running turn keeps the skills that it began with; the next one has the new ones", async () => {
  await withFolder(async (dir, put) => {
    put("prompts/lab_automation_assistant.md", "# SPDX-License-Identifier: MIT\n\nFIRST PROMPT\n");
    put("prompts/title.md", "FIRST TITLE PROMPT\n");
    put("device/acme.yaml", "device_type: acme_os\nname: First\n");
    await using server = await startChatServer({ config: { skillsDir: dir } });
    const alice = server.chat("alice");
    const look = () => toolCalls([{ id: "c2", name: "device_skills", args: { device_type: "acme_os" } }]);
    const wait = toolCalls([{ id: "c1", name: "wait_seconds", args: { seconds: 1 } }]);
    const turn = await alice.start(server.model.script("old", [wait, look(), text("done")]));
    await turn.untilType("tool_start");
    put("prompts/lab_automation_assistant.md", "SECOND PROMPT\n");
    put("device/acme.yaml", "device_type: acme_os\nname: Second\n");
    await server.chat("admin").json("POST", PATH);
    await turn.end();
    const names = (stream: typeof turn) =>
      stream.of("tool_end").filter((event) => event.tool_name === "device_skills")
        .map((event) => JSON.parse(event.tool_output).name);
    assert.deepEqual(names(turn), ["First"]);
    const next = await alice.send(server.model.script("new", [look(), text("done")]));
    assert.deepEqual(names(next), ["Second"]);
    // deno-lint-ignore no-explicit-any
    const system = (request: any) => String(request.body.messages[0].content);
    const [old, fresh] = ["old", "new"].map((key) => server.model.requests(key));
    assert.ok(old!.filter(({ title }) => !title).every((request) => /FIRST PROMPT/.test(system(request))));
    assert.ok(old!.some((request) => request.title && /FIRST TITLE PROMPT/.test(system(request))));
    assert.ok(!/SPDX/.test(system(old![0])));
    assert.ok(fresh!.filter(({ title }) => !title).every((request) => /SECOND PROMPT/.test(system(request))));
  });
});

Deno.test("what one user's injection records, another session and another user's turn remember", async () => { // W8
  await using server = await startChatServer();
  const call = (args: unknown) => toolCalls([{ id: "c1", name: "injection_skills", args: args as never }]);
  const run = async (user: string, key: string, args: unknown) => {
    const script = server.model.script(key, [call(args), text("Users report that nothing works.")]);
    const turn = await server.chat(user).send(script, {}, "/inject");
    return { turn, said: JSON.parse(turn.of("tool_end")[0]!.tool_output) };
  };
  const undo = [{ device_name: "PC1", commands: ["ip 192.168.1.11/24 192.168.1.1"] }];
  const first = await run("alice", "a", {
    action: "record",
    issue: "host_wrong_gateway",
    devices: ["PC1"],
    undo,
  });
  assert.equal(first.said.fault_id, 1);
  assert.equal(first.turn.text, "Users report that nothing works.");
  await server.chat("alice").json("DELETE", `/sessions/${first.turn.sessionId}`, undefined, 204);
  await server.restart();
  const { said } = await run("admin", "b", { action: "list" });
  assert.deepEqual(said.used_before, ["host_wrong_gateway"]);
  const out = await run("admin", "c", { action: "undo" });
  assert.deepEqual([out.said.faults[0].by, out.said.faults[0].undo], ["alice", undo]);
});
