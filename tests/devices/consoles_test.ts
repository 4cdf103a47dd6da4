// Consoles as the tools use them: queues, limits, abort, and several callers at once, over real WebSockets.
import assert from "node:assert/strict";
import type { Node } from "../../src/domain/project.ts";
import { Consoles, type ConsolesOptions } from "../../src/devices/consoles.ts";
import { Gns3Client } from "../../src/gns3/client.ts";
import { FakeGns3, PROJECT_ID } from "../gns3/fake_gns3.ts";
import { type Command, FakeConsole, ticking } from "./fake_console.ts";

const { signal: never } = new AbortController();

/** Started PCs with consoles, and `Consoles` for alice. */
async function lab(names: string[], commands: Record<string, Command> = {}, options: ConsolesOptions = {}) {
  const fake = new FakeGns3();
  const devices = new Map<string, FakeConsole>();
  for (const name of names) {
    const node = fake.add(name, { status: "started" });
    const console = new FakeConsole({
      prompt: `${name}> `,
      commands: { "show ip": `I am ${name}\r\n`, ...commands },
    });
    devices.set(name, console);
    fake.consoles.set(node.node_id, console);
  }
  const consoles = new Consoles(options);
  const gns3 = new Gns3Client({ baseUrl: fake.baseUrl, credential: "alice" });
  const nodes = await gns3.nodes(PROJECT_ID);
  return {
    fake,
    consoles,
    gns3,
    view: consoles.forCaller(gns3),
    device: (name: string) => devices.get(name)!,
    node: (name: string): Node => nodes.find((node) => node.name === name)!,
    async [Symbol.asyncDispose]() {
      await consoles.close();
      await fake[Symbol.asyncDispose]();
    },
  };
}

Deno.test("Consoles.run gives each command its own outcome, in order, and closes the connection", async () => {
  await using l = await lab(["PC1"]);
  const { results, notes, error } = await l.view.run(PROJECT_ID, l.node("PC1"), [
    "show ip",
    "bogus",
    " show ip ",
  ], never);
  assert.equal(error, undefined);
  assert.deepEqual(notes, []);
  assert.deepEqual(results.map(({ output }) => output), [
    "I am PC1",
    'Bad command: "bogus". Use ? for help.',
    "I am PC1",
  ]);
  assert.deepEqual(results.map(({ failed }) => failed !== undefined), [false, true, false]);
  assert.equal(l.device("PC1").clients, 0);
});

Deno.test("Consoles.run never sends what the platform refuses, and runs the rest", async () => {
  await using l = await lab(["PC1"]);
  const hidden = [
    "! id",
    " ! id",
    "show ip\n! id",
    "\u200b! id",
    "é! id",
    "rlogin 22",
    "quit",
    "save /etc/x",
    "",
  ];
  const { results } = await l.view.run(PROJECT_ID, l.node("PC1"), [...hidden, "show ip"], never);
  for (const [i, command] of hidden.entries()) {
    assert.deepEqual([results[i]!.input, results[i]!.notSent], [command, true]);
    assert.match(results[i]!.failed!, /^Refused: /);
  }
  assert.equal(results.at(-1)!.output, "I am PC1");
  assert.deepEqual(l.device("PC1").ran, ["show ip"]);
});

// F9
Deno.test("Consoles serves one console first come, first served, with one connection at a time", async () => {
  await using l = await lab(["PC1"]);
  const order: number[] = [];
  await Promise.all(Array.from({ length: 5 }, async (_, i) => {
    const { results } = await l.view.run(PROJECT_ID, l.node("PC1"), ["show ip"], never);
    assert.equal(results[0]!.output, "I am PC1");
    order.push(i);
  }));
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
  assert.equal(l.device("PC1").mostClients, 1);
  assert.equal(l.device("PC1").ran.length, 5);
});

Deno.test("Consoles queues callers of one console behind each other, whoever they are", async () => {
  await using l = await lab(["PC1"], { slow: ticking("x", 50, 6) });
  const other = l.consoles.forCaller(new Gns3Client({ baseUrl: l.fake.baseUrl, credential: "alice" }));
  await Promise.all([
    l.view.run(PROJECT_ID, l.node("PC1"), ["slow"], never),
    other.run(PROJECT_ID, l.node("PC1"), ["show ip"], never),
  ]);
  assert.deepEqual(l.device("PC1").ran, ["slow", "show ip"]);
  assert.equal(l.device("PC1").mostClients, 1);
});

