// The practice GNS3 server: who may do what, the shapes and refusals of a real server, and its streams.
import assert from "node:assert/strict";
import { type Api, withGns3 } from "./lab.ts";

const UNKNOWN = "00000000-0000-4000-8000-000000000000";

// deno-lint-ignore no-explicit-any
const of = (answer: { body: unknown }): any => answer.body;

async function node(api: Api, name: string) {
  const { body } = await api.call("GET", `${api.at}/nodes/${api.gns3.nodeId(name)}`);
  return body as Record<string, unknown>;
}

Deno.test("logging in gives a token like a JWT; a wrong password and a missing, foreign, revoked or expired token are 401", async () => {
  await withGns3({}, async ({ gns3, call }) => {
    const login = await call("POST", "/v3/access/users/authenticate", {
      username: "alice",
      password: "practice-alice",
    }, "");
    assert.equal(login.status, 200);
    assert.match(of(login).access_token, /^[\w-]+\.[\w-]+\.[\w-]+$/);
    assert.deepEqual(Object.keys(of(login)), [
      "access_token",
      "token_type",
      "expires_in",
      "refresh_token",
      "refresh_expires_in",
    ]);
    const me = async (token: string, scheme = "Bearer") => {
      const response = await fetch(`${gns3.url}/v3/access/users/me`, {
        headers: token ? { authorization: `${scheme} ${token}` } : {},
      });
      return [response.status, await response.json(), response.headers.get("www-authenticate")];
    };
    const [status, user] = await me(of(login).access_token);
    assert.deepEqual([status, user.username, user.is_superadmin, user.user_id], [
      200,
      "alice",
      false,
      gns3.userIds.alice,
    ]);
    assert.equal((await me(of(login).access_token, "bearer"))[0], 200);
    const refused = (message: string) => [401, { message, code: "unauthorized" }, "Bearer"];
    assert.deepEqual(await me(""), refused("Not authenticated"));
    assert.deepEqual(await me("x", "Basic"), refused("Not authenticated"));
    assert.deepEqual(await me("nonsense"), refused("Invalid token (DecodeError)"));
    assert.deepEqual(await me("a.b.c"), refused("Invalid token signature"));
    assert.deepEqual(
      await me(of(login).refresh_token),
      refused("Refresh tokens cannot be used for API access"),
    );
    gns3.expire(of(login).access_token);
    assert.deepEqual(await me(of(login).access_token), refused("Token has expired"));
    gns3.revoke("alice");
    assert.deepEqual(await me(gns3.tokens.alice!), refused("Token has been revoked for 'alice'"));
    assert.equal((await me(gns3.newToken("alice")))[0], 200);
    const wrong = await call(
      "POST",
      "/v3/access/users/authenticate",
      { username: "alice", password: "x" },
      "",
    );
    assert.deepEqual([wrong.status, wrong.body], [401, {
      message: "Authentication was unsuccessful.",
      code: "unauthorized",
    }]);
    const query = await fetch(`${gns3.url}/v3/access/users/me?token=${gns3.tokens.bob}`);
    assert.equal((await query.json()).username, "bob");
  });
});

Deno.test("other people's and unknown projects are 403 for users, unknown ones 404 for the administrator", async () => {
  await withGns3({}, async ({ gns3, at, call }) => {
    const denied = { message: "Permission denied (privilege Project.Audit is required)", code: "forbidden" };
    for (const path of [`/v3/projects/${gns3.otherProjectId}`, `/v3/projects/${UNKNOWN}`]) {
      const answer = await call("GET", path);
      assert.deepEqual([answer.status, answer.body], [403, denied]);
    }
    const missing = await call("GET", `/v3/projects/${UNKNOWN}`, undefined, "admin");
    assert.deepEqual([missing.status, missing.body], [404, {
      message: `Project ID ${UNKNOWN} doesn't exist`,
      code: "project_not_found",
      details: { project_id: UNKNOWN },
    }]);
    const odd = await call("GET", "/v3/projects/not-a-uuid");
    assert.equal(odd.status, 422);
    assert.match(of(odd).message, /site-packages/, "the real server shows its paths here");
    assert.deepEqual(of(odd).details.errors[0].loc, ["path", "project_id"]);
    assert.deepEqual(of(await call("GET", "/v3/projects")).map((p: { name: string }) => p.name), [
      "practice-lab",
    ]);
    assert.equal(of(await call("GET", "/v3/projects", undefined, "admin")).length, 2);
    assert.equal((await call("POST", "/v3/projects", { name: "mine" })).status, 403);
    gns3.grant("bob", gns3.projectId, "User");
    assert.equal((await call("GET", at, undefined, "bob")).status, 200);
  });
});

