// The helper over a real channel: what it reads and what it refuses; with real tshark where that is installed.
import assert from "node:assert/strict";
import { join } from "node:path";
import { findProgram } from "../../src/cli/find_program.ts";
import { AppError } from "../../src/domain/error.ts";
import { HostClient } from "../../src/host/client.ts";
import { startHelper } from "../../src/host/helper.ts";
import type { Query } from "../../src/host/query.ts";
import { testWhere } from "../e2e/needs.ts";
import { arp, pcap, ping } from "./pcap.ts";

const TSHARK = findProgram("tshark", Deno.env.get("PATH"));
const missing = TSHARK ? null : "tshark is not installed";
const forever = new AbortController().signal;

interface Setup {
  client: HostClient;
  /** Sends what no client would. */
  raw: MessagePort;
  projects: string;
  project: string;
  write(name: string, bytes: Uint8Array): string;
}

async function withHelper(
  test: (setup: Setup) => Promise<void>,
  options: { tshark?: string; timeoutMs?: number; mostOutput?: number } = {},
): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const projects = join(base, "projects");
  const project = join(projects, "p1");
  await Deno.mkdir(join(project, "project-files", "captures"), { recursive: true });
  const { port1, port2 } = new MessageChannel();
  const helper = startHelper({ port: port1, projectsDir: projects, tshark: TSHARK, ...options });
  const client = new HostClient(port2);
  const write = (name: string, bytes: Uint8Array) => {
    const path = join(project, "project-files", "captures", name);
    Deno.writeFileSync(path, bytes);
    return path;
  };
  try {
    await test({ client, raw: port2, projects, project, write });
  } finally {
    client.close();
    helper.close();
    await Deno.remove(base, { recursive: true });
  }
}

async function failure(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(() => assert.fail("nothing was thrown"), (error) => error);
  assert.ok(error instanceof AppError, String(error));
  return error;
}

testWhere(missing, "the helper has tshark read a file of a project", async () => {
  await withHelper(async ({ client, project, write }) => {
    const source = { kind: "file" as const, path: write("a.pcap", pcap([arp, ping, ping])), within: project };
    const all = await client.analyze(source, {}, forever);
    assert.equal(all.lines, 3);
    assert.match(
      all.output,
      /ARP 42 Who has 10\.0\.0\.2\? Tell 10\.0\.0\.1\n.*ICMP 74 Echo \(ping\) request/,
    );
    assert.deepEqual([all.packetCut, all.outputCut, all.timedOut, all.problem], [
      false,
      false,
      false,
      undefined,
    ]);
    const fields = await client.analyze(source, { filter: "icmp", fields: ["ip.src", "ip.dst"] }, forever);
    assert.equal(fields.output, "ip.src\tip.dst\n10.0.0.1\t10.0.0.2\n10.0.0.1\t10.0.0.2");
    assert.equal(fields.lines, 2);
    const report = await client.analyze(source, { statistics: ["io,phs"] }, forever);
    assert.match(report.output, /icmp +frames:2 bytes:148/);
    assert.match((await client.analyze(source, { last: 1 }, forever)).output, /^ +3 /);
    assert.equal((await client.analyze(source, { first: 1 }, forever)).lines, 1);
  });
});

testWhere(missing, "the helper has tshark read bytes that came in the message", async () => {
  await withHelper(async ({ client }) => {
    const { lines } = await client.analyze({ kind: "bytes", bytes: pcap([ping]) }, {}, forever);
    assert.equal(lines, 1);
  });
});

// H1, H7
testWhere(
  missing,
  "the helper tells an empty capture and one that ends in the middle of a packet",
  async () => {
    await withHelper(async ({ client }) => {
      const read = (bytes: Uint8Array<ArrayBuffer>, query: Query = {}) =>
        client.analyze({ kind: "bytes", bytes }, query, forever);
      for (const bytes of [new Uint8Array(0), pcap([]).slice(0, 3), pcap([])]) {
        const { lines, problem, captureBytes } = await read(bytes);
        assert.deepEqual([lines, problem, captureBytes], [0, undefined, bytes.length]);
      }
      for (const query of [{}, { statistics: ["io,phs"] }, { filter: "icmp" }]) {
        const cut = await read(pcap([arp, ping, ping]).slice(0, -20), query);
        assert.deepEqual([cut.packetCut, cut.problem], [true, undefined]);
      }
      assert.equal((await read(pcap([arp, ping, ping]).slice(0, -20))).lines, 2);
    });
  },
);

// H3, H5
testWhere(missing, "the helper passes on what tshark complains about, and names unknown fields", async () => {
  await withHelper(async ({ client }) => {
    const source = { kind: "bytes" as const, bytes: pcap([ping]) };
    const bad = await client.analyze(source, { filter: "icmpp" }, forever);
    assert.match(bad.problem!, /^"?icmpp"? is neither a field nor a protocol name/);
    assert.doesNotMatch(bad.problem!, /Running as user|tshark:/);
    const unknown = await client.analyze(source, { fields: ["ip.src", "foo.bar", "baz"] }, forever);
    assert.deepEqual(unknown.unknownFields?.toSorted(), ["baz", "foo.bar"]);
  });
});

