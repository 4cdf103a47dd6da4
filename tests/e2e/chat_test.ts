// The main job for real: our server as its own process, a real gns3-server with real VPCS, a scripted model that streams.
import assert from "node:assert/strict";
import { startPracticeModel } from "../../src/practice/model.ts";
import { slow, text, toolCalls } from "../../src/practice/model_script.ts";
import { API_KEY, Chat } from "../fakes/chat.ts";
import { workspace } from "../fakes/program.ts";
import { labMissing, startLab } from "./lab.ts";
import { testWhere } from "./needs.ts";
import { startServer } from "./server.ts";

const vpcs = (device_configs: Record<string, string[]>, id?: string) => ({
  name: "execute_vpcs_commands",
  id,
  args: {
    device_configs: Object.entries(device_configs).map(([device_name, commands]) => ({
      device_name,
      commands,
    })),
  },
});

for (const [version, slot] of [["3.1.0a7", 42], ["3.0.6", 43]] as const) {
  testWhere(
    labMissing(),
    `a chat with real PCs on GNS3 ${version}: ping, restart, owners, stop, power off`,
    async (t) => {
      await using lab = await startLab({ version, vpcs: 2, slot });
      console.log(`gns3-server ${lab.version}`);
      const space = workspace();
      const model = await startPracticeModel({ apiKey: API_KEY });
      const project = lab.project.project_id;
      const options = { state: `${space.dir}/state`, modelUrl: model.url };
      let { program, url } = await startServer(lab, options);
      const chat = (user: "alice" | "bob" | "admin", id = project) => new Chat(url, id, lab.tokens[user]);
      const end = async (signal: Deno.Signal) => {
        program.kill(signal);
        return await program.ended();
      };
      let sessionId = "";
      try {
        await t.step("the agent addresses two PCs and pings", async () => {
          const addresses = vpcs({ PC1: ["ip 10.7.0.1/24"], PC2: ["ip 10.7.0.2/24"] });
          const ping = vpcs({ PC1: ["show ip", "ping 10.7.0.2 -c 3"] });
          const turn = await chat("alice").send(
            `Give both PCs an address and ping. ${
              model.script("t", [toolCalls([addresses]), toolCalls([ping]), text("They can talk.")])
            }`,
          );
          sessionId = turn.sessionId;
          const [set, pinged] = turn.of("tool_end");
          assert.equal(set!.status, "success", set!.tool_output);
          assert.match(set!.tool_output, /PC1 : 10\.7\.0\.1 255\.255\.255\.0/);
          // Older versions of VPCS leave out how many bytes came.
          const reply = /(?:\d+ bytes from )?10\.7\.0\.2 icmp_seq=\d+ ttl=\d+ time=[\d.]+ ms/g;
          const replies = pinged!.tool_output.match(reply) ?? [];
          for (const line of replies) console.log(`VPCS: ${line}`);
          assert.equal(replies.length, 3, pinged!.tool_output);
          assert.equal(turn.text, "They can talk.");
          const sent = model.requests("t").filter((request) => !request.title)[2]!.body.messages;
          assert.equal(sent.at(-1)!.content, pinged!.tool_output);
        });

        await t.step("after a restart the history is what was streamed", async () => {
          const before = await chat("alice").messages(sessionId);
          const streamed = await chat("alice").follow(sessionId);
          await streamed.end();
          const { code } = await end("SIGTERM");
          assert.equal(code, 0);
          ({ program, url } = await startServer(lab, options));
          assert.deepEqual(await chat("alice").messages(sessionId), before);
          const again = await chat("alice").follow(sessionId);
          await again.end();
          const shown = (events: typeof again) => [events.text, ...events.of("tool_end", "title", "done")];
          assert.deepEqual(shown(again), shown(streamed));
          assert.deepEqual(
            again.of("tool_end").map((event) => event.tool_output),
            before.filter((m) => m.role === "tool").map((m) => m.content),
          );
        });

        await t.step(
          "bob gets 403 for the project, and 404 for alice's session where he may be",
          async () => {
            assert.equal((await chat("bob").call("GET", "/sessions")).status, 403);
            const other = chat("bob", lab.other_project.project_id);
            assert.equal((await other.call("GET", `/sessions/${sessionId}/history`)).status, 404);
            // The administrator may enter the project, and still finds nothing of alice's.
            for (const path of ["", "/history", "/stream"]) {
              assert.equal((await chat("admin").call("GET", `/sessions/${sessionId}${path}`)).status, 404);
            }
            assert.deepEqual(await chat("admin").json("GET", "/sessions"), []);
          },
        );

        await t.step("a stop closes the model's connection within 200 ms", async () => {
          const stream = await chat("alice").start(model.script("long", [slow(2000, 10)]));
          await stream.untilType("content");
          const asked = Date.now();
          await chat("alice").json("POST", `/sessions/${stream.sessionId}/abort`);
          await stream.end();
          await model.waitFor(() => model.requests("long")[0]!.fate === "cut");
          const took = model.requests("long")[0]!.endedAt! - asked;
          assert.ok(took < 200, `the model's connection was open for ${took} ms after the stop`);
          assert.deepEqual(stream.events.slice(-2).map((event) => event.type), ["abort", "done"]);
        });

        await t.step(
          "a stop in a ping that never ends gives the console back: the next command works",
          async () => {
            const endless = toolCalls([vpcs({ PC1: ["ping 10.7.0.2 -t"] })]);
            const stream = await chat("alice").start(model.script("ping", [endless]));
            await stream.untilType("tool_start");
            await new Promise((resolve) => setTimeout(resolve, 1500));
            const asked = Date.now();
            await chat("alice").json("POST", `/sessions/${stream.sessionId}/abort`);
            await stream.end();
            assert.ok(Date.now() - asked < 1000);
            const turn = await chat("alice").send(
              model.script("show", [toolCalls([vpcs({ PC1: ["show ip"] })]), text("ok")]),
            );
            const output = turn.of("tool_end")[0]!.tool_output;
            assert.match(output, /10\.7\.0\.1\/24/);
            assert.doesNotMatch(output, /icmp_seq/);
          },
        );

        await t.step(
          "power off in a tool: after the start the next message works, the call has an answer",
          async () => { // C1
            const wait = toolCalls([{ name: "wait_seconds", args: { seconds: 60 }, id: "call_lost" }]);
            const stream = await chat("alice").start(model.script("off", [wait]), {
              session_id: "power-off",
            });
            await stream.untilType("tool_start");
            // The call is on the disk a moment after it was announced.
            await new Promise((resolve) => setTimeout(resolve, 500));
            await end("SIGKILL");
            await stream.end().catch(() => {});
            ({ program, url } = await startServer(lab, options));
            const turn = await chat("alice").send(model.script("on", [text("fine")]), {
              session_id: "power-off",
            });
            assert.equal(turn.text, "fine");
            const [request] = model.requests("on");
            assert.equal(request!.fate, "done", request!.reason);
            const answer = request!.body.messages.find((message) => message.tool_call_id === "call_lost");
            assert.match(String(answer?.content), /interrupted, outcome unknown/);
          },
        );
      } finally {
        await end("SIGTERM");
        await model.close();
        space.close();
      }
    },
  );
}