Deno.test("whoever may only look, looks: no start, no change, no console", async () => {
  await withGns3({}, async (api) => {
    const pc = `${api.at}/nodes/${api.gns3.nodeId("PC1")}`;
    const as = (method: string, path: string, body?: unknown) => api.call(method, path, body, "carol");
    assert.equal((await as("GET", `${api.at}/nodes`)).status, 200);
    for (
      const [method, path, privilege] of [
        ["POST", `${pc}/stop`, "Node.PowerMgmt"],
        ["PUT", pc, "Node.Modify"],
        ["DELETE", pc, "Node.Allocate"],
        ["POST", `${api.at}/links`, "Link.Allocate"],
        ["POST", `${pc}/console/reset`, "Node.Console"],
        ["POST", `${api.at}/close`, "Project.Allocate"],
        ["DELETE", api.at, "Project.Allocate"],
      ] as const
    ) {
      const answer = await as(method, path, {});
      assert.deepEqual([answer.status, of(answer).message], [
        403,
        `Permission denied (privilege ${privilege} is required)`,
      ]);
    }
    assert.equal((await node(api, "PC1")).status, "started");
  });
});

/** What happens on a console WebSocket: what it sent first, and how it ended. */
function webSocket(
  url: string,
): Promise<{ opened: boolean; bytes: number[]; text: string; code: number; failed: boolean }> {
  return new Promise((resolve) => {
    const seen = { opened: false, bytes: [] as number[], text: "", code: 0, failed: false };
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => void (seen.opened = true);
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") return void (seen.text += data);
      const bytes = new Uint8Array(data);
      seen.bytes.push(...bytes);
      if (bytes[0] === 255) socket.send(Uint8Array.of(255, 252, 24, 13));
      seen.text += new TextDecoder().decode(bytes.filter((byte) => byte < 240));
      if (/> $/.test(seen.text)) socket.close();
    };
    socket.onerror = () => void (seen.failed = true);
    socket.onclose = ({ code }) => resolve({ ...seen, code });
  });
}

Deno.test("a console WebSocket carries telnet for who may use it, and is dropped without a word for others", async () => {
  await withGns3({}, async ({ gns3, at, call }) => {
    const address = (token: string, name = "PC1") =>
      `${gns3.url.replace("http", "ws")}${at}/nodes/${gns3.nodeId(name)}/console/ws${
        token && `?token=${token}`
      }`;
    const allowed = await webSocket(address(gns3.tokens.alice!));
    assert.deepEqual(allowed.bytes.slice(0, 3), [255, 253, 24]);
    assert.match(allowed.text, /\rPC1> $/);
    for (const user of ["carol", "bob"]) {
      const refused = await webSocket(address(gns3.tokens[user]!));
      assert.deepEqual([refused.opened, refused.bytes.length, refused.failed], [true, 0, true], user);
      assert.notEqual(refused.code, 1000);
    }
    assert.equal((await webSocket(address(""))).opened, false, "without a token there is no handshake");
    const foreign = await webSocket(address("nonsense"));
    assert.deepEqual([foreign.opened, foreign.code], [true, 1008]);
    assert.match(foreign.text, /log\.error.*Could not authenticate/);
    await call("POST", `${at}/nodes/${gns3.nodeId("PC1")}/stop`, {});
    const off = await webSocket(address(gns3.tokens.alice!));
    assert.deepEqual([off.opened, off.bytes.length], [true, 0]);
  });
});

