// A GNS3 server behind HTTPS whose certificate no public authority has signed. The ones here were made for this test
// with openssl; the authority's key was thrown away.
import assert from "node:assert/strict";
import { Gns3Client } from "../../src/gns3/client.ts";
import { startPracticeGns3 } from "../../src/practice/gns3_server.ts";
import { startPracticeModel } from "../../src/practice/model.ts";
import { text, toolCalls } from "../../src/practice/model_script.ts";
import { API_KEY, Chat } from "../fakes/chat.ts";
import { startFromSource, workspace } from "../fakes/program.ts";

const file = (name: string) => new URL(`../testdata/tls/${name}`, import.meta.url).pathname;

/** Takes TLS off connections and passes them to a port of this machine. */
function tlsBefore(port: number) {
  const listener = Deno.listenTls({
    hostname: "127.0.0.1",
    port: 0,
    cert: Deno.readTextFileSync(file("server.pem")),
    key: Deno.readTextFileSync(file("server.key")),
  });
  const join = async (outside: Deno.TlsConn) => {
    const inside = await Deno.connect({ hostname: "127.0.0.1", port });
    await Promise.allSettled([
      outside.readable.pipeTo(inside.writable),
      inside.readable.pipeTo(outside.writable),
    ]);
  };
  const joined: Promise<void>[] = [];
  const served = (async () => {
    for await (const connection of listener) joined.push(join(connection).catch(() => {}));
  })().catch(() => {});
  return {
    url: `https://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`,
    async [Symbol.asyncDispose]() {
      listener.close();
      await served;
      await Promise.all(joined);
    },
  };
}

// H8
Deno.test("a certificate that is not trusted is refused, and the refusal says what to do", async () => {
  await using gns3 = await practice();
  await using tls = tlsBefore(gns3.port);
  const client = new Gns3Client({ baseUrl: tls.url, credential: "x" });
  await assert.rejects(client.version(), {
    code: "unavailable",
    message:
      /^The TLS certificate of the GNS3 server at https:\/\/127\.0\.0\.1:\d+ is not trusted here\. .*DENO_TLS_CA_STORE/,
  });
});

// H8
Deno.test("with its authority in the machine's store, GNS3's API, a console and the gateway work over HTTPS", async () => {
  await using gns3 = await practice();
  await using tls = tlsBefore(gns3.port);
  const space = workspace();
  const model = await startPracticeModel({ apiKey: API_KEY });
  const places = [
    "--gns3-url",
    tls.url,
    "--projects-dir",
    gns3.projectsDir,
    "--state-dir",
    `${space.dir}/state`,
  ];
  const program = startFromSource([...places, "--gateway", "--port", "0", "--log-format", "json"], {
    env: {
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: API_KEY,
      OPENAI_MODEL: "practice-1",
      GNS3_COPILOT_CONTEXT_LIMIT: "128",
      DENO_TLS_CA_STORE: "mozilla,system",
      // Stands for the machine's store.
      SSL_CERT_FILE: file("ca.pem"),
    },
  });
  try {
    const [, url] = await program.until(/"address":"(http:\/\/[\d.:]+)"/);
    const chat = new Chat(url!, gns3.projectId, gns3.tokens.alice!);
    const look = {
      name: "execute_vpcs_commands",
      args: { device_configs: [{ device_name: "PC1", commands: ["show ip"] }] },
    };
    const turn = await chat.send(model.script("tls", [toolCalls([look]), text("Done.")]));
    assert.match(turn.of("tool_end")[0]!.tool_output, /10\.0\.1\.10\/24/);
    const version = await fetch(`${url}/v3/version`);
    assert.equal(version.status, 200, await version.text());
  } finally {
    program.kill("SIGTERM");
    await program.ended();
    await model.close();
    space.close();
  }
});

async function practice() {
  const gns3 = await startPracticeGns3();
  const { url, projectsDir, projectId, tokens } = gns3;
  return {
    port: Number(new URL(url).port),
    projectsDir,
    projectId,
    tokens,
    [Symbol.asyncDispose]: () => gns3.close(),
  };
}
