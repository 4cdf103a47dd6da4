// The gateway in front of real gns3-servers: what comes through it is what GNS3 says, and projects' files are let go of
// before GNS3 takes them away.
import assert from "node:assert/strict";
import { slow, text } from "../../src/practice/model_script.ts";
import type { Chat } from "../fakes/chat.ts";
import { assertTurn } from "../fakes/grammar.ts";
import { type Copilot, eventually, gns3, startCopilot } from "./copilot.ts";
import { type Lab, labMissing, startLab } from "./lab.ts";
import { testWhere } from "./needs.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

/** Status, headers and body of an answer, as far as two answers to the same question must agree. */
async function shown(base: string, path: string, token: string | null, method = "GET") {
  const response = await fetch(base + path, {
    method,
    headers: token ? { authorization: `Bearer ${token}` } : {},
    redirect: "manual",
  });
  const headers = Object.fromEntries(response.headers);
  delete headers.date;
  // It names the address that was called.
  const location = headers.location?.replace(base, "");
  return { status: response.status, headers: { ...headers, location }, body: await response.text() };
}

/** What a console's or a stream's WebSocket says until it has said `wanted`, or until it closes. */
async function listen(url: string, wanted: string, typed?: string): Promise<{ said: string; code?: number }> {
  const socket = new WebSocket(url.replace("http", "ws"));
  socket.binaryType = "arraybuffer";
  let said = "";
  const ended = Promise.withResolvers<number | undefined>();
  socket.onmessage = ({ data }) => {
    said += typeof data === "string" ? data : new TextDecoder("latin1").decode(data);
    if (said.includes(wanted)) ended.resolve(undefined);
  };
  socket.onclose = ({ code }) => ended.resolve(code);
  socket.onerror = () => {};
  socket.onopen = () => typed && setTimeout(() => socket.send(typed), 1200);
  const timer = setTimeout(() => ended.resolve(-1), 15_000);
  const code = await ended.promise;
  clearTimeout(timer);
  socket.close();
  return { said, code };
}

async function talking(copilot: Copilot, chat: Chat, name: string) {
  const stream = await chat.start(copilot.model.script(name, [slow(5000, 5)]));
  await stream.untilType("content");
  return stream;
}

/** A new open project of alice's pool, so that she may do everything in it. */
async function newProject(lab: Lab, name: string): Promise<Json> {
  const admin = (method: string, path: string, body?: unknown) =>
    gns3(lab.base_url, lab.tokens.admin, method, path, body);
  const project: Json = await admin("POST", "/v3/projects", { name, auto_close: false });
  const pools: Json[] = await admin("GET", "/v3/pools");
  const pool = pools.find((one) => one.name.startsWith("alice"))!;
  await admin("PUT", `/v3/pools/${pool.resource_pool_id}/resources/${project.project_id}`);
  return project;
}

/** Lets bob look at the project and nothing else. */
async function letLook(lab: Lab, projectId: string): Promise<void> {
  const admin = (method: string, path: string, body?: unknown) =>
    gns3(lab.base_url, lab.tokens.admin, method, path, body);
  const { user_id } = await gns3(lab.base_url, lab.tokens.bob, "GET", "/v3/access/users/me");
  const role = (await admin("GET", "/v3/access/roles")).find(({ name }: Json) => name === "Auditor");
  const path = `/projects/${projectId}`;
  await admin("POST", "/v3/access/acl", {
    ace_type: "user",
    path,
    propagate: true,
    allowed: true,
    user_id,
    role_id: role.role_id,
  });
}