Deno.test("stopping a node ends its WebSocket; WebSocket and telnet clients share one session", async () => {
  await withGns3({}, async (api) => {
    const { gns3, at } = api;
    const telnet = await api.console("PC1");
    const url = `${gns3.url.replace("http", "ws")}${at}/nodes/${
      gns3.nodeId("PC1")
    }/console/ws?token=${gns3.tokens.alice}`;
    const ended = webSocket(url);
    await telnet.until(/> $/);
    assert.match((await ended).text, /PC1> $/);
    const open = webSocket(url.replace(gns3.nodeId("PC1"), gns3.nodeId("R1")));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await api.call("POST", `${at}/nodes/stop`);
    assert.equal((await open).opened, true);
    await telnet.end();
  });
});

Deno.test("a node's fields are those of GNS3 3.1; in a closed project it loses its console and its status", async () => {
  await withGns3({}, async (api) => {
    const pc = await node(api, "PC1");
    assert.deepEqual(
      [pc.name, pc.node_type, pc.status, pc.console_type, pc.console_host, pc.tags, pc.project_id],
      ["PC1", "vpcs", "started", "telnet", "127.0.0.1", ["device_type:gns3_vpcs_telnet"], api.gns3.projectId],
    );
    const router = await node(api, "R1");
    assert.deepEqual([router.node_type, router.tags], ["dynamips", ["device_type:cisco_ios_telnet"]]);
    const ports = router.ports as {
      name: string;
      short_name: string;
      adapter_number: number;
      port_number: number;
    }[];
    assert.deepEqual(ports.map((p) => [p.name, p.short_name, p.adapter_number, p.port_number]), [
      ["FastEthernet0/0", "f0/0", 0, 0],
      ["FastEthernet0/1", "f0/1", 0, 1],
      ["FastEthernet1/0", "f1/0", 1, 0],
      ["FastEthernet1/1", "f1/1", 1, 1],
    ]);
    assert.equal((await api.call("POST", `${api.at}/close`)).status, 204);
    const closed = await node(api, "PC1");
    assert.deepEqual([closed.status, closed.console_host, closed.ports], [undefined, undefined, undefined]);
    const start = await api.call("POST", `${api.at}/nodes/${api.gns3.nodeId("PC1")}/start`, {});
    assert.deepEqual([start.status, start.body], [403, {
      message: "The project is not opened",
      code: "forbidden",
    }]);
    assert.equal(of(await api.call("GET", api.at)).status, "closed");
    assert.equal((await api.call("POST", `${api.at}/open`)).status, 200);
    assert.equal((await node(api, "PC1")).status, "stopped");
  });
});

Deno.test("nodes come from templates, with names that GNS3 makes unique", async () => {
  await withGns3({}, async (api) => {
    const templates = of(await api.call("GET", "/v3/templates")) as { name: string; template_id: string }[];
    const id = (name: string) => templates.find((t) => t.name === name)!.template_id;
    const make = async (template: string, body: unknown) =>
      await api.call("POST", `${api.at}/templates/${template}`, body);
    const pc = await make(id("VPCS"), { x: 1, y: 2 });
    assert.deepEqual([pc.status, of(pc).name, of(pc).status, of(pc).x, of(pc).template_id], [
      201,
      "PC3",
      "stopped",
      1,
      id("VPCS"),
    ]);
    assert.equal(
      of(await make(id("VPCS"), { x: 0, y: 0, name: "PC1" })).name,
      "PC4",
      "taken, so numbered anew",
    );
    assert.equal(of(await make(id("Practice router"), { x: 0, y: 0, name: "Edge 1" })).name, "Edge1");
    const gone = await make(UNKNOWN, { x: 0, y: 0 });
    assert.deepEqual([gone.status, gone.body], [404, {
      message: `Template '${UNKNOWN}' not found`,
      code: "not_found",
    }]);
    const wrong = await make(id("VPCS"), { x: "far" });
    assert.deepEqual([wrong.status, of(wrong).details.errors[0].loc], [422, ["body", "x"]]);
    const none = await api.call("GET", `${api.at}/nodes/${UNKNOWN}`);
    assert.deepEqual([none.status, of(none).code, of(none).message], [
      404,
      "node_not_found",
      `Node ID ${UNKNOWN} doesn't exist`,
    ]);
    const direct = await api.call("POST", `${api.at}/nodes`, {
      name: "Bare",
      node_type: "vpcs",
      compute_id: "local",
    });
    assert.equal(direct.status, 201);
    assert.equal(
      (await api.call("POST", `${api.at}/nodes`, { name: "Q", node_type: "qemu", compute_id: "local" }))
        .status,
      409,
    );
  });
});

