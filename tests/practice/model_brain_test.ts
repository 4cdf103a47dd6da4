// The brain of the practice model: it chooses tools, and its answers follow from what they really returned.
import assert from "node:assert/strict";
import { startPracticeModel } from "../../src/practice/model.ts";
import { think, titleFor } from "../../src/practice/model_brain.ts";
import type { ChatBody, ChatBodyMessage } from "../../src/practice/model_script.ts";
import { type Api, withGns3 } from "./lab.ts";
import { ALL_TOOLS, ask, type Conversation, LOOKING } from "./tool_runner.ts";

type Ask = (question: string, tools?: string[]) => Promise<Conversation>;

async function inLab(work: (ask: Ask, api: Api) => Promise<void>): Promise<void> {
  const model = await startPracticeModel();
  try {
    await withGns3({}, (api) => work((question, tools) => ask(model, api, question, tools), api));
  } finally {
    await model.close();
  }
}

async function act(api: Api, name: string, action: string): Promise<void> {
  await api.call("POST", `${api.at}/nodes/${api.gns3.nodeId(name)}/${action}`, {});
}

async function type(api: Api, name: string, ...commands: string[]): Promise<void> {
  const console = await api.console(name);
  for (const command of commands) await console.run(command);
  await console.close();
}

async function links(api: Api): Promise<string[]> {
  return ((await api.call("GET", `${api.at}/links`)).body as { link_id: string }[]).map(({ link_id }) =>
    `${api.at}/links/${link_id}`
  );
}

const REACH = "can PC1 reach PC2, and if not, why?";

Deno.test("in a healthy lab it looks, asks both ends, pings both ways in parallel, and says yes", async () => {
  await inLab(async (ask) => {
    const { answer, steps } = await ask(REACH, LOOKING);
    assert.deepEqual(steps.map((calls) => calls.map(({ name }) => name)), [
      ["gns3_topology_reader"],
      ["execute_vpcs_commands"],
      ["execute_vpcs_commands", "execute_vpcs_commands"],
    ]);
    assert.deepEqual(steps[2]!.map(({ args }) => args.device_configs), [
      [{ device_name: "PC1", commands: ["ping 10.0.2.10 -c 3"] }],
      [{ device_name: "PC2", commands: ["ping 10.0.1.10 -c 3"] }],
    ]);
    assert.match(
      answer,
      /^\[practice model\] Yes, PC1 reaches PC2 \(10\.0\.2\.10\): 3 of 3 pings were answered/,
    );
    assert.match(answer, /time to live \(62\) shows 2 routers/);
    assert.doesNotMatch(answer, /What I found/);
  });
});

Deno.test("it names the link that is missing, and the one that is suspended", async () => {
  await inLab(async (ask, api) => {
    const [, middle] = await links(api);
    await api.call("PUT", middle!, { suspend: true });
    assert.match(
      (await ask(REACH, LOOKING)).answer,
      /The link R1 FastEthernet0\/1 – R2 FastEthernet0\/1 is suspended/,
    );
    await api.call("DELETE", middle!);
    const { answer, steps } = await ask(REACH, LOOKING);
    assert.match(answer, /No, PC1 cannot reach PC2 \(10\.0\.2\.10\)/);
    assert.match(answer, /The link between R1 and R2 is missing\./);
    assert.match(answer, /10\.0\.1\.1 answers "Destination host unreachable"/);
    assert.match(answer, /no tool for routers yet/);
    assert.equal(steps.at(-1)![0]!.name, "execute_vpcs_commands", "it traced before it gave up");
    const [first] = await links(api);
    await api.call("DELETE", first!);
    assert.match((await ask(REACH, LOOKING)).answer, /PC1 has no link at all: its cable is missing/);
  });
});

Deno.test("it names the node that is stopped", async () => {
  await inLab(async (ask, api) => {
    await act(api, "R2", "stop");
    assert.match((await ask(REACH)).answer, /R2 \(dynamips\) is stopped: start it/);
    await act(api, "R2", "start");
    await act(api, "PC2", "stop");
    const { answer } = await ask(REACH);
    assert.match(answer, /^\[practice model\] No/);
    assert.match(answer, /PC2 \(vpcs\) is stopped: start it/);
    await act(api, "PC2", "start");
    assert.match((await ask(REACH)).answer, /^\[practice model\] Yes/);
  });
});

