// Captures, snapshots and filters for real: our server as its own process, a real gns3-server with real VPCS, real tshark.
import assert from "node:assert/strict";
import { startPracticeGns3 } from "../../src/practice/gns3_server.ts";
import { startPracticeModel } from "../../src/practice/model.ts";
import { API_KEY, Chat } from "../fakes/chat.ts";
import { type Program, startFromSource, startProgram, workspace } from "../fakes/program.ts";
import { asking, type Call } from "./asking.ts";
import { type Lab, labMissing, startLab } from "./lab.ts";
import { EXECUTABLE, hasProgram, type Missing, NO_EXECUTABLE, testWhere } from "./needs.ts";
import { startServer } from "./server.ts";

// deno-lint-ignore no-explicit-any -- what tools answer is what the test is about
type Json = any;

const tshark: Missing = hasProgram("tshark") ? null : "tshark is not installed";

const vpcs = (devices: Record<string, string[]>): Call => ["execute_vpcs_commands", {
  device_configs: Object.entries(devices).map(([device_name, commands]) => ({ device_name, commands })),
}];
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

for (const [version, slot] of [["3.1.0a7", 44], ["3.0.6", 45]] as const) {
  testWhere(
    tshark ?? labMissing(),
    `captures, filters, snapshots and the audit log on GNS3 ${version}`,
    async (t) => {
      await using lab = await startLab({ version, vpcs: 2, slot });
      console.log(`gns3-server ${lab.version}`);
      const space = workspace();
      const model = await startPracticeModel({ apiKey: API_KEY });
      const options = {
        state: `${space.dir}/state`,
        modelUrl: model.url,
        args: ["--snapshot-before-changes"],
      };
      const { program, url } = await startServer(lab, options);
      const chat = (user: "alice" | "bob" | "admin", id = lab.project.project_id) =>
        new Chat(url, id, lab.tokens[user]);
      const alice = chat("alice");
      const ask = asking(model, "e2e");
      const link_id = version === "3.0.6" ? "PC1 - PC2" : "PC1 - SW1";
      try {
        await t.step("a ping is captured, and read while the capture runs and after it", async () => {
          const [addressed, started, pinged, running, stopped, ended] = await ask(alice, [
            vpcs({ PC1: ["ip 10.7.0.1/24"], PC2: ["ip 10.7.0.2/24"] }),
            ["start_gns3_capture", { link_id }],
            vpcs({ PC1: ["ping 10.7.0.2 -c 3"] }),
            ["packet_analysis", { link_id }],
            ["stop_gns3_capture", { link_id }],
            ["packet_analysis", {
              link_id,
              tshark_args: '-Y "icmp.type == 8" -T fields -e ip.src -e ip.dst -E header=n',
            }],
          ]);
          assert.equal(started.capturing, true, JSON.stringify(started));
          assert.equal(pinged.summary, "1 of 1 succeeded.", JSON.stringify(pinged));
          assert.equal(running.capturing, true);
          assert.match(running.protocols, /icmp frames:6 /);
          assert.match(running.output, /ARP .*Who has 10\.7\.0\.2\? Tell 10\.7\.0\.1/);
          for (const line of running.output.split("\n")) console.log(`tshark: ${line}`);
          assert.equal(stopped.capturing, false);
          assert.equal(ended.output, Array(3).fill("10.7.0.1\t10.7.0.2").join("\n"));
          // The setting wants a snapshot before the first change; the lab runs, so there is none, and that is said.
          assert.match(addressed.restore_point.error, /must be stopped.*Running: PC1, PC2/);
          assert.equal(started.restore_point, undefined);
        });

        await t.step(
          "who may only look at the project changes nothing and reads no capture of it",
          async () => {
            assert.equal((await chat("bob").call("GET", "/audit")).status, 403);
            await makeAuditor(lab);
            // GNS3 3.0 does not even show an auditor the project.
            if (version === "3.0.6") return;
            const refused = await ask(chat("bob"), [
              ["packet_analysis", { link_id }],
              ["start_gns3_capture", { link_id }],
              ["create_gns3_snapshot", { name: "mine" }],
              ["create_gns3_text_drawing", { x: 0, y: 0, text: "mine" }],
              ["delete_gns3_node", { node_ids: ["PC1"] }],
              ["delete_gns3_link", { link_ids: [link_id] }],
            ]);
            const why = (answer: Json) => answer.error ?? answer.results[0].error;
            assert.deepEqual(
              refused.map((answer) => /privilege ([\w.]+) is required/.exec(why(answer))?.[1]),
              [
                "Link.Capture",
                "Link.Capture",
                "Snapshot.Allocate",
                "Drawing.Allocate",
                "Node.Allocate",
                "Link.Allocate",
              ],
            );
            assert.equal((await chat("bob").json("GET", "/audit")).length, 6);
          },
        );

        await t.step("a packet filter breaks the ping, and clearing it mends the lab", async () => {
          const ping = vpcs({ PC1: ["ping 10.7.0.2 -c 2"] });
          const filter = (
            filters: unknown,
          ): Call => ["manage_gns3_packet_filter", { link_id, action: "set", filters }];
          const [available, , broken, refused, kept, cleared, mended, wrong] = await ask(alice, [
            ["manage_gns3_packet_filter", { link_id, action: "get_available" }],
            filter({ frequency_drop: [-1] }),
            ping,
            filter({ bpf: ["not a ( filter"] }),
            ["manage_gns3_packet_filter", { link_id, action: "get" }],
            filter({}),
            ping,
            filter({ packet_loss: [101] }),
          ], "/inject");
          assert.ok(available.available.some(({ type }: Json) => type === "bpf"));
          const said = (answer: Json) => answer.results[0].commands[0].output;
          assert.doesNotMatch(said(broken), /ttl=/);
          assert.match(said(broken), /not reachable|timeout/);
          assert.match(refused.error, /^Cannot compile filter 'not a \( filter': .*has the filters again/);
          assert.deepEqual(kept.filters, { frequency_drop: [-1] });
          assert.deepEqual(cleared.filters, {});
          assert.equal(cleared.note !== undefined, version === "3.0.6");
          assert.match(said(mended), /icmp_seq=2 ttl=/);
          assert.match(wrong.error, /Chance must be a whole number from 0 to 100/);
        });

        await t.step("a running lab gets no snapshot, a stopped one does, before the change", async () => {
          const [draw, refused, stop, gone] = await ask(alice, [
            ["create_gns3_text_drawing", { x: 0, y: -200, text: "Lab <1> & notes" }],
            ["create_gns3_snapshot", { name: "good" }],
            ["stop_gns3_node", { node_ids: ["PC1", "PC2"] }],
            ["delete_gns3_node", { node_ids: ["PC2"] }],
          ]);
          assert.match(
            draw.restore_point.error,
            /^No snapshot could be made.*must be stopped.*Running: PC1, PC2\.$/,
          );
          assert.match(refused.error, /^GNS3 says: Project must be stopped.*Running: PC1, PC2/);
          assert.equal(stop.restore_point, undefined);
          assert.match(gone.restore_point.name, /^chat \w{1,8} \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d$/);
        });

        await t.step(
          "the agent restores that snapshot: the lab is back, the conversation stays whole and goes on",
          async () => {
            const session = `e2e-${alice.token.slice(-6)}`;
            const before = await alice.messages(session);
            const [listed] = await ask(alice, [["list_gns3_snapshots"]]);
            const { name } = listed.snapshots[0];
            const watching = watchSessions(alice);
            const [restored, start, pinged] = await ask(alice, [
              ["restore_gns3_snapshot", { name }],
              ["start_gns3_node", { node_ids: ["PC1", "PC2"] }],
              vpcs({ PC1: ["ip 10.7.0.1/24"], PC2: ["ip 10.7.0.2/24"] }),
            ]);
            const seen = await watching();
            assert.equal(restored.restored.name, name, JSON.stringify(restored));
            assert.ok(restored.nodes.includes("PC2 (stopped)"));
            assert.equal(start.summary, "2 of 2 succeeded.", JSON.stringify(start));
            assert.equal(pinged.summary, "2 of 2 succeeded.", JSON.stringify(pinged));
            console.log(`while it was restored, the list of sessions answered ${JSON.stringify(seen)}`);
            const after = await alice.messages(session);
            assert.deepEqual(after.slice(0, before.length), before);
            assert.equal(after.at(-1).content, "Done.");
            const folder = `${lab.project.path}/gns3-copilot`;
            assert.deepEqual([...Deno.readDirSync(folder)].filter((file) => file.name.includes("kept")), []);
            const [drawings] = [await gns3(lab, "/drawings")];
            assert.ok(drawings.some(({ svg }: Json) => svg.includes("Lab &lt;1&gt; &amp; notes")));
          },
        );

        await t.step(
          "the audit log has it all: alice her own calls, the administrator everybody's",
          async () => {
            const own: Json[] = await alice.json("GET", "/audit?limit=500");
            const count = (tool: string) => own.filter((one) => one.tool === tool).length;
            assert.deepEqual(["packet_analysis", "restore_gns3_snapshot", "delete_gns3_node"].map(count), [
              2,
              1,
              1,
            ]);
            assert.ok(own.every(({ username, duration_ms }) => username === "alice" && duration_ms >= 0));
            await ask(chat("admin"), [["list_gns3_captures"]]);
            const all: Json[] = await chat("admin").json("GET", "/audit?limit=500");
            assert.deepEqual([all[0].username, all[0].tool], ["admin", "list_gns3_captures"]);
            assert.equal(all.filter(({ username }) => username === "alice").length, own.length);
            const written = await Deno.readTextFile(`${space.dir}/state/audit/audit.jsonl`);
            for (const token of Object.values(lab.tokens)) assert.ok(!written.includes(token));
          },
        );
      } finally {
        program.kill("SIGTERM");
        const { code, err } = await program.ended();
        await model.close();
        space.close();
        assert.equal(code, 0, err);
      }
    },
  );
}