Deno.test("a running node is not renamed; a stopped one is, and its device with it", async () => {
  await withGns3({}, async (api) => {
    const path = `${api.at}/nodes/${api.gns3.nodeId("PC1")}`;
    const running = await api.call("PUT", path, { name: "Other" });
    assert.deepEqual([running.status, of(running).message], [
      409,
      "Sorry, it is not possible to rename a node that is already powered on",
    ]);
    await api.call("POST", `${path}/stop`, {});
    assert.equal(of(await api.call("PUT", path, { name: "bad name" })).name, "badname");
    assert.equal(
      of(await api.call("PUT", path, { name: "PC2" })).name,
      "PC1",
      "PC2 is taken, PC1 is free again",
    );
    await api.call("PUT", path, { name: "Desk", x: 5, tags: ["a:b"] });
    assert.equal(of(await api.call("POST", `${path}/start`, {})).name, "Desk");
    const console = await api.console("Desk");
    assert.match(await console.wake(), /Desk> $/);
    const desk = of(await api.call("GET", path));
    assert.deepEqual([desk.x, desk.tags], [5, ["a:b"]]);
    assert.equal((await api.call("PUT", path, { tags: "notalist" })).status, 422);
    await api.call("PUT", path, { locked: true });
    assert.deepEqual((await api.call("DELETE", path)).status, 409);
  });
});

Deno.test("links: port in use 409, bad port 404, both ends on one node 409, and deleting a node takes its links", async () => {
  await withGns3({}, async (api) => {
    const end = (name: string, adapter_number: number, port_number: number) => ({
      node_id: api.gns3.nodeId(name),
      adapter_number,
      port_number,
    });
    const link = async (...nodes: unknown[]) => await api.call("POST", `${api.at}/links`, { nodes });
    const used = await link(end("PC1", 0, 0), end("R2", 1, 0));
    assert.deepEqual([used.status, of(used).code, of(used).message], [
      409,
      "port_in_use",
      "Port is already used",
    ]);
    assert.ok(of(used).details.link_id);
    const bad = await link(end("R1", 0, 9), end("R2", 1, 0));
    assert.deepEqual([bad.status, of(bad).code, of(bad).message], [
      404,
      "port_not_found",
      "Port 0/9 for R1 not found",
    ]);
    assert.equal((await link(end("R1", 1, 0), end("R1", 1, 1))).status, 409);
    assert.equal((await link(end("R1", 1, 0))).status, 422);
    const made = await link(end("R1", 1, 0), end("R2", 1, 0));
    assert.deepEqual([made.status, of(made).suspend, of(made).capturing, of(made).nodes[1].label.text], [
      201,
      false,
      false,
      "1/0",
    ]);
    assert.equal(of(await api.call("GET", `${api.at}/links`)).length, 4);
    assert.equal(of(await api.call("GET", `${api.at}/nodes/${api.gns3.nodeId("R1")}/links`)).length, 3);
    assert.equal((await api.call("DELETE", `${api.at}/nodes/${api.gns3.nodeId("R1")}`)).status, 204);
    assert.equal(of(await api.call("GET", `${api.at}/links`)).length, 1);
    const gone = await api.call("GET", `${api.at}/links/${of(made).link_id}`);
    assert.deepEqual([gone.status, of(gone).code], [404, "link_not_found"]);
  });
});

