// Measures one call of execute_multiple_device_commands: 20 commands on one device against 20 on each of ten. The devices are
// fakes with an IOS-like command line behind real WebSockets of a small GNS3 server in this process; each command prints
// some 1,500 characters and takes 20 ms.
import { Consoles } from "../../src/devices/consoles.ts";
import { Gns3Client } from "../../src/gns3/client.ts";
import { executeCall, prepareCall } from "../../src/tools/run.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { type Command, FakeConsole } from "../../tests/devices/fake_console.ts";
import { FakeGns3, PROJECT_ID } from "../../tests/gns3/fake_gns3.ts";
import { faultsInMemory, skillsWith } from "../../tests/fakes/skills.ts";
import type { Bench } from "./bench.ts";
import { median } from "./statistics.ts";

const names = Array.from({ length: 10 }, (_, i) => `R${i + 1}`);
const commands = Array.from({ length: 20 }, (_, i) => `show interfaces description ${i}`);
const page = `${"GigabitEthernet0/0   up   up   link to somewhere else in the lab\r\n".repeat(23)}`;
const shown: Command = async (out) => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  out(page);
};

/** Adds the row about ten devices. */
export async function tenDevices(bench: Bench): Promise<void> {
  await using fake = new FakeGns3();
  for (const name of names) {
    const { node_id } = fake.add(name, {
      node_type: "qemu",
      status: "started",
      template_id: null,
      tags: ["device_type:cisco_ios_telnet"],
    });
    const console = new FakeConsole({
      prompt: `${name}#`,
      clearKeys: "\x15",
      unknown: "",
      commands: Object.fromEntries(commands.map((command) => [command, shown])),
    });
    fake.consoles.set(node_id, console);
  }
  const gns3 = new Gns3Client({ baseUrl: fake.baseUrl, credential: "alice" });
  const consoles = new Consoles();
  const context: ToolContext = {
    project: await gns3.project(PROJECT_ID),
    gns3,
    consoles: consoles.forCaller(gns3),
    mode: "teaching_assistant",
    signal: new AbortController().signal,
    now: Date.now,
    skills: skillsWith(),
    faults: faultsInMemory(),
  };

  async function measure(devices: string[]): Promise<number> {
    const device_configs = devices.map((device_name) => ({ device_name, commands }));
    const call = { name: "execute_multiple_device_commands", arguments: JSON.stringify({ device_configs }) };
    const started = performance.now();
    const { output } = await executeCall(prepareCall(call, context), context);
    const ms = performance.now() - started;
    const { summary } = JSON.parse(output);
    if (summary !== `${devices.length} of ${devices.length} succeeded.`) {
      throw new Error(output.slice(0, 500));
    }
    return ms;
  }

  await measure(names); // warm
  const one: number[] = [];
  const ten: number[] = [];
  for (let round = 0; round < (bench.flags.quick ? 2 : 5); round++) {
    one.push(await measure(names.slice(0, 1)));
    ten.push(await measure(names));
  }
  await consoles.close();
  bench.samples.ten_devices = { one_ms: one, ten_ms: ten };
  bench.say({
    what: "20 commands on each of ten devices in one call, against one device",
    unit: "×",
    ours: median(ten) / median(one),
  }, 1.5);
}
