// Records real consoles for tests/testdata/consoles. Run by hand against a lab whose nodes are started:
//   deno run -A tests/devices/record_console.ts LAB_JSON OUT_DIR vpcs|frr|linux [SCENE]
// LAB_JSON is what the lab prints: base_url, tokens.alice, project.project_id. VPCS needs two linked PCs; FRR and Linux
// need R1 of `lab.py up --routers 1` and one more such node, H1, whose kernel command line has lab.console=login.
import { configure } from "../../src/devices/batch.ts";
import { Channel } from "../../src/devices/channel.ts";
import { Driver } from "../../src/devices/driver.ts";
import type { CommandResult } from "../../src/devices/output.ts";
import { overTelnet } from "../../src/devices/telnet.ts";
import { openWebSocket } from "../../src/devices/transport.ts";
import { Gns3Client } from "../../src/gns3/client.ts";
import { type Entry, format, recorded } from "./recording.ts";
import { FRR_SCENES, LAB_LOGIN, LINUX_SCENES, type Scene, VPCS_SCENES } from "./scenes.ts";

const KINDS: Record<string, { scenes: Scene[]; device: string }> = {
  vpcs: { scenes: VPCS_SCENES, device: "VPCS 0.5b2 (Debian)" },
  frr: { scenes: FRR_SCENES, device: "FRRouting 8.4.4 (Debian 12) in QEMU" },
  linux: { scenes: LINUX_SCENES, device: "BusyBox 1.35 ash and login, Linux 6.1 (Debian 12) in QEMU" },
};

const [labFile, out, kind = "", only] = Deno.args;
const { scenes, device } = KINDS[kind]!;
const lab = JSON.parse(Deno.readTextFileSync(labFile!));
const projectId: string = lab.project.project_id;
const gns3 = new Gns3Client({ baseUrl: lab.base_url, credential: lab.tokens.alice });
const version = await gns3.version();
const { signal } = new AbortController();
const nodes = await gns3.nodes(projectId);
const options = { signal, limitMs: 5_000, commands: !version.startsWith("3.0") };
const open = (name: string) => {
  const { node_id } = nodes.find((node) => node.name === name)!;
  return openWebSocket(gns3.consoleUrl(projectId, node_id), options);
};
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function somebody(scene: Scene): Promise<void> {
  const channel = new Channel(overTelnet(await open(scene.node)));
  for (const keys of scene.found ?? []) {
    await pause(1_500);
    await channel.send(keys);
  }
  await pause(1_500);
  await channel.close();
}

for (const scene of scenes.filter(({ name }) => !only || name === only)) {
  if (scene.found) await somebody(scene);
  const log: Entry[] = [];
  const channel = new Channel(overTelnet(recorded(await open(scene.node), log)));
  const known = scene.credentials === "wrong"
    ? { ...LAB_LOGIN, password: "no" }
    : scene.credentials && LAB_LOGIN;
  const driver = new Driver(channel, scene.platform, scene.limits, () => Promise.resolve(known));
  const results: CommandResult[] = [];
  try {
    await driver.open(signal);
    for (const command of scene.commands) results.push(await driver.run(command, { signal }));
    if (scene.lines) await configure(driver, scene.platform, scene.lines, { signal, results });
  } catch (error) {
    console.log(`${scene.name}: ${error}`);
  }
  await driver.leave(signal);
  await channel.close();
  for (const { input, output, failed, elapsedMs } of results) {
    console.log(`${scene.name} ${input}: ${elapsedMs} ms ${failed ?? ""}\n${output}`);
  }
  console.log([...driver.notes].join("\n"));
  const header = [
    `${scene.what}. ${device} behind gns3-server ${version}, over its console WebSocket.`,
    `Recorded with tests/devices/record_console.ts on ${new Date().toISOString().slice(0, 10)}.`,
  ];
  Deno.writeTextFileSync(`${out}/${scene.name}_${version}.txt`, format(header, log));
}