/** Lets bob look at the lab's project, and no more. */
async function makeAuditor(lab: Lab): Promise<void> {
  const headers = { authorization: `Bearer ${lab.tokens.admin}`, "content-type": "application/json" };
  const roles = await (await fetch(`${lab.base_url}/v3/access/roles`, { headers })).json();
  const me = await fetch(`${lab.base_url}/v3/access/users/me`, {
    headers: { authorization: `Bearer ${lab.tokens.bob}` },
  });
  const body = JSON.stringify({
    ace_type: "user",
    path: `/projects/${lab.project.project_id}`,
    user_id: (await me.json()).user_id,
    role_id: roles.find(({ name }: Json) => name === "Auditor").role_id,
  });
  const { status } = await fetch(`${lab.base_url}/v3/access/acl`, { method: "POST", headers, body });
  assert.equal(status, 201);
}

async function gns3(
  lab: { base_url: string; tokens: { admin: string }; project: { project_id: string } },
  path: string,
) {
  const response = await fetch(`${lab.base_url}/v3/projects/${lab.project.project_id}${path}`, {
    headers: { authorization: `Bearer ${lab.tokens.admin}` },
  });
  return await response.json();
}

/** Lists the sessions again and again, as a web page may, until it is called; counts the answers by status. */
function watchSessions(chat: Chat): () => Promise<Record<string, number>> {
  const seen: Record<string, number> = {};
  let on = true;
  const watching = (async () => {
    while (on) {
      const answer = await chat.call("GET", "/sessions");
      await answer.body?.cancel();
      seen[answer.status] = (seen[answer.status] ?? 0) + 1;
      await sleep(20);
    }
  })();
  return async () => {
    on = false;
    await watching;
    return seen;
  };
}