// H3
testWhere(missing, "the helper finds fields by a word as it stands, names before descriptions", async () => {
  await withHelper(async ({ client }) => {
    const { fields, total } = await client.searchFields("ospf.HELLO", 10, forever);
    assert.ok(
      fields.some(({ name, type }) => name === "ospf.hello.hello_interval" && type.startsWith("uint")),
      JSON.stringify(fields),
    );
    assert.ok(total >= fields.length && fields.length <= 10);
    const icmp = await client.searchFields("icmp", 5, forever);
    assert.deepEqual([icmp.fields[0]!.name, icmp.fields.length, icmp.total > 5], ["icmp", 5, true]);
    assert.deepEqual(await client.searchFields("ospf .*", 10, forever), { fields: [], total: 0 });
  });
});

testWhere(missing, "the helper bounds the output and the time, and says so", async () => {
  await withHelper(async ({ client }) => {
    const long = await client.analyze({ kind: "bytes", bytes: pcap(Array(200).fill(ping)) }, {}, forever);
    assert.equal(long.outputCut, true);
    assert.ok(long.output.length < 1_200 && long.problem === undefined);
  }, { mostOutput: 1_000 });
});

Deno.test("the helper stops a program that takes too long, and one whose turn was stopped", async () => {
  const slow = join(await Deno.makeTempDir(), "tshark");
  await Deno.writeTextFile(slow, "#!/bin/sh\necho begun\nexec sleep 60\n", { mode: 0o755 });
  const source = { kind: "bytes" as const, bytes: pcap([ping]) };
  await withHelper(async ({ client }) => {
    const late = await client.analyze(source, {}, forever);
    assert.deepEqual([late.timedOut, late.output, late.problem], [true, "begun", undefined]);
  }, { tshark: slow, timeoutMs: 300 });
  await withHelper(async ({ client }) => {
    const stop = new AbortController();
    const asked = client.analyze(source, {}, stop.signal);
    // Two run at once, so the third waits for its turn and is never started.
    const others = [client.analyze(source, {}, stop.signal), client.analyze(source, {}, stop.signal)];
    setTimeout(() => stop.abort(new DOMException("stopped", "AbortError")), 200);
    for (const one of [asked, ...others]) await assert.rejects(one, { name: "AbortError" });
  }, { tshark: slow, timeoutMs: 60_000 });
  await Deno.remove(join(slow, ".."), { recursive: true });
});

// H5
Deno.test("without tshark the helper says so in one sentence", async () => {
  await withHelper(async ({ client }) => {
    const error = await failure(client.analyze({ kind: "bytes", bytes: pcap([ping]) }, {}, forever));
    assert.equal(error.code, "unavailable");
    assert.match(error.message, /^tshark is not installed .*apt-get install tshark.*opened in Wireshark/);
    assert.equal((await failure(client.searchFields("x", 1, forever))).code, "unavailable");
  }, { tshark: undefined });
});

Deno.test("the helper reads no file but a capture inside the project's folder, whatever links say", async () => {
  await withHelper(async ({ client, projects, project, write }) => {
    const outside = join(projects, "..", "secret.pcap");
    await Deno.writeFile(outside, pcap([ping]));
    await Deno.mkdir(join(projects, "p2"));
    await Deno.writeFile(join(projects, "p2", "b.pcap"), pcap([ping]));
    await Deno.symlink(outside, join(project, "link.pcap"));
    await Deno.symlink(join(projects, ".."), join(projects, "p3"));
    const read = async (path: string, within = project) => {
      const error = await failure(client.analyze({ kind: "file", path, within }, {}, forever));
      assert.doesNotMatch(error.message, /secret|projects|\//);
      return error.code;
    };
    assert.equal(await read(outside), "forbidden");
    assert.equal(await read(join(project, "link.pcap")), "forbidden");
    assert.equal(await read(join(project, "..", "p2", "b.pcap")), "forbidden");
    assert.equal(await read(outside, join(projects, "..")), "forbidden");
    assert.equal(await read(join(projects, "p3", "secret.pcap"), join(projects, "p3")), "forbidden");
    assert.equal(await read("/etc/passwd", "/etc"), "forbidden");
    assert.equal(await read(project), "forbidden");
    assert.equal(await read(join(project, "none.pcap")), "not_found");
    assert.equal(await read(write("notes.txt", new TextEncoder().encode("not packets"))), "bad_request");
  }, { tshark: TSHARK ?? "/bin/true" });
});

Deno.test("the helper refuses messages of another form", async () => {
  await withHelper(async ({ raw, project }) => {
    const answers: unknown[] = [];
    raw.onmessage = ({ data }) => answers.push(data);
    const source = { kind: "file", path: "/x", within: project };
    raw.postMessage({ type: "run", id: 1, command: ["sh", "-c", "id"] });
    raw.postMessage({ type: "analyze", id: 2, source, query: { filter: "ip", args: ["-w", "x"] } });
    raw.postMessage({ type: "analyze", id: 3, source, query: {}, program: "/bin/sh" });
    raw.postMessage("hello");
    while (answers.length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.deepEqual(
      answers,
      [1, 2, 3].map((id) => ({
        type: "failed",
        id,
        code: "bad_request",
        message: "The helper does not do that.",
      })),
    );
  });
});
