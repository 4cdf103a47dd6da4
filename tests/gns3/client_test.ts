// The GNS3 client against a small real server, and GNS3's own error texts as both versions sent them.
import assert from "node:assert/strict";
import { AppError } from "../../src/domain/error.ts";
import { Gns3Client } from "../../src/gns3/client.ts";
import { FakeGns3, PROJECT_ID } from "./fake_gns3.ts";

const client = (fake: FakeGns3, more: Partial<ConstructorParameters<typeof Gns3Client>[0]> = {}) =>
  new Gns3Client({ baseUrl: fake.baseUrl, credential: "alice", ...more });

async function failure(work: Promise<unknown>): Promise<AppError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof AppError, `not an AppError: ${error}`);
    return error;
  }
  throw new Error("nothing was thrown");
}

function answering(status: number, body: unknown): () => Response {
  return () => new Response(typeof body === "string" ? body : JSON.stringify(body), { status });
}

Deno.test("Gns3Client sends the credential as a bearer token and reads the user, project, nodes and links", async () => {
  await using fake = new FakeGns3();
  fake.add("PC1");
  const gns3 = client(fake);
  assert.deepEqual(await gns3.me(), { user_id: "id-of-alice", username: "alice", is_superadmin: false });
  assert.equal((await gns3.project(PROJECT_ID)).status, "opened");
  const topology = await gns3.topology(PROJECT_ID);
  assert.deepEqual(topology.nodes.map((node) => node.name), ["PC1"]);
  assert.deepEqual(topology.links, []);
  assert.ok(fake.seen.every(({ authorization }) => authorization === "Bearer alice"));
});

Deno.test("Gns3Client reduces nodes to the domain's fields: credentials never leave it", async () => {
  await using fake = new FakeGns3();
  fake.add("R1", {
    node_type: "qemu",
    netmiko_device_type: "cisco_ios_telnet",
    default_username: "root",
    default_password: "s3cret",
  });
  const [node] = await client(fake).nodes(PROJECT_ID);
  assert.ok(!JSON.stringify(node).includes("s3cret") && !JSON.stringify(node).includes("root"));
  assert.deepEqual(node!.tags, ["device_type:cisco_ios_telnet"]);
});

// F23
Deno.test("Gns3Client.credentials gives a console's name and password, or that there is none", async () => {
  await using fake = new FakeGns3();
  const known = fake.add("R1", { default_username: "root", default_password: "s3cret" });
  const unknown = fake.add("R2");
  const empty = fake.add("R3", { default_username: "", default_password: "" });
  const password = fake.add("R4", { default_password: "s3cret" });
  const of = ({ node_id }: { node_id: string }) => client(fake).credentials(PROJECT_ID, node_id);
  assert.deepEqual(await of(known), { username: "root", password: "s3cret" });
  assert.equal(await of(unknown), undefined);
  assert.equal(await of(empty), undefined);
  assert.deepEqual(await of(password), { username: "", password: "s3cret" });
});

// F15
Deno.test("Gns3Client tells a template's device type as a tag, and a node's image without its folder", async () => {
  await using fake = new FakeGns3();
  fake.instead.set(
    "GET /v3/templates",
    answering(200, [
      {
        template_id: "a",
        name: "A",
        template_type: "qemu",
        netmiko_device_type: "cisco_ios_telnet",
        tags: ["x"],
      },
      {
        template_id: "b",
        name: "B",
        template_type: "qemu",
        netmiko_device_type: "x",
        tags: ["device_type:y"],
      },
      { template_id: "c", name: "C", template_type: "qemu" },
    ]),
  );
  assert.deepEqual((await client(fake).templates()).map(({ tags }) => tags), [
    ["x", "device_type:cisco_ios_telnet"],
    ["device_type:y"],
    [],
  ]);
  const image = (properties: unknown) => {
    fake.instead.set(
      `GET /v3/projects/${PROJECT_ID}/nodes`,
      answering(200, [{ ...fake.add("X"), properties }]),
    );
    return client(fake).nodes(PROJECT_ID).then(([node]) => node!.image);
  };
  assert.equal(await image({ hda_disk_image: "vios.qcow2" }), "vios.qcow2");
  assert.equal(await image({ hda_disk_image: "/home/u/GNS3/images/QEMU/vios.qcow2" }), "vios.qcow2");
  assert.equal(await image({ image: "frrouting/frr:v8.4" }), "frrouting/frr:v8.4");
  assert.equal(await image({ path: "C:\\images\\iol.bin" }), "iol.bin");
  assert.equal(await image({}), undefined);
});

