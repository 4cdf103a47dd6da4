// H8: a GNS3 server behind TLS whose certificate no public authority has signed.
import assert from "node:assert/strict";
import { join } from "node:path";
import { startPracticeGns3 } from "../../src/practice/gns3_server.ts";
import { startPracticeModel } from "../../src/practice/model.ts";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { type Program, startFromSource, startProgram, workspace } from "../fakes/program.ts";
import { EXECUTABLE, NO_EXECUTABLE, testWhere } from "./needs.ts";

const FILES = new URL("../testdata/tls/", import.meta.url);
const fileOf = (name: string) => new URL(name, FILES).pathname;

/** TLS in front of a port of this machine. */
function tlsProxy(port: number) {
  const [cert, key] = ["server.pem", "server.key"].map((name) => Deno.readTextFileSync(fileOf(name)));
  const listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert: cert!, key: key! });
  const pass = async (conn: Deno.TlsConn) => {
    const there = await Deno.connect({ hostname: "127.0.0.1", port });
    // Either side may refuse or leave at any time.
    await Promise.allSettled([conn.readable.pipeTo(there.writable), there.readable.pipeTo(conn.writable)]);
  };
  const accepting = (async () => {
    for await (const conn of listener) void pass(conn);
  })();
  return {
    url: `https://localhost:${listener.addr.port}`,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await accepting;
    },
  };
}

type Start = (args: string[], env: Record<string, string>) => Program;

async function story(start: Start) {
  const space = workspace();
  const gns3 = await startPracticeGns3({ projectsDir: join(space.dir, "projects") });
  await using proxy = tlsProxy(Number(new URL(gns3.url).port));
  const model = await startPracticeModel();
  const programs: Program[] = [];
  const begin = async (env: Record<string, string>) => {
    const program = start([...space.options, "--gns3-url", proxy.url, "--gateway"], {
      OPENAI_BASE_URL: model.url,
      OPENAI_MODEL: "scripted",
      GNS3_COPILOT_CONTEXT_LIMIT: "128",
      ...env,
    });
    programs.push(program);
    const [url] = await program.until(/http:\/\/127\.0\.0\.1:\d+(?=\s+GNS3)/);
    return async (path: string, body?: unknown) => {
      const response = await fetch(url + path, {
        headers: { Authorization: `Bearer ${gns3.tokens.alice}`, "Content-Type": "application/json" },
        ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
      });
      return { status: response.status, text: await response.text() };
    };
  };
  try {
    const chat = `/v3/projects/${gns3.projectId}/chat`;
    const distrusting = await begin({ DENO_TLS_CA_STORE: "mozilla" });
    for (const path of ["/ready", `${chat}/sessions`]) {
      const { status, text } = await distrusting(path);
      assert.equal(status, 503, `${path}: ${text}`);
      assert.match(
        text,
        /certificate of the GNS3 server at https:\/\/localhost:\d+ is not trusted\. .*DENO_CERT/,
      );
    }
    // What the gateway's client says of a certificate differs with Deno's version; older ones say nothing.
    assert.equal((await distrusting("/v3/projects")).status, 503);
    const trusting = await begin({ DENO_CERT: fileOf("ca.pem") });
    assert.equal((await trusting("/ready")).status, 200);
    assert.equal((await trusting("/v3/projects")).status, 200);
    const show = { device_configs: [{ device_name: "PC1", commands: ["show ip"] }] };
    const key = model.script("tls", [
      toolCalls([{ id: "show", name: "execute_vpcs_commands", args: show }]),
      text("Seen."),
    ]);
    const { text: stream } = await trusting(`${chat}/stream`, { message: key });
    assert.match(stream, /"tool_end".*10\.0\.1\.10.*"status":"success"/);
    assert.match(stream, /"type":"done"/);
  } finally {
    for (const program of programs) {
      program.kill("SIGKILL");
      await program.ended();
    }
    await model.close();
    await gns3.close();
    space.close();
  }
}

Deno.test("from source: a private certificate is refused with advice, and used when DENO_CERT names its authority", () =>
  story((args, env) => startFromSource(args, { env })));

testWhere(
  NO_EXECUTABLE,
  "executable: a private certificate is refused with advice, and used when DENO_CERT names its authority",
  () => story((args, env) => startProgram(EXECUTABLE, args, env)),
);
