// Projects that open, close, go, are copied and set back, on real gns3-servers, while the assistant answers.
import assert from "node:assert/strict";
import { slow, text } from "../../src/practice/model_script.ts";
import { type Chat } from "../fakes/chat.ts";
import { assertTurn } from "../fakes/grammar.ts";
import { type Copilot, eventually, gns3, startCopilot } from "./copilot.ts";
import { type Lab, labMissing, startLab } from "./lab.ts";
import { testWhere } from "./needs.ts";

interface Place {
  lab: Lab;
  copilot: Copilot;
  /** The administrator at GNS3 itself. */
  admin(method: string, path: string, body?: unknown): ReturnType<typeof gns3>;
}

// deno-lint-ignore no-explicit-any
type Json = any;

let numbered = 0;

/** A new open project with one PC, and the administrator's and alice's chats in it. */
async function newProject({ lab, copilot, admin }: Place) {
  const project: Json = await admin("POST", "/v3/projects", {
    name: `cycle-${++numbered}`,
    auto_close: false,
  });
  const at = `/v3/projects/${project.project_id}`;
  const template = (await admin("GET", "/v3/templates")).find((one: Json) => one.template_type === "vpcs");
  await admin("POST", `${at}/templates/${template.template_id}`, { x: 0, y: 0, compute_id: "local" });
  return {
    at,
    ...project as { project_id: string; path: string },
    chat: copilot.chat(lab.tokens.admin, project.project_id),
  };
}

async function talking({ copilot }: Place, chat: Chat, sessionId?: string) {
  const tag = copilot.model.script(`long${++numbered}`, [slow(5000, 5)]);
  const stream = await chat.start(tag, sessionId ? { session_id: sessionId } : {});
  await stream.untilType("content");
  await eventually(() => copilot.log().includes("GNS3's notifications are followed"), "following GNS3");
  return stream;
}

const say = ({ copilot }: Place, words: string) => copilot.model.script(`say${++numbered}`, [text(words)]);

const exists = (path: string) => Deno.stat(path).then(() => true, () => false);
const answersIn = async (chat: Chat, session: string) =>
  (await chat.messages(session)).filter(({ role }) => role === "assistant").map(({ content }) => content);

