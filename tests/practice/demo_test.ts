// The demo really behaves: what is changed in the lab changes what its devices say and what the practice model concludes.
import assert from "node:assert/strict";
import { type ChatServer, startChatServer } from "../fakes/chat.ts";
import { startFromSource } from "../fakes/program.ts";

const QUESTION = "Can PC1 reach PC2, and if not, why?";

async function api(server: ChatServer, method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(`${server.gns3.url}/v3/projects/${server.gns3.projectId}${path}`, {
    method,
    headers: { authorization: `Bearer ${server.gns3.tokens.alice}` },
    body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

async function ask(server: ChatServer): Promise<{ answer: string; outputs: string }> {
  const turn = await server.chat("alice").send(QUESTION);
  const [answer] = turn.text.split("[practice model] ").slice(-1);
  return { answer: answer!, outputs: turn.of("tool_end").map((event) => event.tool_output).join("\n") };
}

Deno.test("the practice model finds a path, a pulled cable, a stopped router and a wrong address from what devices say", async () => {
  await using server = await startChatServer();
  const whole = await ask(server);
  assert.match(whole.answer, /^Yes, PC1 reaches PC2 \(10\.0\.2\.10\): 3 of 3/);
  assert.match(whole.outputs, /bytes from 10\.0\.2\.10 icmp_seq=1 ttl=62/);

  const links = await api(server, "GET", "/links") as { link_id: string; nodes: { node_id: string }[] }[];
  const routers = ["R1", "R2"].map((name) => server.gns3.nodeId(name));
  const cable = links.find((link) => link.nodes.every((end) => routers.includes(end.node_id)))!;
  await api(server, "DELETE", `/links/${cable.link_id}`);
  const pulled = await ask(server);
  assert.match(pulled.answer, /^No, PC1 cannot reach PC2/);
  assert.match(pulled.answer, /link between R1 and R2 is missing/);
  assert.match(pulled.outputs, /Destination host unreachable/);
  await api(server, "POST", "/links", { nodes: cable.nodes });
  assert.match((await ask(server)).answer, /^Yes/);

  await api(server, "POST", `/nodes/${routers[1]}/stop`, {});
  const stopped = await ask(server);
  assert.match(stopped.answer, /^No/);
  assert.match(stopped.answer, /R2 \(dynamips\) is stopped/);
  await api(server, "POST", `/nodes/${routers[1]}/start`, {});
  assert.match((await ask(server)).answer, /^Yes/);

  const pc2 = `/nodes/${server.gns3.nodeId("PC2")}`;
  await api(server, "POST", `${pc2}/files/startup.vpc`, "set pcname PC2\nip 10.0.3.10/24 10.0.3.1\n");
  await api(server, "POST", `${pc2}/stop`, {});
  await api(server, "POST", `${pc2}/start`, {});
  const moved = await ask(server);
  assert.match(moved.answer, /^No/);
  assert.match(moved.outputs, /10\.0\.3\.10\/24/);
});

Deno.test("demo --once shows a conversation with calls on consoles and two different answers, and ends", async () => {
  const { code, out, err } = await startFromSource(["demo", "--once"]).ended();
  assert.equal(code, 0, err);
  assert.match(out, /calls {4}execute_vpcs_commands/);
  assert.match(out, /PC1> ping 10\.0\.2\.10/);
  assert.match(out, /Yes, PC1 reaches PC2[\s\S]*pulls the cable[\s\S]*No, PC1 cannot reach PC2/);
  assert.equal(err, "");
});

Deno.test("demo says where to go, serves a chat there, and stops in good order", async () => {
  const program = startFromSource(["demo", "--port", "0"]);
  const [, address] = await program.until(/Server {8}(http:\/\/[\d.:]+)/);
  const [, token] = await program.until(/Bearer (\S+)'/);
  const [, path] = await program.until(/(\/v3\/projects\/[^/]+\/chat)\/stream/);
  await program.until(/Ctrl-C stops it/);
  const sessions = await fetch(address + path!, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(sessions.status, 404);
  await sessions.text();
  const list = await fetch(`${address}${path}/sessions`, { headers: { authorization: `Bearer ${token}` } });
  assert.deepEqual([list.status, await list.json()], [200, []]);
  program.kill("SIGTERM");
  assert.equal((await program.ended()).code, 0);
});

Deno.test("demo refuses an option that it does not know, in a sentence", async () => {
  const { code, err } = await startFromSource(["demo", "--twice"]).ended();
  assert.equal(code, 1);
  assert.match(err, /--twice/);
  assert.doesNotMatch(err, /fault of this program|at file/);
});