Deno.test("Consoles works on different devices at once, up to the bound", async () => {
  const names = ["A", "B", "C", "D"];
  let running = 0, most = 0;
  const busy: Command = async (out) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 600));
    running--;
    out("done\r\n");
  };
  await using l = await lab(names, { "sleep 1": busy }, { parallel: 2 });
  const results = await Promise.all(
    names.map((name) => l.view.run(PROJECT_ID, l.node(name), ["sleep 1"], never)),
  );
  assert.deepEqual(results.map(({ results }) => results[0]!.output), ["done", "done", "done", "done"]);
  assert.equal(most, 2);
});

// A7, C6
Deno.test("Consoles.run returns at once when aborted; the command is interrupted, the next caller finds a prompt", async () => {
  let interrupted = false;
  const endless: Command = async (out, running) => {
    running.interrupted.addEventListener("abort", () => interrupted = true);
    await (ticking("reply", 50) as (o: typeof out, r: typeof running) => Promise<void>)(out, running);
  };
  await using l = await lab(["PC1"], { "ping 1 -t": endless });
  const stop = new AbortController();
  const first = l.view.run(PROJECT_ID, l.node("PC1"), ["ping 1 -t", "show ip"], stop.signal);
  let reached = false;
  const gaveUp = assert.rejects(first, { message: "enough" }).then(() => reached = true);
  while (!l.device("PC1").ran.length) await new Promise((resolve) => setTimeout(resolve, 20));
  const second = l.view.run(PROJECT_ID, l.node("PC1"), ["show ip"], never);
  stop.abort(new Error("enough"));
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.ok(reached);
  assert.equal((await second).results[0]!.output, "I am PC1");
  await gaveUp;
  assert.ok(interrupted);
  assert.deepEqual(l.device("PC1").ran, ["ping 1 -t", "show ip"]);
});

Deno.test("Consoles.run gives up its place in the queue when aborted there", async () => {
  await using l = await lab(["PC1"], { slow: ticking("x", 50, 8) });
  const first = l.view.run(PROJECT_ID, l.node("PC1"), ["slow"], never);
  const stop = new AbortController();
  const second = l.view.run(PROJECT_ID, l.node("PC1"), ["show ip"], stop.signal);
  setTimeout(() => stop.abort(new Error("enough")), 100);
  await assert.rejects(second, { message: "enough" });
  await first;
  assert.deepEqual(l.device("PC1").ran, ["slow"]);
});

Deno.test("Consoles.run bounds the whole call, tells what was done, and leaves the prompt behind", async () => {
  await using l = await lab(["PC1"], { slow: ticking("x", 50) }, { limits: { callMs: 1_200 } });
  const { results, error } = await l.view.run(
    PROJECT_ID,
    l.node("PC1"),
    ["show ip", "slow", "show ip"],
    never,
  );
  assert.deepEqual(results.map(({ input }) => input), ["show ip"]);
  assert.match(error!.message, /PC1: the whole call took longer than 1 s/);
  await l.consoles.close();
  assert.deepEqual([l.device("PC1").ran, l.device("PC1").clients], [["show ip", "slow"], 0]);
});

// F22
Deno.test("Consoles.run refuses a stopped node and a switch without connecting", async () => {
  await using l = await lab(["PC1"]);
  const stopped = await l.view.run(PROJECT_ID, { ...l.node("PC1"), status: "stopped" }, ["show ip"], never);
  assert.match(stopped.error!.message, /PC1 is stopped/);
  const sw = { ...l.node("PC1"), node_type: "ethernet_switch", console_type: "none" };
  assert.match((await l.view.run(PROJECT_ID, sw, ["show ip"], never)).error!.message, /has no console/);
  assert.equal(l.device("PC1").mostClients, 0);
});

Deno.test("Consoles refuses a caller whom GNS3 does not let use the console", async () => {
  await using l = await lab(["PC1"]);
  const looker = l.consoles.forCaller(new Gns3Client({ baseUrl: l.fake.baseUrl, credential: "looker" }));
  const { error, results } = await looker.run(PROJECT_ID, l.node("PC1"), ["show ip"], never);
  assert.deepEqual([error!.code, results], ["forbidden", []]);
  assert.deepEqual(l.device("PC1").ran, []);
});

