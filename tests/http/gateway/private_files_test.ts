import assert from "node:assert/strict";
import { exchange, gatewayTo, upstream } from "./gateway_server.ts";

const PROJECT = "/v3/projects/438ab39b-d78d-4c48-944c-a987cea63540";

/** Ways to say `gns3-copilot/copilot_checkpoints.db` to GNS3, on one file system or another. */
const SPELLINGS = [
  "gns3-copilot/copilot_checkpoints.db",
  "gns3-copilot/copilot_checkpoints.db-wal",
  ".gns3-copilot/checkpoint.db",
  "gns3-copilot",
  "%67ns3-copilot/x",
  "gns3%2Dcopilot%2Fcopilot_checkpoints.db",
  "gns3-copilot%2fx",
  "gns3%252Dcopilot/x",
  "%2525252567ns3-copilot/x",
  "%%36%37ns3-copilot/x",
  "./gns3-copilot/x",
  "%2e/gns3-copilot/x",
  "project-files/../gns3-copilot/x",
  "project-files/..%2Fgns3-copilot/x",
  "project-files%2F%252e%252e%2Fgns3-copilot%2Fx",
  "a/..%5Cgns3-copilot%5Cx",
  "/gns3-copilot//x",
  "%2Fsrv/projects/438ab39b/gns3-copilot/x",
  "GNS3-Copilot/x",
  "gn%C5%BF3-copilot/x",
  "gns3-%E2%80%8Bcopilot/x",
  "gns3-copilot./x",
  "gns3-copilot%20/x",
  "gns3-copilot::$INDEX_ALLOCATION/x",
  `%${"25".repeat(40)}67ns3-copilot/x`,
];

/** What is others' and passes. */
const OTHERS = [
  `${PROJECT}/files/README.txt`,
  `${PROJECT}/files/project-files/dynamips/n/configs/i1_startup-config.cfg`,
  `${PROJECT}/files/100%25%20done.txt`,
  `${PROJECT}/files/%FF%zz`,
  `${PROJECT}/files/gns3-copilot-notes.txt`,
  `${PROJECT}/files/notes/my-gns3-copilot/x`,
  `${PROJECT}/nodes/n/files/startup.vpc`,
  `${PROJECT}/export`,
  "/v3/images/gns3-copilot",
];

Deno.test("the gateway gives GNS3 no file request for a folder with conversations, however it is spelled", async () => {
  const seen: string[] = [];
  await using gns3 = upstream((request) => {
    seen.push(`${request.method} ${new URL(request.url).pathname}`);
    return new Response("words of others");
  });
  await using gateway = gatewayTo(gns3.url);
  const ask = (method: string, target: string) =>
    exchange(
      gateway.url,
      `${method} ${target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer abc\r\nconnection: close\r\n` +
        `content-length: 0\r\n\r\n`,
    );
  for (const spelling of SPELLINGS) {
    for (
      const [method, files] of [
        ["GET", `${PROJECT}/files/`],
        ["POST", `${PROJECT}/files/`],
        ["DELETE", `${PROJECT}/nodes/n/files/`],
        ["HEAD", "/v3/compute/projects/438ab39bd78d4c48944ca987cea63540/files/"],
        ["GET", `/v3/%70rojects/p/f%69les/`],
      ] as const
    ) {
      const { head, body } = await ask(method, files + spelling);
      assert.match(head, /^HTTP\/1\.1 403 /, `${method} ${files}${spelling}`);
      if (method === "HEAD") continue;
      const { code, message } = JSON.parse(new TextDecoder().decode(body));
      assert.equal(code, "forbidden");
      assert.match(message, /^The project's conversations are not given out .*\.$/);
    }
  }
  assert.deepEqual(seen, []);
  for (const path of OTHERS) {
    assert.match((await ask("GET", path)).head, /^HTTP\/1\.1 200 /, path);
    assert.equal(seen.pop(), `GET ${path}`);
  }
});