Deno.test("3.0.6 differs where it matters: no codes, 204 for actions, a body for start, no look at expiry, a blind Auditor", async () => {
  await withGns3({ version: "3.0.6" }, async (api) => {
    const pc = `${api.at}/nodes/${api.gns3.nodeId("PC1")}`;
    assert.deepEqual((await api.call("GET", api.at, undefined, "")).body, { message: "Not authenticated" });
    assert.equal((await api.call("GET", api.at, undefined, "carol")).status, 403);
    assert.deepEqual([
      (await api.call("POST", `${pc}/stop`, {})).status,
      (await api.call("POST", `${pc}/start`)).status,
    ], [204, 422]);
    const started = await api.call("POST", `${pc}/start`, {});
    assert.deepEqual([started.status, started.body], [204, null]);
    assert.equal((await api.call("POST", `${pc}/suspend`, {})).status, 204);
    assert.equal("tags" in await node(api, "PC1"), false);
    assert.deepEqual((await api.call("GET", "/v3/nothing")).body, { detail: "Not Found" });
    const old = api.gns3.newToken("alice");
    api.gns3.expire(old);
    const response = await fetch(`${api.gns3.url}/v3/access/users/me`, {
      headers: { authorization: `Bearer ${old}` },
    });
    await response.body?.cancel();
    assert.equal(response.status, 200);
    await api.call("POST", `${api.at}/close`);
    assert.equal((await api.call("POST", `${api.at}/open`)).status, 201);
  });
});

Deno.test("suspending: 405 for a PC, a frozen router", async () => {
  await withGns3({}, async (api) => {
    const suspend = (name: string) =>
      api.call("POST", `${api.at}/nodes/${api.gns3.nodeId(name)}/suspend`, {});
    const pc = await suspend("PC1");
    assert.deepEqual([pc.status, of(pc).code], [405, "method_not_allowed"]);
    assert.match(of(pc).message, /Suspend is not supported for VPCS nodes/);
    assert.equal(of(await suspend("R1")).status, "suspended");
  });
});

/** Reads JSON lines of a notification stream until `count` of them that are no pings have come. */
async function actions(
  url: string,
  token: string,
  work: () => Promise<void>,
  count: number,
): Promise<{ action: string; event: Record<string, unknown> }[]> {
  const abort = new AbortController();
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: abort.signal });
  assert.equal(response.status, 200);
  const seen: { action: string; event: Record<string, unknown> }[] = [];
  let text = "";
  let working: Promise<void> | null = null;
  try {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      working ??= work();
      text += chunk;
      const lines = text.split("\n");
      text = lines.pop()!;
      seen.push(...lines.map((line) => JSON.parse(line)));
      if (seen.filter(({ action }) => action !== "ping").length >= count) abort.abort();
    }
  } catch (error) {
    if (!abort.signal.aborted) throw error;
  }
  await working;
  return seen;
}

Deno.test("the controller's stream pings at once and tells everybody about every project; a project's own tells about nodes and links", async () => {
  await withGns3({ pingInterval: 20 }, async (api) => {
    const { gns3, at, call } = api;
    const controller = await actions(`${gns3.url}/v3/notifications`, gns3.tokens.bob!, async () => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      await call("POST", `${at}/close`);
      await call("POST", `${at}/open`);
      await call("PUT", at, { name: "renamed" });
      await call("DELETE", at, undefined, "admin");
    }, 5);
    assert.equal(controller[0]!.action, "ping");
    assert.ok(controller.filter(({ action }) => action === "ping").length >= 3);
    const told = controller.filter(({ action }) => action !== "ping");
    assert.deepEqual(told.map(({ action }) => action), [
      "project.closed",
      "project.opened",
      "project.updated",
      "project.closed",
      "project.deleted",
    ]);
    assert.equal(told[2]!.event.name, "renamed");
    assert.ok(told.every(({ event }) => event.project_id === gns3.projectId));
    const other = `/v3/projects/${gns3.otherProjectId}`;
    const own = await actions(`${gns3.url}${other}/notifications`, gns3.tokens.bob!, async () => {
      const made = of(await call("POST", `${other}/nodes`, { name: "N1", node_type: "vpcs" }, "bob"));
      await call("POST", `${other}/nodes/${made.node_id}/start`, {}, "bob");
      await call("DELETE", `${other}/nodes/${made.node_id}`, undefined, "bob");
    }, 4);
    assert.deepEqual(own.map(({ action }) => action).filter((action) => action !== "ping"), [
      "node.created",
      "node.updated",
      "node.updated",
      "node.deleted",
    ]);
  });
});