Deno.test("Gns3Client reads a closed project's nodes, which lack status, ports and console host", async () => {
  await using fake = new FakeGns3();
  const bare = {
    node_id: "n",
    name: "PC1",
    node_type: "vpcs",
    console: 5000,
    console_type: "telnet",
    x: 1,
    y: 2,
  };
  fake.instead.set(`GET /v3/projects/${PROJECT_ID}/nodes`, answering(200, [bare]));
  const [node] = await client(fake).nodes(PROJECT_ID);
  assert.equal(node!.status, "stopped");
  assert.deepEqual([node!.ports, node!.tags], [[], []]);
});

// A17
Deno.test("Gns3Client starts with a body, and takes an empty 204 as well as the node as the answer", async () => {
  await using fake = new FakeGns3();
  const node = fake.add("PC1");
  for (const version of ["3.1.0a7", "3.0.6"]) {
    fake.version = version;
    await client(fake).startNode(PROJECT_ID, node.node_id);
    assert.equal(node.status, "started");
    await client(fake).stopNode(PROJECT_ID, node.node_id);
    assert.equal(node.status, "stopped");
  }
  assert.ok(fake.seen.every(({ body }) => JSON.stringify(body) === "{}"));
});

// G5: GNS3's own sentence reaches the user. The bodies are those of the real servers.
const REFUSALS: { name: string; status: number; body: unknown; code: string; message: string | RegExp }[] = [
  {
    name: "401",
    status: 401,
    body: { message: "Token has expired", code: "unauthorized" },
    code: "unauthorized",
    message: "GNS3 no longer accepts this sign-in: sign in again.",
  },
  {
    name: "403",
    status: 403,
    body: { message: "The project is not opened" },
    code: "forbidden",
    message: "The project is not opened",
  },
  {
    name: "404 of a project",
    status: 404,
    body: { message: "Project ID x doesn't exist", code: "project_not_found" },
    code: "project_not_found",
    message: "Project ID x doesn't exist",
  },
  {
    name: "409",
    status: 409,
    body: { message: "Port is already used", code: "port_in_use", details: { link_id: "l1" } },
    code: "conflict",
    message: "Port is already used",
  },
  {
    name: "405 of a compute",
    status: 405,
    body: {
      message:
        "HTTP error 405 received from compute 'lab' for request POST /projects/p/vpcs/nodes/n/suspend: Suspend is not supported for VPCS nodes",
    },
    code: "method_not_allowed",
    message: "Suspend is not supported for VPCS nodes",
  },
  {
    name: "422 of 3.1",
    status: 422,
    body: {
      message:
        "1 validation error:\n  {'type': 'list_type', 'loc': ('body', 'tags'), 'msg': 'Input should be a valid list', 'input': 'notalist'}\n\n  File \"/lab/lib/python3.11/site-packages/gns3server/api/routes/controller/nodes.py\", line 341, in update_node",
      code: "validation_error",
      details: {
        errors: [{ loc: ["body", "tags"], msg: "Input should be a valid list", type: "list_type" }],
      },
    },
    code: "validation_error",
    message: "GNS3 refused a value: tags: Input should be a valid list",
  },
  {
    name: "422 of 3.0",
    status: 422,
    body: {
      message:
        "1 validation error:\n  {'type': 'uuid_parsing', 'loc': ('path', 'project_id'), 'msg': 'Input should be a valid UUID', 'input': 'not-a-uuid'}\n\n  File \"/lab/lib/python3.11/site-packages/gns3server/api/routes/controller/projects.py\", line 128, in get_project",
    },
    code: "validation_error",
    message: "GNS3 refused a value: project_id: Input should be a valid UUID",
  },
  {
    name: "a message with a server's folder",
    status: 409,
    body: { message: "Disk image /home/gns3/GNS3/images/QEMU/vios.qcow2 is missing" },
    code: "conflict",
    message: "Disk image vios.qcow2 is missing",
  },
  {
    name: "a refusal of uBridge, with its log",
    status: 409,
    body: {
      message:
        "Error while sending command 'bridge add_packet_filter VPCS-1 filter0 bpf \"not a ( filter\"': Cannot compile filter 'not a ( filter': syntax error\nuBridge log\n10:00:00 bridge create VPCS-1 -> 100-OK",
    },
    code: "conflict",
    message: "Cannot compile filter 'not a ( filter': syntax error",
  },
  {
    name: "503",
    status: 503,
    body: { message: "busy" },
    code: "unavailable",
    message: /failed \(503\): busy$/,
  },
  {
    name: "a 500 that is no JSON",
    status: 500,
    body: "<html>",
    code: "unavailable",
    message: /failed \(500\)\.$/,
  },
];