for (const [version, slot] of [["3.1.0a7", 51], ["3.0.6", 52]] as const) {
  testWhere(labMissing(), `the gateway in front of GNS3 ${version}`, async (t) => {
    await using lab = await startLab({ version, vpcs: 2, slot });
    await using copilot = await startCopilot(lab, { args: ["--gateway"] });
    const { alice, bob } = lab.tokens;
    const at = `/v3/projects/${lab.project.project_id}`;
    const pc1 = lab.nodes.find(({ name }) => name === "PC1")!.node_id;

    await t.step("answers are GNS3's own, byte for byte", async () => {
      const questions: [string, string | null][] = [
        ["/v3/version", null],
        ["/", null],
        ["/static/web-ui/bundled", null],
        ["/static/web-ui/favicon.ico", null],
        ["/v3/projects", alice],
        ["/v3/projects", null],
        ["/v3/projects/", alice],
        [`${at}/nodes`, alice],
        [`${at}/nodes`, bob],
        [`${at}/links?x=%C3%BC%2F`, alice],
        ["/v3/nothing", alice],
        [`/v3/projects?token=${alice}`, null],
      ];
      for (const [path, token] of questions) {
        const direct = await shown(lab.base_url, path, token);
        assert.deepEqual(await shown(copilot.url, path, token), direct, path);
        const head = await shown(copilot.url, path, token, "HEAD");
        assert.deepEqual(head, await shown(lab.base_url, path, token, "HEAD"), `HEAD ${path}`);
      }
    });

    await t.step("our routes win, also where GNS3 has no AI features", async () => {
      const path = `/v3/copilot/projects/${lab.project.project_id}/chat/sessions`;
      assert.equal((await shown(lab.base_url, path, alice)).status, version === "3.0.6" ? 404 : 501);
      const ours = await shown(copilot.url, path, alice);
      assert.deepEqual([ours.status, ours.body], [200, "[]"]);
      assert.equal((await shown(copilot.url, path, bob)).status, 403);
      assert.equal((await shown(copilot.url, path, alice, "PUT")).status, 405);
    });

    await t.step(
      "files of the project come through, conversations do not: GNS3 would give them to everybody who sees it",
      async () => {
        await copilot.chat(alice).send(`Mine alone. ${copilot.model.script("mine", [text("yes")])}`);
        const topology = `${at}/files/${lab.project.name}.gns3`;
        assert.deepEqual(
          await shown(copilot.url, topology, alice),
          await shown(lab.base_url, topology, alice),
        );
        const database = `${at}/files/gns3-copilot/copilot_checkpoints.db-wal`;
        assert.match((await shown(lab.base_url, database, alice)).body, /Mine alone/);
        for (
          const spelling of [
            database,
            database.replace("gns3-", "%2567ns3-"),
            database.replace("files/", "files//"),
          ]
        ) {
          const { status, body } = await shown(copilot.url, spelling, alice);
          assert.deepEqual([status, JSON.parse(body).code], [403, "forbidden"]);
        }
      },
    );

    await t.step("a log-in, an upload, an export and an import", async () => {
      const username = "alice";
      const password = (lab.users as Record<string, string>)[username];
      const { access_token } = await gns3(copilot.url, "none", "POST", "/v3/access/users/authenticate", {
        username,
        password,
      });
      assert.equal((await shown(copilot.url, "/v3/projects", access_token)).status, 200);
      const image = crypto.getRandomValues(new Uint8Array(65536));
      const large = new Uint8Array(30 * 1024 * 1024);
      for (let at = 0; at < large.length; at += image.length) large.set(image, at);
      const file = `/v3/projects/${lab.project.project_id}/files/large.bin`;
      await gns3(copilot.url, alice, "POST", file, large);
      const back = await fetch(copilot.url + file, { headers: { authorization: `Bearer ${alice}` } });
      const digest = async (bytes: Uint8Array<ArrayBuffer>) =>
        new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
      assert.equal(await digest(new Uint8Array(await back.arrayBuffer())), await digest(large));
      const project = await newProject(lab, `exported-${version}`);
      const exported = await fetch(`${copilot.url}/v3/projects/${project.project_id}/export`, {
        headers: { authorization: `Bearer ${alice}` },
      });
      const bytes = new Uint8Array(await exported.arrayBuffer());
      const id = crypto.randomUUID();
      const imported: Json = await gns3(
        copilot.url,
        lab.tokens.admin,
        "POST",
        `/v3/projects/${id}/import?name=imported`,
        bytes,
      );
      assert.equal(imported.project_id, id);
    });

    await t.step("notifications come as they happen, over HTTP and over a WebSocket", async () => {
      const leave = new AbortController();
      const stream = await fetch(`${copilot.url}/v3/notifications`, {
        headers: { authorization: `Bearer ${alice}` },
        signal: leave.signal,
      });
      const socket = listen(`${copilot.url}/v3/notifications/ws?token=${alice}`, "project.created");
      let heard = "";
      const reading = (async () => {
        for await (const piece of stream.body!.pipeThrough(new TextDecoderStream())) {
          heard += piece;
          if (heard.includes("project.created")) break;
        }
      })();
      await new Promise((resolve) => setTimeout(resolve, 300));
      await gns3(copilot.url, lab.tokens.admin, "POST", "/v3/projects", { name: `news-${version}` });
      await reading;
      leave.abort();
      assert.match((await socket).said, /project\.created/);
      const refused = await listen(`${copilot.url}/v3/notifications/ws?token=nonsense`, "never");
      assert.match(refused.said, /log\.error/);
      assert.equal(refused.code, 1008);
    });

    await t.step("a console works over its WebSocket, for those who may use it", async () => {
      const console = `${at}/nodes/${pc1}/console/ws?token=`;
      const typed = await listen(`${copilot.url}${console}${alice}`, "PC1>", "\r");
      assert.match(typed.said, /PC1>/);
      const refused = await listen(`${copilot.url}${console}${bob}`, "PC1>", "\r");
      assert.doesNotMatch(refused.said, /PC1>/);
      assert.notEqual(refused.code, -1, "it is closed");
    });

    await t.step(
      "a delete ends the turn before GNS3 takes the folder; who may not delete ends nothing",
      async () => {
        const project = await newProject(lab, `deleted-${version}`);
        await letLook(lab, project.project_id);
        const path = `/v3/projects/${project.project_id}`;
        const stream = await talking(copilot, copilot.chat(alice, project.project_id), `delete-${version}`);
        const count = stream.events.length;
        assert.equal((await shown(copilot.url, path, bob, "DELETE")).status, 403);
        assert.equal((await shown(copilot.url, path, null, "DELETE")).status, 401);
        await eventually(() => stream.events.length > count + 5, "the turn goes on");
        await gns3(copilot.url, alice, "DELETE", path);
        await stream.end();
        assertTurn(stream.events);
        assert.match(stream.last.error ?? "", /is being deleted/);
        assert.equal(await Deno.stat(project.path).then(() => true, () => false), false);
      },
    );

    await t.step(
      "a restore ends the turn before GNS3 writes over its files; who may not restore ends nothing",
      async () => {
        const project = await newProject(lab, `restored-${version}`);
        await letLook(lab, project.project_id);
        const path = `/v3/projects/${project.project_id}`;
        const chat = copilot.chat(alice, project.project_id);
        await chat.send(copilot.model.script(`r1-${version}`, [text("before")]), { session_id: "kept" });
        const { snapshot_id } = await gns3(copilot.url, alice, "POST", `${path}/snapshots`, { name: "s" });
        await chat.send(copilot.model.script(`r2-${version}`, [text("after")]), { session_id: "kept" });
        const stream = await talking(copilot, chat, `restore-${version}`);
        const count = stream.events.length;
        const restore = `${path}/snapshots/${snapshot_id}/restore`;
        assert.equal((await shown(copilot.url, restore, bob, "POST")).status, 403);
        await eventually(() => stream.events.length > count + 5, "the turn goes on");
        await gns3(copilot.url, alice, "POST", restore);
        await stream.end();
        assert.match(stream.last.error ?? "", /being set back to a snapshot/);
        const messages = await chat.messages("kept");
        assert.deepEqual(messages.map(({ content }) => content).slice(1), ["before"]);
      },
    );

    await t.step("open streams do not hold the server up when it stops", async () => {
      const socket = listen(`${copilot.url}/v3/notifications/ws?token=${alice}`, "never");
      const stream = await fetch(`${copilot.url}/v3/notifications`, {
        headers: { authorization: `Bearer ${alice}` },
      });
      const reading = stream.text().catch(() => "cut");
      await new Promise((resolve) => setTimeout(resolve, 200));
      copilot.program.kill("SIGTERM");
      assert.equal((await socket).code, 1001);
      await reading;
      const { code, err } = await copilot.program.ended();
      assert.equal(code, 0);
      assert.doesNotMatch(err, /"level":"error"/);
      for (const token of Object.values(lab.tokens)) {
        assert.ok(!copilot.log().includes(token), "a token is in the log");
      }
    });
  });
}
