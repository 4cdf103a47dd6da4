// The README's configurations of reverse proxies, as they stand there, in front of a real gns3-server and ours.
import assert from "node:assert/strict";
import { slow } from "../../src/practice/model_script.ts";
import { Chat } from "../fakes/chat.ts";
import { eventually, startCopilot } from "./copilot.ts";
import { type Lab, labMissing, startLab } from "./lab.ts";
import { isFile, testWhere } from "./needs.ts";

interface Proxy {
  program: string;
  package: string;
  /** The language of its block in the README. */
  language: string;
  /** The whole configuration file, around what the README shows. */
  file(shown: string): string;
  args(dir: string): string[];
}

const PROXIES: Proxy[] = [
  {
    program: "/usr/sbin/nginx",
    package: "nginx-light",
    language: "nginx",
    file: (shown) =>
      `daemon off; pid nginx.pid; error_log stderr; events {}\nhttp { access_log off;\n${shown}\n}\n`,
    args: (dir) => ["-p", dir, "-c", "proxy.conf"],
  },
  {
    program: "/usr/bin/caddy",
    package: "caddy",
    language: "caddy",
    file: (shown) => `{\n  admin off\n}\n${shown}`,
    args: (dir) => ["run", "--adapter", "caddyfile", "--config", `${dir}/proxy.conf`],
  },
];

/** The configuration that the README shows, for these addresses. */
async function shownFor({ language }: Proxy, lab: Lab, copilotUrl: string, port: number): Promise<string> {
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  const shown = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(readme)![1]!;
  return shown
    .replace(/8080/, `${port}`)
    .replace("127.0.0.1:3081", new URL(copilotUrl).host)
    .replace("127.0.0.1:3080", new URL(lab.base_url).host);
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

for (const proxy of PROXIES) {
  const installed = isFile(proxy.program)
    ? null
    : `${proxy.language} is not installed (apt-get install ${proxy.package})`;
  testWhere(
    labMissing() ?? installed,
    `the README's configuration of ${proxy.language} serves GNS3 and the chat from one origin`,
    async () => {
      await using lab = await startLab({ version: "3.1.0a7", vpcs: 1, slot: 48 });
      await using copilot = await startCopilot(lab);
      const dir = await Deno.makeTempDir({ prefix: "proxy-" });
      const port = freePort();
      const shown = await shownFor(proxy, lab, copilot.url, port);
      await Deno.writeTextFile(`${dir}/proxy.conf`, proxy.file(shown));
      const running = new Deno.Command(proxy.program, {
        args: proxy.args(dir),
        env: { HOME: dir, XDG_CONFIG_HOME: dir, XDG_DATA_HOME: dir },
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

        // GNS3's file routes give out files of the project, and no conversations.
        const files = `/v3/projects/${lab.project.project_id}/files/`;
        const own = await fetch(`${url}${files}project-files/../${lab.project.name}.gns3`, { headers });
        assert.match(await own.text(), /"topology"/);
        for (
          const spelling of [
            "gns3-copilot/copilot_checkpoints.db",
            "%67ns3-copilot/copilot_checkpoints.db-wal",
            "%2567ns3%252Dcopilot/copilot_checkpoints.db",
            "project-files%2F..%2Fgns3-copilot%2Fcopilot_checkpoints.db",
            "project-files%2F..%2F..%2F%2567ns3-copilot/copilot_checkpoints.db",
            "/gns3-copilot//copilot_checkpoints.db",
          ]
        ) {
          for (const method of ["GET", "POST"]) {
            const refused = await fetch(url + files + spelling, { method, headers });
            assert.deepEqual([refused.status, (await refused.json()).code], [403, "forbidden"], spelling);
          }
        }

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
        const me = await (await fetch(`${url}/v3/access/users/me/`, { headers })).json();
        const configs = await fetch(`${url}/v3/access/users/${me.user_id}/llm-model-configs`, { headers });
        assert.deepEqual([configs.status, (await configs.json()).total], [200, 0]);
      } finally {
        running.kill("SIGTERM");
        await running.status;
        await Deno.remove(dir, { recursive: true });
      }
    },
  );
}