for (const { name, status, body, code, message } of REFUSALS) {
  Deno.test(`Gns3Client turns ${name} into a readable ${code}`, async () => {
    await using fake = new FakeGns3();
    fake.instead.set("GET /v3/templates", answering(status, body));
    const error = await failure(client(fake).templates());
    assert.equal(error.code, code);
    if (message instanceof RegExp) assert.match(error.message, message);
    else assert.equal(error.message, message);
    assert.ok(!/\/lab|site-packages|File "/.test(error.message), error.message);
  });
}

Deno.test("Gns3Client never repeats the token that an answer quotes", async () => {
  await using fake = new FakeGns3();
  const message = "refused alice.secret.token at ws://x/console/ws?token=alice.secret.token";
  fake.instead.set("GET /v3/templates", answering(409, { message }));
  const error = await failure(client(fake, { credential: "alice.secret.token" }).templates());
  assert.ok(!error.message.includes("secret"), error.message);
});

// G9
Deno.test("Gns3Client tells that nothing listens at the address, and when to try again", async () => {
  await using fake = new FakeGns3();
  const { baseUrl } = fake;
  await fake[Symbol.asyncDispose]();
  const error = await failure(new Gns3Client({ baseUrl, credential: "alice" }).me());
  assert.equal(error.code, "unavailable");
  assert.equal(error.retryAfter, 5);
  assert.match(error.message, new RegExp(`^The GNS3 server at ${baseUrl} does not answer`));
});

// G9
Deno.test("Gns3Client gives up on a server that does not answer in time", async () => {
  await using fake = new FakeGns3();
  const held = Promise.withResolvers<Response>();
  fake.instead.set("GET /v3/templates", () => held.promise);
  const error = await failure(client(fake, { timeoutMs: 50 }).templates());
  assert.equal(error.code, "unavailable");
  assert.match(error.message, /did not answer within 0\.05 s/);
  held.resolve(new Response("[]"));
});

Deno.test("Gns3Client throws a signal's reason when the call or the client is aborted", async () => {
  await using fake = new FakeGns3();
  const held = Promise.withResolvers<Response>();
  fake.instead.set("GET /v3/templates", () => held.promise);
  for (const by of ["call", "client"]) {
    const stop = new AbortController();
    const gns3 = client(fake, by === "client" ? { signal: stop.signal } : {});
    const work = gns3.templates(by === "call" ? stop.signal : undefined);
    stop.abort(new Error("enough"));
    await assert.rejects(work, { message: "enough" });
  }
  held.resolve(new Response("[]"));
});

Deno.test("Gns3Client follows a redirect on the same host only, and takes its credential nowhere else", async () => {
  await using fake = new FakeGns3();
  await using other = new FakeGns3();
  const to = (location: string) => () => new Response(null, { status: 307, headers: { location } });
  fake.instead.set("GET /v3/templates", to(`${fake.baseUrl}/v3/computes`));
  await assert.rejects(client(fake).templates(), { code: "unavailable" }); // the shape differs, but it was followed
  assert.deepEqual(fake.paths(), ["GET /v3/templates", "GET /v3/computes"]);
  fake.instead.set("GET /v3/templates", to(`${other.baseUrl}/v3/templates`));
  const error = await failure(client(fake).templates());
  assert.equal(error.code, "unavailable");
  assert.match(error.message, /redirects elsewhere/);
  assert.deepEqual(other.seen, []);
});

Deno.test("Gns3Client says that something else answers when the answer is not GNS3's", async () => {
  await using fake = new FakeGns3();
  fake.instead.set("GET /v3/access/users/me", answering(200, "<html>hello</html>"));
  assert.match((await failure(client(fake).me())).message, /is not a GNS3 server/);
  fake.instead.set("GET /v3/access/users/me", answering(200, { hello: 1 }));
  assert.match((await failure(client(fake).me())).message, /is not a GNS3 3 server \(unexpected user_id/);
});

Deno.test("Gns3Client reads no answer that is larger than any of GNS3's, and ends it", async () => {
  await using fake = new FakeGns3();
  const piece = new Uint8Array(1024 * 1024).fill(120);
  for (const status of [200, 500]) {
    let sent = 0;
    const ended = Promise.withResolvers<void>();
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent++;
        controller.enqueue(piece);
      },
      cancel: () => ended.resolve(),
    });
    fake.instead.set("GET /v3/access/users/me", () => new Response(endless, { status }));
    const error = await failure(client(fake).me());
    assert.equal(error.code, "unavailable");
    assert.match(error.message, /sends more than a GNS3 server does/);
    await ended.promise;
    assert.ok(sent < 200, `${sent} MB were sent`);
  }
});