// F9
Deno.test("Consoles names the device that is not ready", async () => {
  await using l = await lab(["PC1"], {}, { limits: { wakeMs: 500 } });
  l.device("PC1").hung = true;
  const { error } = await l.view.run(PROJECT_ID, l.node("PC1"), ["show ip"], never);
  assert.equal(error!.code, "unavailable");
  assert.match(
    error!.message,
    /^PC1 is not ready: its console printed nothing for 1 s: it still boots, or .* reset the console in GNS3/,
  );
});

// G1
Deno.test("Consoles.ready waits for a prompt, and says what is missing when there is none", async () => {
  await using l = await lab(["PC1", "PC2"]);
  assert.equal(await l.view.ready(PROJECT_ID, l.node("PC1"), 5_000, never), true);
  l.device("PC2").hung = true;
  const missing = await l.view.ready(PROJECT_ID, l.node("PC2"), 600, never);
  assert.match(String(missing), /PC2/);
  assert.deepEqual([l.device("PC1").ran, l.device("PC2").ran], [[], []]);
});

Deno.test("Consoles.close ends what runs and gives every console back", async () => {
  await using l = await lab(["PC1"], { "ping 1 -t": ticking("reply", 50) });
  const running = l.view.run(PROJECT_ID, l.node("PC1"), ["ping 1 -t"], never);
  while (!l.device("PC1").ran.length) await new Promise((resolve) => setTimeout(resolve, 20));
  await l.consoles.close();
  assert.match((await running).error!.message, /shutting down/);
  assert.equal(l.device("PC1").clients, 0);
  const late = await l.view.run(PROJECT_ID, l.node("PC1"), ["show ip"], never);
  assert.match(late.error!.message, /shutting down/);
});

Deno.test("Consoles hides a fault of this program from the user and tells the log", async () => {
  const faults: unknown[] = [];
  await using l = await lab(["PC1"], {}, { onFault: (fault) => faults.push(fault) });
  const broken = l.consoles.forCaller({
    origin: l.gns3.origin,
    version: () => Promise.reject(new TypeError("secret detail")),
    node: () => Promise.reject(new Error()),
    computes: () => Promise.resolve([]),
    templates: () => Promise.resolve([]),
    credentials: () => Promise.resolve(undefined),
    consoleUrl: () => "",
  });
  const { error } = await broken.run(PROJECT_ID, l.node("PC1"), ["show ip"], never);
  assert.deepEqual([error!.code, error!.message.includes("secret")], ["internal", false]);
  assert.equal((faults[0] as Error).message, "secret detail");
});

/** A router of unknown name and template, with a console that has a login when `password` is given. */
async function router(more: Parameters<FakeGns3["add"]>[1] = {}, password?: string) {
  const fake = new FakeGns3();
  const node = fake.add("R1", { node_type: "qemu", status: "started", template_id: null, ...more });
  const console: FakeConsole = new FakeConsole({
    prompt: password ? "Username: " : "R1#",
    clearKeys: "\x15",
    unknown: "% Invalid input detected at '^' marker.\r\n",
    commands: {
      "show version": "IOS\r\n",
      "show terminal | include Length": "Length: 24 lines, Width: 80 columns\r\n",
      ...Object.fromEntries(
        ["length 0", "width 511", "length 24", "width 80"].map((what) => [`terminal ${what}`, ""]),
      ),
      "configure terminal": () => void (console.prompt = "R1(config)#"),
      "hostname R2": () => void (console.prompt = "R2(config)#"),
      end: () => void (console.prompt = console.prompt.replace("(config)", "")),
      lab: (out, { key }) => {
        out("Password: ");
        return (async () => {
          let typed = "";
          for (let next = await key(); next && next !== "\r"; next = await key()) typed += next;
          if (typed === password) console.prompt = "R1#";
          else out("\r\n% Login invalid\r\n");
        })();
      },
      exit: () => void (console.prompt = "Username: "),
    },
  });
  fake.consoles.set(node.node_id, console);
  const consoles = new Consoles({ limits: { wakeMs: 4_000 } });
  const gns3 = new Gns3Client({ baseUrl: fake.baseUrl, credential: "alice" });
  return {
    fake,
    console,
    view: consoles.forCaller(gns3),
    node: (await gns3.nodes(PROJECT_ID))[0]!,
    async [Symbol.asyncDispose]() {
      await consoles.close();
      await fake[Symbol.asyncDispose]();
    },
  };
}