type Start = (args: string[], env: Record<string, string>) => Program;
const STARTS: [string, Missing, Start][] = [
  ["from source", null, (args, env) => startFromSource(args, { env })],
  [
    "executable",
    NO_EXECUTABLE,
    (args, env) => startProgram(EXECUTABLE, args, { ...env, HOME: "/nonexistent" }),
  ],
];

for (const [name, missing, start] of STARTS) {
  testWhere(tshark ?? missing, `${name}: tshark reads a capture for the sandboxed server`, async () => {
    const space = workspace();
    const gns3 = await startPracticeGns3({ projectsDir: `${space.dir}/projects` });
    const model = await startPracticeModel({ apiKey: API_KEY });
    const program = start([...space.options, "--gns3-url", gns3.url], {
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: API_KEY,
      OPENAI_MODEL: "practice-1",
      GNS3_COPILOT_CONTEXT_LIMIT: "128",
      GNS3_COPILOT_COPILOT_MODE: "lab_automation_assistant",
    });
    try {
      const [url] = await program.until(/http:\/\/127\.0\.0\.1:\d+(?=\s+GNS3)/);
      const link_id = "PC1 - R1";
      const [, , read, found] = await asking(model, "x")(new Chat(url, gns3.projectId, gns3.tokens.alice!), [
        ["start_gns3_capture", { link_id }],
        vpcs({ PC1: ["ping 10.0.1.1 -c 2"] }),
        ["packet_analysis", { link_id, tshark_args: "-Y icmp" }],
        ["packet_analysis", { action: "search_fields", query: "icmp.type" }],
      ]);
      assert.equal(read.output.split("\n").length, 4, JSON.stringify(read));
      assert.match(read.output, /10\.0\.1\.10 → 10\.0\.1\.1 +ICMP .*Echo \(ping\) request/);
      assert.equal(found.fields[0].name, "icmp.type");
    } finally {
      program.kill("SIGTERM");
      await program.ended();
      await model.close();
      await gns3.close();
      space.close();
    }
  });
}
