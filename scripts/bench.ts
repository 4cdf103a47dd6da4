// `deno task bench`: measures the whole server against reading the model's stream directly, and against a peer, in one run
// on one machine. Writes the raw samples to scripts/bench/results.json and prints a table; scripts/bench/README.md explains.
import { parseArgs } from "node:util";
import { Bench, type Target } from "./bench/bench.ts";
import { MARKERS } from "./bench/client.ts";
import { coldStart } from "./bench/executable.ts";
import { connectPeer } from "./bench/peer.ts";
import { type Lab, type Running, startLab, startModel, startServer } from "./bench/processes.ts";
import { database, firstContent, stored } from "./bench/sessions.ts";
import { round } from "./bench/statistics.ts";
import { burst, paced, toolArguments, turns, waiting } from "./bench/streams.ts";
import { writeTable } from "./bench/table.ts";
import { tenDevices } from "./bench/ten_devices.ts";

const { values: flags } = parseArgs({
  args: Deno.args,
  options: {
    /** The server to measure; left out: the source. */
    executable: { type: "string" },
    quick: { type: "boolean", default: false },
    "peer-long": { type: "boolean", default: false },
    /** Writes the table into scripts/bench/README.md. */
    write: { type: "boolean", default: false },
  },
});
const RESULTS = new URL("./bench/results.json", import.meta.url);
const COMPILED = new URL("../dist/gns3-copilot", import.meta.url).pathname;
const SOURCE = [Deno.execPath(), "run", "-A", "main.ts"];
const loads: number[][] = [Deno.loadavg()];

const model = await startModel();
const lab = await startLab();
const state = await Deno.makeTempDir();
let server: Running<string> | undefined;
let bench: Bench;
try {
  server = await startServer(
    flags.executable ? [flags.executable] : SOURCE,
    { ...lab.info, ...model.info },
    state,
  );
  const peer = await connectPeer(model.info.model);
  const targets = [oursOf(server, lab.info), ...(peer ? [peer] : [])];
  bench = new Bench(model.info, targets, { quick: flags.quick, peerLong: flags["peer-long"] });
  for (const target of targets) {
    for (let i = 0; i < 30; i++) await bench.send(target, "warm up [[words=12]]");
  }
  await database(bench, `${lab.info.projectsDir}/${lab.info.projectId}/gns3-copilot/copilot_checkpoints.db`);
  await firstContent(bench);
  await turns(bench);
  await burst(bench);
  await toolArguments(bench);
  await waiting(bench);
  loads.push(Deno.loadavg());
  await paced(bench);
  await stored(bench);
  await tenDevices(bench);
  await server.stop();
  server = undefined;
  const path = flags.executable ?? COMPILED;
  if (await Deno.stat(path).then(({ isFile }) => isFile, () => false)) {
    await coldStart(bench, { ...lab.info, ...model.info }, path);
  } else console.log("The executable's start was not measured: there is none (deno task compile).");
} finally {
  await server?.stop();
  await lab.stop();
  await model.stop();
  await Deno.remove(state, { recursive: true });
}
loads.push(Deno.loadavg());
const result = {
  command: `deno task bench ${Deno.args.join(" ")}`.trim(),
  date: new Date().toISOString(),
  deno: Deno.version.deno,
  server: flags.executable ? "the executable" : "the source",
  peer: bench.targets.length > 1,
  processors: navigator.hardwareConcurrency,
  /** At the start, before the paced streams, and at the end. */
  load_averages: loads.map((load) => load.map((one) => round(one, 2))),
  rows: bench.rows,
  samples: bench.samples,
};
// Lists of samples stand on one line each.
const json = JSON.stringify(result, null, 1).replaceAll(
  /\[\s+(-?\d[^\][{}]*?)\s+\]/g,
  (_, list: string) => `[${list.replaceAll(/\s+/g, " ")}]`,
);
await Deno.writeTextFile(RESULTS, json + "\n");
if (flags.write) await writeTable(result);
console.log(`raw samples: scripts/bench/results.json; load averages ${JSON.stringify(result.load_averages)}`);

function oursOf({ info: url, pid }: Running<string>, { projectId, token }: Lab): Target {
  const chat = `${url}/v3/projects/${projectId}/chat`;
  return { name: "ours", url, chat, token, pid, marker: MARKERS.chat, health: `${url}/health` };
}