Deno.test("when the last listener of a project's own stream leaves, a project with auto_close is closed", async () => {
  await withGns3({ autoCloseDelay: 30 }, async ({ gns3, call }) => {
    const made = of(await call("POST", "/v3/projects", { name: "auto" }, "admin"));
    assert.equal(made.auto_close, true);
    const stream = new AbortController();
    const response = await fetch(`${gns3.url}/v3/projects/${made.project_id}/notifications`, {
      headers: { authorization: `Bearer ${gns3.tokens.admin}` },
      signal: stream.signal,
    });
    const reader = response.body!.getReader();
    await reader.read();
    assert.equal(gns3.project(made.project_id).status, "opened");
    stream.abort();
    await reader.read().catch(() => {});
    for (let i = 0; i < 100 && gns3.project(made.project_id).status === "opened"; i++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.equal(gns3.project(made.project_id).status, "closed");
  });
});

Deno.test("a project has a real folder, which goes when it is deleted", async () => {
  await withGns3({}, async ({ gns3, call }) => {
    const made = of(await call("POST", "/v3/projects", { name: "fresh", auto_close: false }, "admin"));
    assert.equal(made.path, `${gns3.projectsDir}/${made.project_id}`);
    assert.ok((await Deno.stat(made.path)).isDirectory);
    const again = await call("POST", "/v3/projects", { name: "fresh" }, "admin");
    assert.equal(again.status, 409);
    assert.equal((await call("DELETE", `/v3/projects/${made.project_id}`, undefined, "admin")).status, 204);
    await assert.rejects(() => Deno.stat(made.path), Deno.errors.NotFound);
  });
});

// M4
Deno.test("a restored snapshot overwrites files in place, keeps newer ones, and shows only as project.opened", async () => {
  await withGns3({}, async (api) => {
    const { gns3, at, call } = api;
    const folder = gns3.project(gns3.projectId).path;
    await Deno.mkdir(`${folder}/gns3-copilot`);
    await Deno.writeTextFile(`${folder}/gns3-copilot/chat.db`, "old");
    assert.equal((await call("POST", `${at}/snapshots`, { name: "s1" })).status, 409, "nodes run");
    await call("POST", `${at}/nodes/stop`);
    const snapshot = await call("POST", `${at}/snapshots`, { name: "s1" });
    assert.equal(snapshot.status, 201);
    await Deno.writeTextFile(`${folder}/gns3-copilot/chat.db`, "newer text");
    await Deno.writeTextFile(`${folder}/gns3-copilot/chat.db-wal`, "wal");
    await call("DELETE", `${at}/nodes/${gns3.nodeId("PC2")}`);
    const before = (await Deno.stat(`${folder}/gns3-copilot/chat.db`)).ino;
    const told = await actions(`${gns3.url}/v3/notifications`, gns3.tokens.alice!, async () => {
      const path = `${at}/snapshots/${of(snapshot).snapshot_id}/restore`;
      assert.equal((await call("POST", path)).status, 200);
    }, 1);
    assert.deepEqual(told.map(({ action }) => action), ["ping", "project.opened"]);
    assert.equal(await Deno.readTextFile(`${folder}/gns3-copilot/chat.db`), "old");
    assert.equal((await Deno.stat(`${folder}/gns3-copilot/chat.db`)).ino, before);
    assert.equal(await Deno.readTextFile(`${folder}/gns3-copilot/chat.db-wal`), "wal");
    await call("POST", `${at}/nodes/start`);
    const console = await api.console("PC1");
    assert.match(await console.run("ping 10.0.2.10 -c 1"), /^84 bytes from 10\.0\.2\.10/);
  });
});

// M2
Deno.test("a duplicated project has the folder's files, new node ids and the same lab", async () => {
  await withGns3({}, async ({ gns3, at, call }) => {
    await Deno.mkdir(`${gns3.project(gns3.projectId).path}/gns3-copilot`);
    await Deno.writeTextFile(`${gns3.project(gns3.projectId).path}/gns3-copilot/chat.db`, "mine");
    await call("POST", `${at}/nodes/stop`);
    const copy = of(await call("POST", `${at}/duplicate`, { name: "copy" }, "admin"));
    assert.equal(copy.status, "closed");
    assert.equal(await Deno.readTextFile(`${copy.path}/gns3-copilot/chat.db`), "mine");
    const path = `/v3/projects/${copy.project_id}`;
    await call("POST", `${path}/open`, undefined, "admin");
    await call("POST", `${path}/nodes/start`, undefined, "admin");
    const nodes = of(await call("GET", `${path}/nodes`, undefined, "admin")) as {
      name: string;
      node_id: string;
    }[];
    assert.deepEqual(nodes.map((n) => n.name), ["PC1", "R1", "R2", "PC2"]);
    assert.ok(nodes.every((n) => n.node_id !== gns3.nodeId(n.name)));
    assert.equal(gns3.project(copy.project_id).net.cables.size, 3);
  });
});

Deno.test("latency, absence and the record of requests", async () => {
  const seen: string[] = [];
  await withGns3(
    { onRequest: ({ method, path }) => seen.push(`${method} ${path}`) },
    async ({ gns3, at, call }) => {
      gns3.setLatency(30);
      const began = performance.now();
      await call("GET", at);
      assert.ok(performance.now() - began >= 29);
      gns3.setLatency(0);
      await call("GET", at, undefined, "bob");
      assert.deepEqual(gns3.requests.map(({ username, status, path }) => [username, status, path]), [[
        "alice",
        200,
        at,
      ], ["bob", 403, at]]);
      assert.deepEqual(seen, [`GET ${at}`, `GET ${at}`]);
      await gns3.setDown(true);
      await assert.rejects(() => call("GET", at));
      await gns3.setDown(false);
      assert.equal((await call("GET", at)).status, 200);
    },
  );
});

Deno.test("groups: rights on one group, members who come and go, and users who may not ask for their own", async () => {
  await withGns3({}, async ({ gns3, call: callAs }) => {
    const alice = "alice";
    const call = (method: string, path: string, body?: unknown, user = "admin") =>
      callAs(method, path, body, user);
    const made = await call("POST", "/v3/access/groups", { name: "class-a" });
    assert.equal(made.status, 201);
    const group = `/v3/access/groups/${of(made).user_group_id}`;
    const member = `${group}/members/${gns3.userIds.alice}`;
    const mine = `/v3/access/users/${gns3.userIds.alice}/groups`;
    const names = async () => of(await call("GET", mine)).map(({ name }: { name: string }) => name);
    assert.deepEqual(await names(), ["Users"]);
    assert.equal((await call("PUT", member)).status, 204);
    assert.deepEqual(await names(), ["Users", "class-a"]);
    for (const path of [mine, group]) {
      assert.deepEqual(await call("GET", path, undefined, alice).then(({ status, body }) => [status, body]), [
        403,
        {
          message: "Permission denied (privilege Group.Audit is required)",
          code: "forbidden",
        },
      ]);
    }
    gns3.grant("alice", group.slice(3), "Group viewer");
    assert.equal((await call("GET", group, undefined, alice)).status, 200);
    const nobody = `${group}/members/${UNKNOWN}`;
    assert.equal((await call("PUT", nobody, undefined, alice)).status, 403);
    gns3.grant("alice", group.slice(3), "Group manager");
    assert.equal((await call("PUT", nobody, undefined, alice)).status, 404);
    assert.equal((await call("DELETE", member, undefined, alice)).status, 204);
    assert.deepEqual(await names(), ["Users"]);
    assert.equal((await call("GET", `/v3/access/groups/${UNKNOWN}`)).status, 404);
  });
});