Deno.test("it finds wrong addresses: gateway, subnet, none at all", async () => {
  await inLab(async (ask, api) => {
    await type(api, "PC1", "ip 10.0.1.10/24 10.0.1.9");
    assert.match(
      (await ask(REACH, LOOKING)).answer,
      /Nobody answers ARP for 10\.0\.1\.9, its gateway: the address is wrong/,
    );
    assert.match(
      (await ask(REACH)).answer,
      /PC1 uses the gateway 10\.0\.1\.9, but R1 has 10\.0\.1\.1 on FastEthernet0\/0: wrong gateway/,
    );
    await type(api, "PC1", "ip 10.0.3.10/24 10.0.3.1");
    assert.match(
      (await ask(REACH)).answer,
      /PC1 is 10\.0\.3\.10\/24, but R1 has 10\.0\.1\.1 on FastEthernet0\/0: not the same subnet/,
    );
    await type(api, "PC1", "ip 10.0.1.10/24");
    assert.match(
      (await ask(REACH)).answer,
      /PC1 \(10\.0\.1\.10\/24\) has no gateway, but 10\.0\.2\.10 is outside its subnet/,
    );
    await type(api, "PC1", "clear ip");
    assert.match((await ask(REACH)).answer, /PC1 has no IP address/);
    await type(api, "PC1", "ip 10.0.1.10/24 10.0.1.1");
    assert.match((await ask(REACH)).answer, /^\[practice model\] Yes/);
  });
});

Deno.test("with a tool for routers it looks into them: shut interface, lost neighbour, missing route", async () => {
  await inLab(async (ask, api) => {
    await type(api, "R2", "conf t", "interface f0/1", "shutdown", "end");
    const shut = await ask(REACH);
    assert.deepEqual(shut.steps[1]!.map(({ name }) => name), [
      "execute_vpcs_commands",
      "execute_multiple_device_commands",
    ]);
    assert.match(shut.answer, /R2 FastEthernet0\/1 is shut down/);
    await type(api, "R2", "conf t", "interface f0/1", "no shutdown", "ip ospf hello-interval 5", "end");
    const { answer } = await ask(REACH);
    assert.match(answer, /R1 has no OSPF neighbour on FastEthernet0\/1, where R2 is/);
    assert.match(answer, /R1 has no route to 10\.0\.2\.10 \(PC2\)/);
    assert.match(answer, /R2 has no route to 10\.0\.1\.10 \(PC1\)/);
    await type(
      api,
      "R2",
      "conf t",
      "interface f0/1",
      "no ip ospf hello-interval",
      "router ospf 1",
      "no network 10.0.2.0 0.0.0.255 area 0",
      "end",
    );
    const missing = (await ask(REACH)).answer;
    assert.match(missing, /R1 has no route to 10\.0\.2\.10 \(PC2\)/);
    assert.doesNotMatch(missing, /OSPF neighbour/);
  });
});

Deno.test("it can aim at an address or a router, and asks back when it cannot tell what is meant", async () => {
  await inLab(async (ask) => {
    assert.match(
      (await ask("ping 10.0.12.2 from PC1", LOOKING)).answer,
      /Yes, PC1 reaches 10\.0\.12\.2: 3 of 3/,
    );
    assert.match((await ask("Does R1 reach PC2?")).answer, /Yes, R1 reaches PC2 \(10\.0\.2\.10\): 5 of 5/);
    assert.match(
      (await ask("why is the ping failing?", LOOKING)).answer,
      /Yes, PC1 reaches PC2/,
      "the only two PCs",
    );
  });
});

Deno.test("it describes the lab, its addresses, neighbours and configurations", async () => {
  await inLab(async (ask, api) => {
    const lab = (await ask("What is in the lab?", LOOKING)).answer;
    assert.match(lab, /^\[practice model\] The lab has 4 nodes and 3 links\./);
    assert.match(lab, /- R1: dynamips, started\n[^]*- R1 FastEthernet0\/1 – R2 FastEthernet0\/1/);
    const addresses = (await ask("show the addresses")).answer;
    assert.match(
      addresses,
      /- PC1: 10\.0\.1\.10\/24, gateway 10\.0\.1\.1\n- R1 FastEthernet0\/0: 10\.0\.1\.1 \(up\)/,
    );
    assert.match(
      (await ask("which IP has R2?", LOOKING)).answer,
      /R2: this server offers me no tool for routers yet/,
    );
    const neighbours = (await ask("show the OSPF neighbours of R1")).answer;
    assert.match(neighbours, /R1 has 10\.0\.12\.2 \(FULL\/DR\) on FastEthernet0\/1\./);
    assert.match((await ask("show the running config of R2")).answer, /hostname R2/);
    assert.match(
      (await ask("OSPF neighbors of R1?", LOOKING)).answer,
      /`show ip ospf neighbor`[^]*no tool for routers yet/,
    );
    await api.call("DELETE", (await links(api))[1]!);
    assert.match((await ask("show the OSPF neighbours of R1")).answer, /R1 has no OSPF neighbour\./);
  });
});