for (const [version, slot] of [["3.1.0a7", 54], ["3.0.6", 55]] as const) {
  testWhere(
    labMissing(),
    `projects come and go on GNS3 ${version} while the assistant answers`,
    async (t) => {
      await using lab = await startLab({ version, vpcs: 1, slot });
      await using copilot = await startCopilot(lab);
      const place: Place = {
        lab,
        copilot,
        admin: (method, path, body) => gns3(lab.base_url, lab.tokens.admin, method, path, body),
      };

      await t.step("close ends the turn and keeps it; open goes on", async () => { // A6, M3
        const { at, chat, path } = await newProject(place);
        const stream = await talking(place, chat);
        await place.admin("POST", `${at}/close`);
        await stream.end();
        assertTurn(stream.events);
        assert.equal(stream.last.finish_reason, "aborted");
        const refused = await chat.json("GET", "/sessions", undefined, 403);
        assert.equal(refused.message, "Project must be opened to use chat. Current status: closed");
        await eventually(
          async () => !await exists(`${path}/gns3-copilot/copilot_checkpoints.db-wal`),
          "no -wal",
        );
        await place.admin("POST", `${at}/open`);
        assert.deepEqual(await answersIn(chat, stream.sessionId), [stream.text]);
        const next = await chat.send(say(place, "here again"), { session_id: stream.sessionId });
        assert.equal(next.text, "here again");
      });

      await t.step("delete in the middle of an answer leaves nothing, again and again", async () => {
        for (let i = 0; i < 15; i++) {
          const { at, chat, path } = await newProject(place);
          const streams = [await talking(place, chat), await talking(place, chat)];
          // GNS3 answers an error here when a file of ours gets in its way.
          await place.admin("DELETE", at);
          for (const stream of streams) {
            await stream.end();
            assertTurn(stream.events);
            assert.ok(
              stream.last.finish_reason === "aborted" || /(was|were) deleted/.test(stream.last.error),
              JSON.stringify(stream.last),
            );
          }
          assert.equal((await chat.call("GET", "/sessions")).status, 404);
          assert.equal((await chat.call("POST", "/stream", { message: "x" })).status, 404);
          if (i > 0) continue;
          await new Promise((resolve) => setTimeout(resolve, 1500));
          assert.equal(await exists(path), false);
        }
        const left = [...Deno.readDirSync(lab.projects_dir)].length;
        const known = (await place.admin("GET", "/v3/projects")).length;
        assert.equal(left, known);
      });

      await t.step("a snapshot that is restored takes the conversations back to its time", async () => { // M4
        const { at, chat } = await newProject(place);
        await chat.send(say(place, "before"), { session_id: "kept" });
        await place.admin("POST", `${at}/snapshots`, { name: "then" });
        for (let i = 0; i < 3; i++) {
          await chat.send(say(place, "after"), { session_id: "kept" });
          await chat.send(say(place, "new"), { session_id: `new-${i}` });
          const stream = await talking(place, chat, "kept");
          // GNS3 3.0 gives its snapshots new ids with every restore.
          const [{ snapshot_id }] = await place.admin("GET", `${at}/snapshots`);
          await place.admin("POST", `${at}/snapshots/${snapshot_id}/restore`);
          await stream.end();
          assertTurn(stream.events);
          assert.equal(stream.last.type, "error", JSON.stringify(stream.last));
          assert.match(stream.last.error, /snapshot/);
          assert.deepEqual(await answersIn(chat, "kept"), ["before"]);
          assert.equal((await chat.call("GET", `/sessions/new-${i}`)).status, 404);
        }
        const next = await chat.send(say(place, "goes on"), { session_id: "kept" });
        assert.equal(next.text, "goes on");
        assert.deepEqual(await answersIn(chat, "kept"), ["before", "goes on"]);
      });

      await t.step(
        "a snapshot from before the first chat ends the turn and leaves the conversations",
        async () => {
          const { at, chat } = await newProject(place);
          const { snapshot_id } = await place.admin("POST", `${at}/snapshots`, { name: "early" });
          const stream = await talking(place, chat);
          await place.admin("POST", `${at}/snapshots/${snapshot_id}/restore`);
          await stream.end();
          assertTurn(stream.events);
          assert.match(stream.last.error ?? "", /set back to a snapshot/);
          assert.deepEqual(await answersIn(chat, stream.sessionId), [stream.text]);
        },
      );

      await t.step("a duplicate and an import have the conversations, each its owner's", async () => { // M2
        const { at, chat } = await newProject(place);
        await chat.send(say(place, "admin's own"), { session_id: "admins" });
        const copy: Json = await place.admin("POST", `${at}/duplicate`, { name: `copy-${++numbered}` });
        const exported = await fetch(`${lab.base_url}${at}/export`, {
          headers: { authorization: `Bearer ${lab.tokens.admin}` },
        });
        assert.equal(exported.status, 200);
        const bytes = new Uint8Array(await exported.arrayBuffer());
        const importId = crypto.randomUUID();
        await place.admin("POST", `/v3/projects/${importId}/import?name=imported-${numbered}`, bytes);
        for (const id of [copy.project_id, importId]) {
          await place.admin("POST", `/v3/projects/${id}/open`);
          const own = copilot.chat(lab.tokens.admin, id);
          const [session] = await own.json("GET", "/sessions");
          assert.deepEqual([session.thread_id, session.project_id], ["admins", id]);
          assert.deepEqual(await answersIn(own, "admins"), ["admin's own"]);
          const next = await own.send(say(place, "in the copy"), { session_id: "admins" });
          assert.equal(next.text, "in the copy");
        }
        assert.deepEqual(await answersIn(chat, "admins"), ["admin's own"]);
        // A copy goes into the pools of its original, so alice may enter it: she finds her own sessions there and no other.
        const original = lab.project.project_id;
        await place.admin("POST", `/v3/projects/${original}/nodes/stop`, {});
        await copilot.chat(lab.tokens.alice, original).send(say(place, "alice's"), { session_id: "alices" });
        await copilot.chat(lab.tokens.admin, original).send(say(place, "hidden"), { session_id: "hidden" });
        const both: Json = await place.admin("POST", `/v3/projects/${original}/duplicate`, {
          name: `shared-${++numbered}`,
        });
        await place.admin("POST", `/v3/projects/${both.project_id}/open`);
        for (
          const [user, own, other] of [["alice", "alices", "hidden"], ["admin", "hidden", "alices"]] as const
        ) {
          const copied = copilot.chat(lab.tokens[user], both.project_id);
          const listed: Json[] = await copied.json("GET", "/sessions");
          assert.deepEqual(listed.map(({ thread_id }) => thread_id), [own], user);
          assert.equal((await copied.call("GET", `/sessions/${other}/history`)).status, 404);
        }
      });

      await t.step("an export in the middle of chatting opens, however it was cut", async () => { // M2
        const { at, chat } = await newProject(place);
        let chatting = true;
        const talk = (async () => {
          for (let i = 0; chatting; i++) {
            await chat.send(say(place, `answer ${i} ${"x".repeat(3000)}`), { session_id: "busy" });
          }
        })();
        for (let i = 0; i < 12; i++) {
          const exported = await fetch(`${lab.base_url}${at}/export`, {
            headers: { authorization: `Bearer ${lab.tokens.admin}` },
          });
          const bytes = new Uint8Array(await exported.arrayBuffer());
          const id = crypto.randomUUID();
          await place.admin("POST", `/v3/projects/${id}/import?name=busy-${++numbered}`, bytes);
          await place.admin("POST", `/v3/projects/${id}/open`);
          const own = copilot.chat(lab.tokens.admin, id);
          const whole = own.json("GET", "/sessions/busy/history?limit=1000");
          const { messages } = await whole.catch((error) => {
            // The export may be older than the first message.
            assert.equal(i, 0, String(error));
            return { messages: [] as Json[] };
          });
          for (const [at, { role }] of messages.entries()) assert.equal(role, at % 2 ? "assistant" : "user");
          await own.send(say(place, "opened"), { session_id: "busy" });
          await place.admin("DELETE", `/v3/projects/${id}`);
        }
        chatting = false;
        await talk;
      });

      await t.step("a rename is heard", async () => {
        const { at } = await newProject(place);
        const before = copilot.log().split("project updated").length;
        await place.admin("PUT", at, { name: `renamed-${++numbered}` });
        await eventually(() => copilot.log().split("project updated").length > before, "project updated");
      });

      const log = copilot.log();
      assert.doesNotMatch(log, /"level":"error"/);
      for (const token of Object.values(lab.tokens)) assert.ok(!log.includes(token), "a token is in the log");
    },
  );
}

