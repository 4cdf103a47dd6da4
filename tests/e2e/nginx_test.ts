// The README's nginx configuration, as it stands there, in front of a real gns3-server and ours.
import assert from "node:assert/strict";
import { slow } from "../../src/practice/model_script.ts";
import { Chat } from "../fakes/chat.ts";
import { eventually, startCopilot } from "./copilot.ts";
import { type Lab, labMissing, startLab } from "./lab.ts";
import { isFile, testWhere } from "./needs.ts";

const NGINX = "/usr/sbin/nginx";

/** The configuration that the README shows, for these ports. */
async function configuration(lab: Lab, copilotUrl: string, port: number): Promise<string> {
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  const shown = /```nginx\n([\s\S]*?)```/.exec(readme)![1]!;
  const server = shown
    .replace("listen 8080", `listen 127.0.0.1:${port}`)
    .replace("http://127.0.0.1:3081", copilotUrl)
    .replace("http://127.0.0.1:3080", lab.base_url);
  return `daemon off; pid nginx.pid; error_log stderr; events {}\nhttp { access_log off;\n${server}\n}\n`;
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

testWhere(
  labMissing() ?? (isFile(NGINX) ? null : "nginx is not installed (apt-get install nginx-light)"),
  "the README's nginx configuration serves GNS3 and the chat from one origin",
  async () => {
    await using lab = await startLab({ version: "3.1.0a7", vpcs: 1, slot: 48 });
    await using copilot = await startCopilot(lab);
    const dir = await Deno.makeTempDir({ prefix: "nginx-" });
    const port = freePort();
    await Deno.writeTextFile(`${dir}/nginx.conf`, await configuration(lab, copilot.url, port));
    const nginx = new Deno.Command(NGINX, {
      args: ["-p", dir, "-c", "nginx.conf"],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    try {
      const url = `http://127.0.0.1:${port}`;
      const { alice } = lab.tokens;
      const headers = { authorization: `Bearer ${alice}` };
      await eventually(
        () => fetch(`${url}/v3/version`).then((r) => r.text().then(() => r.ok), () => false),
        "nginx",
      );
      assert.match(await (await fetch(`${url}/static/web-ui/bundled`)).text(), /GNS3 Web UI/);

      // An answer comes word by word, on the path that the Web UI calls.
      const chat = new Chat(url, lab.project.project_id, alice);
      const alias = `/v3/copilot/projects/${lab.project.project_id}/chat`;
      const message = copilot.model.script("slow", [slow(40, 25)]);
      const response = await chat.call("POST", `${alias}/stream`, { message });
      assert.equal(response.status, 200);
      const arrivals: number[] = [];
      let said = "";
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        said += piece;
        if (piece.includes('"content"')) arrivals.push(performance.now());
      }
      assert.match(said, /"type":"done"/);
      assert.ok(arrivals.length > 10, `the answer came in ${arrivals.length} pieces`);

      // A console over its WebSocket, and a stored configuration's route.
      const node = lab.nodes.find(({ name }) => name === "PC1")!;
      const path = `/v3/projects/${lab.project.project_id}/nodes/${node.node_id}/console/ws?token=${alice}`;
      const socket = new WebSocket(`${url.replace("http", "ws")}${path}`);
      socket.binaryType = "arraybuffer";
      let typed = "";
      socket.onmessage = ({ data }) =>
        typed += typeof data === "string" ? data : new TextDecoder().decode(data);
      socket.onopen = () => setTimeout(() => socket.send("\r"), 1200);
      await eventually(() => typed.includes("PC1>"), "the console's prompt");
      socket.close();
      const me = await (await fetch(`${url}/v3/access/users/me`, { headers })).json();
      const configs = await fetch(`${url}/v3/access/users/${me.user_id}/llm-model-configs`, { headers });
      assert.deepEqual([configs.status, (await configs.json()).total], [200, 0]);
    } finally {
      nginx.kill("SIGTERM");
      await nginx.status;
      await Deno.remove(dir, { recursive: true });
    }
  },
);