const IOS = { tags: ["device_type:cisco_ios_telnet"] };

// F15
Deno.test("Consoles finds the kind of a node by its template, asks for templates once, and can do without", async () => {
  await using l = await router({ template_id: "t1" });
  const list = "GET /v3/templates";
  l.fake.instead.set(
    list,
    () =>
      Response.json([{
        template_id: "t1",
        name: "X",
        template_type: "qemu",
        tags: ["device_type:cisco_ios"],
      }]),
  );
  assert.equal((await l.view.platform(l.node, never)).name, "cisco_ios");
  const { results } = await l.view.run(PROJECT_ID, l.node, ["show version"], never);
  assert.equal(results[0]!.output, "IOS");
  assert.equal(l.fake.paths().filter((path) => path === list).length, 1);
  await using other = await router({ template_id: "t1" });
  other.fake.instead.set(list, () => Response.json({ message: "no", code: "forbidden" }, { status: 403 }));
  const { error } = await other.view.run(PROJECT_ID, other.node, ["show version"], never);
  assert.match(error!.message, /What kind of device R1 \(qemu\) is, is not known/);
});

// F23
Deno.test("Consoles logs in with what GNS3 holds for the node, asked for only then, and logs out", async () => {
  await using l = await router(
    { ...IOS, default_username: "lab", default_password: "s3cret-of-R1" },
    "s3cret-of-R1",
  );
  const { results, notes, error } = await l.view.run(PROJECT_ID, l.node, ["show version"], never);
  assert.equal(error, undefined);
  assert.equal(results[0]!.output, "IOS");
  assert.ok(!JSON.stringify([results, notes]).includes("s3cret"));
  assert.equal(l.console.prompt, "Username: ");
  assert.equal(
    l.fake.paths().filter((path) => path === `GET /v3/projects/${PROJECT_ID}/nodes/${l.node.node_id}`).length,
    1,
  );
  await using open = await router({ ...IOS, default_username: "lab", default_password: "s3cret-of-R1" });
  await open.view.run(PROJECT_ID, open.node, ["show version"], never);
  assert.ok(!open.fake.paths().includes(`GET /v3/projects/${PROJECT_ID}/nodes/${open.node.node_id}`));
});

// F23
Deno.test("Consoles reports a login without credentials by the device's name, and types nothing into it", async () => {
  await using l = await router(IOS, "s3cret-of-R1");
  const { error } = await l.view.run(PROJECT_ID, l.node, ["show version"], never);
  assert.equal(error!.code, "conflict");
  assert.match(
    error!.message,
    /^R1 is not ready: it needs credentials: its console asks for a login\. Set its default/,
  );
  assert.deepEqual([l.console.ran, l.console.line, l.console.clients], [[], "", 0]);
});

Deno.test("Consoles.run sends only what reads where only reading is allowed", async () => {
  await using l = await router(IOS);
  const { results } = await l.view.run(PROJECT_ID, l.node, ["conf t", "show version"], never, "reading");
  assert.deepEqual(results.map(({ notSent }) => notSent), [true, undefined]);
  assert.ok(!l.console.ran.includes("conf t"));
  const connected = l.console.mostClients;
  await l.view.run(PROJECT_ID, { ...l.node, status: "stopped" }, ["conf t", "reload"], never, "reading");
  assert.equal(l.console.mostClients, connected);
});

Deno.test("Consoles.configure types lines in configuration mode and leaves it, and sends nothing with a refused line", async () => {
  await using l = await router(IOS);
  const { results, error } = await l.view.configure(
    PROJECT_ID,
    l.node,
    ["hostname R2", "show version"],
    never,
  );
  assert.equal(error, undefined);
  assert.deepEqual(results.map(({ input, failed }) => [input, failed]), [
    ["hostname R2", undefined],
    ["show version", "% Invalid input detected at '^' marker."], // as `do show version`, which this console does not know
  ]);
  assert.equal(l.console.prompt, "R2#");
  const before = l.console.ran.length;
  const refused = await l.view.configure(PROJECT_ID, l.node, ["hostname R3", "debug all"], never);
  assert.deepEqual(refused.results.map(({ failed }) => failed!.split(":")[0]), ["Not run", "Refused"]);
  assert.equal(l.console.ran.length, before);
});