for (const [version, slot] of [["3.1.0a7", 54], ["3.0.6", 55]] as const) {
  testWhere(
    labMissing(),
    `GNS3 ${version} is followed with a service account, also after a restart, and nobody has to call first`,
    async () => { // G9
      await using lab = await startLab({ version, vpcs: 1, slot });
      const { username, password } = lab.admin;
      await using copilot = await startCopilot(lab, {
        args: ["--gns3-user", username],
        env: { GNS3_COPILOT_GNS3_PASSWORD: password },
      });
      const followed = () => copilot.log().split("GNS3's notifications are followed").length - 1;
      await eventually(() => followed() === 1, "following GNS3");
      const admin = (method: string, path: string) => gns3(lab.base_url, lab.tokens.admin, method, path);
      const place: Place = { lab, copilot, admin };
      const chat = copilot.chat(lab.tokens.alice);
      const stream = await talking(place, chat);
      await lab.restart();
      // The project is closed after that, and the agent hears of it without anybody asking.
      await stream.end();
      assertTurn(stream.events);
      assert.equal(stream.last.finish_reason, "aborted");
      await eventually(() => followed() === 2, "following GNS3 again", 60_000);
      await chat.json("GET", "/sessions", undefined, 403);
      // GNS3's own compute takes a moment.
      const open = () => admin("POST", `/v3/projects/${lab.project.project_id}/open`).catch(() => undefined);
      await eventually(open, "opening the project", 30_000);
      assert.deepEqual(await answersIn(chat, stream.sessionId), [stream.text]);
      const next = await chat.send(say(place, "after the restart"), { session_id: stream.sessionId });
      assert.equal(next.text, "after the restart");
      assert.ok(!copilot.log().includes(password), "the password is in the log");
      assert.doesNotMatch(copilot.log(), /"level":"error"/);
    },
  );
}
