// The gateway as the program runs it, in its sandbox, from source and as the executable, before a practice GNS3 server.
import assert from "node:assert/strict";
import { join } from "node:path";
import { startPracticeGns3 } from "../../src/practice/gns3_server.ts";
import { type Program, startFromSource, startProgram, workspace } from "../fakes/program.ts";
import { EXECUTABLE, NO_EXECUTABLE, testWhere } from "./needs.ts";

async function passesOn(start: (args: string[]) => Program): Promise<void> {
  const space = workspace();
  const gns3 = await startPracticeGns3({ projectsDir: join(space.dir, "projects"), pingInterval: 50 });
  const program = start([...space.options, "--gns3-url", gns3.url, "--gateway", "--log-level", "debug"]);
  try {
    const [url] = await program.until(/http:\/\/127\.0\.0\.1:\d+(?=\s+GNS3)/);
    const { alice } = gns3.tokens;
    const headers = { authorization: `Bearer ${alice}`, "accept-encoding": "gzip, br" };
    assert.deepEqual(
      await (await fetch(`${url}/v3/version`)).json(),
      await (await fetch(`${gns3.url}/v3/version`)).json(),
    );
    assert.equal(
      (await fetch(`${url}/v3/projects/${gns3.projectId}/chat/sessions`, { headers })).status,
      200,
    );

    // Each line when it comes, and GNS3 is left when the client leaves.
    const leave = new AbortController();
    const stream = await fetch(`${url}/v3/notifications`, { headers, signal: leave.signal });
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let i = 0; i < 3; i++) assert.match((await reader.read()).value!, /"ping"/);
    leave.abort();
    await reader.closed.catch(() => {});

    const at = `/v3/projects/${gns3.projectId}/nodes/${gns3.nodeId("PC1")}/console/ws?token=${alice}`;
    const socket = new WebSocket(`${url!.replace("http", "ws")}${at}`);
    socket.binaryType = "arraybuffer";
    let said = "";
    const prompted = Promise.withResolvers<void>();
    socket.onmessage = ({ data }) => {
      said += typeof data === "string" ? data : new TextDecoder("latin1").decode(data);
      if (/PC1> [\s\S]*IP\/MASK/.test(said)) prompted.resolve();
    };
    socket.onopen = () => socket.send("\rshow ip\r");
    await prompted.promise;

    // An open console does not hold it up.
    const closed = new Promise<number>((resolve) => socket.onclose = ({ code }) => resolve(code));
    program.kill("SIGTERM");
    assert.equal(await closed, 1001);
    const { code, out, err } = await program.ended();
    assert.equal(code, 0, err);
    assert.doesNotMatch(err, /ERROR|WARN/);
    assert.ok(!(out + err).includes(alice!), "a token is in the log");
  } finally {
    program.kill("SIGKILL");
    await program.ended();
    await gns3.close();
    space.close();
  }
}

Deno.test("from source: the gateway passes answers, streams and consoles on, and stops in good order", () =>
  passesOn((args) => startFromSource(args)));

testWhere(
  NO_EXECUTABLE,
  "executable: the gateway passes answers, streams and consoles on, and stops in good order",
  () => passesOn((args) => startProgram(EXECUTABLE, args, { HOME: "/nonexistent" })),
);