Deno.test("it changes what it is asked to, and reports what came of it", async () => {
  await inLab(async (ask, api) => {
    assert.match((await ask("stop R2")).answer, /- R2: stopped/);
    assert.match((await ask("please start R2")).answer, /- R2: started/);
    assert.match(
      (await ask("start R2", LOOKING)).answer,
      /needs the tool start_gns3_node, which I do not have/,
    );
    const set = await ask("set PC1 to 10.0.1.20/24 gateway 10.0.1.1");
    assert.deepEqual(set.steps[1]![0]!.args, {
      device_configs: [{ device_name: "PC1", commands: ["ip 10.0.1.20/24 10.0.1.1", "show ip"] }],
    });
    assert.match(set.answer, /PC1 now has 10\.0\.1\.20\/24, gateway 10\.0\.1\.1\./);
    assert.match(
      (await ask("set PC1 to 10.0.1.1/24")).answer,
      /PC1 did not take it[^]*no address[^]*is being used by MAC/,
    );
    const made = await ask("create a PC named Desk");
    assert.match(made.answer, /- Desk: success/);
    assert.match((await ask("connect Desk to R1")).answer, /1 of 1 succeeded/);
    assert.ok([...api.gns3.network.devices.values()].some((device) => device.name === "Desk"));
    assert.equal(api.gns3.network.cables.size, 4);
    assert.match((await ask("why does R1 not start?", LOOKING)).answer, /I can/, "a question is no order");
  });
});

function body(messages: ChatBodyMessage[], tools = ALL_TOOLS): ChatBody {
  return { model: "m", messages, tools: tools.map((name) => ({ type: "function", function: { name } })) };
}

Deno.test("it greets, says what it can do, and never pretends", () => {
  const greet = think(body([{ role: "user", content: "Hi there" }]));
  assert.match(greet.text, /^\[practice model\] Hello! I am the practice model/);
  const poem = think(body([{ role: "user", content: "Write a poem about spring" }]));
  assert.deepEqual(poem.calls, []);
  assert.match(
    poem.text,
    /^\[practice model\] I am the practice model[^]*For anything else, connect a real model\.$/,
  );
  const blind = think(body([{ role: "user", content: "what is in the lab?" }], []));
  assert.match(blind.text, /I need the tool gns3_topology_reader, which I do not have/);
});

Deno.test("a tool that fails ends in its sentence, not in a loop", () => {
  const call = (id: string, name: string, args = "{}") => ({
    id,
    type: "function",
    function: { name, arguments: args },
  });
  const failed: ChatBodyMessage[] = [
    { role: "user", content: "what is in the lab?" },
    { role: "assistant", content: null, tool_calls: [call("1", "gns3_topology_reader")] },
    { role: "tool", tool_call_id: "1", content: '{"error": "Your sign-in has expired: sign in again."}' },
  ];
  assert.equal(
    think(body(failed)).text,
    "[practice model] I could not read the topology: Your sign-in has expired: sign in again.",
  );
  const topology = {
    nodes: [{ name: "PC1", node_id: "i", type: "vpcs", status: "started", free_ports: [] }],
    links: [],
  };
  const refused: ChatBodyMessage[] = [
    { role: "user", content: "set PC1 to 10.0.1.20/24" },
    { role: "assistant", content: null, tool_calls: [call("1", "gns3_topology_reader")] },
    { role: "tool", tool_call_id: "1", content: JSON.stringify(topology) },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        call(
          "2",
          "execute_vpcs_commands",
          '{"device_configs":[{"device_name":"PC1","commands":["ip 10.0.1.20/24"]}]}',
        ),
      ],
    },
    {
      role: "tool",
      tool_call_id: "2",
      content: '{"error": "in teaching mode only what reads or tests is run"}',
    },
  ];
  assert.equal(
    think(body(refused)).text,
    "[practice model] It did not work: in teaching mode only what reads or tests is run",
  );
  const last = { ...body(failed.slice(0, 1)), tool_choice: "none" };
  assert.deepEqual(think(last).calls, [], "told to use no tools, it uses none");
});

Deno.test("a title is short and has the user's words, also out of a quoted conversation", () => {
  const title = (content: string) => titleFor({ model: "m", messages: [{ role: "user", content }] });
  assert.equal(title("can PC1 reach PC2, and if not, why?"), "Can PC1 reach PC2 and if");
  assert.equal(title("The engineer:\nstart R1 [[k]]\n\nThe assistant:\nIt is started."), "Start R1");
  assert.equal(title("  "), "Practice");
  assert.ok(title("x".repeat(200)).length <= 60);
});

Deno.test("answers stream word by word", async () => {
  const model = await startPracticeModel({ wordDelay: 1 });
  try {
    const response = await fetch(`${model.url}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({
        ...body([{ role: "user", content: "hello" }]),
        stream: true,
        stream_options: { include_usage: true },
      }),
    });
    const chunks = (await response.text()).split("\n\n").filter((line) => line.startsWith("data: {")).map((
      line,
    ) => JSON.parse(line.slice(6)));
    const words = chunks.flatMap(({ choices }) => choices[0]?.delta.content ?? []).filter(Boolean);
    assert.deepEqual(words.slice(0, 4), ["[practice", " model]", " Hello!", " I"]);
    assert.ok(chunks.at(-1).usage.completion_tokens > 50);
  } finally {
    await model.close();
  }
});
