// Stored model configurations for real: our program in its sandbox, a real gns3-server's users, groups, roles and rights.
import assert from "node:assert/strict";
import { startPracticeModel } from "../../src/practice/model.ts";
import { text } from "../../src/practice/model_script.ts";
import { API_KEY, Chat } from "../fakes/chat.ts";
import { startFromSource, workspace } from "../fakes/program.ts";
import { holds } from "../storage/state.ts";
import { type Lab, labMissing, startLab } from "./lab.ts";
import { testWhere } from "./needs.ts";

/** The administrator's view of a real GNS3 server. */
async function asAdmin(lab: Lab, method: string, path: string, body?: unknown) {
  const response = await fetch(lab.base_url + path, {
    method,
    headers: { authorization: `Bearer ${lab.tokens.admin}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const said = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${said}`);
  return said === "" ? undefined : JSON.parse(said);
}

/** Gives a user a role of their own with these privileges at a path. */
async function grant(lab: Lab, userId: string, path: string, ...privileges: string[]) {
  const { role_id } = await asAdmin(lab, "POST", "/v3/access/roles", {
    name: `role ${crypto.randomUUID()}`,
    description: "",
  });
  const known: { name: string; privilege_id: string }[] = await asAdmin(lab, "GET", "/v3/access/privileges");
  for (const { name, privilege_id } of known) {
    if (privileges.includes(name)) {
      await asAdmin(lab, "PUT", `/v3/access/roles/${role_id}/privileges/${privilege_id}`);
    }
  }
  const ace = { ace_type: "user", path, propagate: true, allowed: true, user_id: userId, role_id };
  await asAdmin(lab, "POST", "/v3/access/acl", ace);
}

for (const [version, slot] of [["3.1.0a7", 44], ["3.0.6", 45]] as const) {
  testWhere(
    labMissing(),
    `model configurations on GNS3 ${version}: rights, groups, guards, restart, and no key anywhere`,
    async (t) => {
      await using lab = await startLab({ version, vpcs: 0, slot });
      console.log(`gns3-server ${lab.version}`);
      const space = workspace();
      const model = await startPracticeModel({ apiKey: API_KEY });
      const state = `${space.dir}/state`;
      const options = ["--gns3-url", lab.base_url, "--projects-dir", lab.projects_dir, "--state-dir", state];
      const start = async () => {
        const program = startFromSource([
          ...options,
          "--port",
          "0",
          "--log-format",
          "json",
          "--log-level",
          "debug",
        ]);
        const [, url] = await program.until(/"address":"(http:\/\/[\d.:]+)"/);
        return { program, url: url! };
      };
      let { program, url } = await start();
      let printed = "";
      const as = (user: "alice" | "bob" | "admin") => new Chat(url, lab.project.project_id, lab.tokens[user]);
      const userIds = Object.fromEntries(
        (await asAdmin(lab, "GET", "/v3/access/users")).map((
          { username, user_id }: Record<string, string>,
        ) => [username, user_id]),
      );
      const { user_group_id } = await asAdmin(lab, "POST", "/v3/access/groups", { name: "class-a" });
      const group = `/v3/access/groups/${user_group_id}`;
      const shared = `${group}/llm-model-configs`;
      const mine = (user: string) => `/v3/access/users/${userIds[user]}/llm-model-configs`;
      const body = (parts: Record<string, unknown> = {}) => ({
        name: "one",
        model_type: "text",
        provider: "openai",
        base_url: model.url,
        model: "practice-1",
        context_limit: 128,
        api_key: API_KEY,
        is_default: true,
        ...parts,
      });
      try {
        await t.step(
          "a group's configuration: the administrator stores it, a member uses it, others do not see it",
          async () => {
            const made = await as("admin").json("POST", shared, body(), 201);
            assert.equal(made.group_id, user_group_id);
            assert.deepEqual((await as("alice").json("GET", mine("alice"))).configs, []);
            await asAdmin(lab, "PUT", `${group}/members/${userIds.alice}`);
            const seen = await as("alice").json("GET", mine("alice"));
            assert.deepEqual([seen.total, seen.configs[0].group_name, seen.default_config.config_id], [
              1,
              "class-a",
              made.config_id,
            ]);
            assert.equal((await as("alice").send(model.script("t", [text("fine")]))).text, "fine");
            assert.equal(model.requests("t")[0]!.headers.authorization, `Bearer ${API_KEY}`);
            for (const user of ["alice", "bob"] as const) {
              await as(user).json("GET", shared, undefined, 403);
              await as(user).json("PUT", `${shared}/${made.config_id}`, { temperature: 1 }, 403);
            }
            await as("bob").json("GET", mine("alice"), undefined, 403);
            await as("admin").json("GET", mine("alice"));
          },
        );

        await t.step(
          "GNS3's rights on the group decide: Group.Audit may look, Group.Modify may change",
          async () => {
            const [{ config_id }] = await as("admin").json("GET", `${shared}/own`);
            await grant(lab, userIds.bob!, `/access/groups/${user_group_id}`, "Group.Audit");
            assert.equal((await as("bob").json("GET", shared)).total, 1);
            await as("bob").json("PUT", `${shared}/${config_id}`, { temperature: 1 }, 403);
            await grant(lab, userIds.bob!, `/access/groups/${user_group_id}`, "Group.Audit", "Group.Modify");
            assert.equal(
              (await as("bob").json("PUT", `${shared}/${config_id}`, { temperature: 1 })).version,
              2,
            );
            const members = await asAdmin(lab, "GET", `${group}/members`);
            assert.deepEqual(
              members.map(({ username }: { username: string }) => username),
              ["alice"],
              "asking changed nothing",
            );
          },
        );

        await t.step(
          "addresses of GNS3 and of this server are refused under every name, from inside the sandbox",
          async () => {
            const ports = [lab.base_url, url].map((address) => new URL(address).port);
            for (const port of ports) {
              for (const host of ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "127.8.8.8"]) {
                const base_url = `http://${host}:${port}/v1`;
                const { message } = await as("alice").json("POST", mine("alice"), body({ base_url }), 422);
                assert.match(message, /^base_url: .*may not point at the GNS3 server or at this server/);
              }
            }
            await as("alice").json(
              "POST",
              mine("alice"),
              body({ base_url: "http://169.254.169.254/v1" }),
              422,
            );
            // A name that must be looked up, and is harmless.
            await as("alice").json(
              "POST",
              mine("alice"),
              body({ base_url: "http://localhost:11434/v1", is_default: false }),
              201,
            );
          },
        );

        await t.step(
          "everything is there after a power off; who leaves the group has nothing of it",
          async () => {
            const before = await as("alice").json("GET", mine("alice"));
            program.kill("SIGKILL");
            printed += JSON.stringify(await program.ended());
            ({ program, url } = await start());
            await as("admin").json("GET", shared);
            assert.deepEqual(await as("alice").json("GET", mine("alice")), before);
            assert.equal((await as("alice").send(model.script("u", [text("again")]))).text, "again");
            await asAdmin(lab, "DELETE", `${group}/members/${userIds.alice}`);
            const after = await as("alice").json("GET", mine("alice"));
            assert.deepEqual(after.configs.map(({ source }: { source: string }) => source), ["user"]);
          },
        );

        program.kill("SIGTERM");
        printed += JSON.stringify(await program.ended());
        for (const secret of [API_KEY, ...Object.values(lab.tokens)]) {
          assert.ok(!holds(state, secret) && !holds(lab.project.path, secret) && !printed.includes(secret));
        }
      } finally {
        program.kill("SIGKILL");
        await program.ended();
        await model.close();
        space.close();
      }
    },
  );
}
