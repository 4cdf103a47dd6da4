// Records real VPCS consoles for tests/testdata/consoles/vpcs. Run by hand against a lab (two linked VPCS, started):
//   deno run -A tests/devices/record_console.ts LAB_JSON OUT_DIR
// LAB_JSON is what the lab prints: base_url, tokens.alice, project.project_id and nodes with name and node_id.
import { Channel } from "../../src/devices/channel.ts";
import { Driver } from "../../src/devices/driver.ts";
import { overTelnet } from "../../src/devices/telnet.ts";
import { openWebSocket } from "../../src/devices/transport.ts";
import { Gns3Client } from "../../src/gns3/client.ts";
import { type Entry, format, recorded } from "./recording.ts";
import { SCENES } from "./scenes.ts";

const [labFile, out] = Deno.args;
const lab = JSON.parse(Deno.readTextFileSync(labFile!));
const projectId: string = lab.project.project_id;
const gns3 = new Gns3Client({ baseUrl: lab.base_url, credential: lab.tokens.alice });
const version = await gns3.version();
const { signal } = new AbortController();
const nodes = await gns3.nodes(projectId);

for (const scene of SCENES) {
  const node = nodes.find(({ name }) => name === scene.node)!;
  const options = { signal, limitMs: 5_000, commands: !version.startsWith("3.0") };
  const log: Entry[] = [];
  const raw = recorded(await openWebSocket(gns3.consoleUrl(projectId, node.node_id), options), log);
  const channel = new Channel(overTelnet(raw));
  const driver = new Driver(channel, scene.platform, scene.limits);
  await driver.open(signal);
  for (const command of scene.commands) {
    const { output, failed, elapsedMs } = await driver.run(command, { signal });
    console.log(`${scene.name} ${command}: ${elapsedMs} ms ${failed ?? ""}\n${output}`);
  }
  await driver.leave(signal);
  await channel.close();
  const header = [
    `${scene.what}. VPCS 0.5b2 (Debian) behind gns3-server ${version}, over its console WebSocket.`,
    `Recorded with tests/devices/record_console.ts on ${new Date().toISOString().slice(0, 10)}.`,
  ];
  Deno.writeTextFileSync(`${out}/${scene.name}_${version}.txt`, format(header, log));
}