Deno.test("Gns3Client measures what a compressed answer becomes, not its length", async () => {
  await using fake = new FakeGns3();
  const pieces = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (let i = 0; i < 80; i++) controller.enqueue(new Uint8Array(1024 * 1024));
      controller.close();
    },
  });
  const packed = await new Response(pieces.pipeThrough(new CompressionStream("gzip"))).bytes();
  assert.ok(packed.length < 1024 * 1024);
  const headers = { "content-encoding": "gzip", "content-length": String(packed.length) };
  fake.instead.set("GET /v3/access/users/me", () => new Response(packed, { headers }));
  assert.match((await failure(client(fake).me())).message, /sends more than a GNS3 server does/);
});

Deno.test("Gns3Client refuses a credential that no header can carry, without quoting it", async () => {
  await using fake = new FakeGns3();
  for (const credential of ["", "a b", "tok\nen", "tökén"]) {
    const error = await failure(client(fake, { credential }).me());
    assert.equal(error.code, "unauthorized");
    assert.ok(!error.message.includes("tok"));
  }
  assert.deepEqual(fake.seen, []);
});

Deno.test("Gns3Client makes console addresses with the token, from http and https and below a path", () => {
  const url = (baseUrl: string) => new Gns3Client({ baseUrl, credential: "a+b/c" }).consoleUrl("p", "n");
  assert.equal(url("http://h:3080"), "ws://h:3080/v3/projects/p/nodes/n/console/ws?token=a%2Bb%2Fc");
  assert.equal(url("https://h/gns3/"), "wss://h/gns3/v3/projects/p/nodes/n/console/ws?token=a%2Bb%2Fc");
});

Deno.test("Gns3Client asks for the version once, and again after a failure", async () => {
  await using fake = new FakeGns3();
  const gns3 = client(fake);
  fake.instead.set("GET /v3/version", answering(503, ""));
  await assert.rejects(gns3.version(), { code: "unavailable" });
  fake.instead.clear();
  assert.deepEqual([await gns3.version(), await gns3.version()], ["3.1.0a7", "3.1.0a7"]);
  assert.equal(fake.seen.length, 2);
});
