// Measures the start of the executable.
import type { Bench } from "./bench.ts";
import { type Lab, type Model, rssMb, startServer } from "./processes.ts";
import { finished, loadOf } from "./streams.ts";
import { median } from "./statistics.ts";

/** From the start of the process to the first 200 of `/health`, and the memory it has then. */
export async function coldStart(bench: Bench, lab: Lab & Model, path: string): Promise<void> {
  const [times, memory]: number[][] = [[], []];
  for (let i = 0; i < (bench.flags.quick ? 3 : 10); i++) {
    const dir = await Deno.makeTempDir();
    const began = performance.now();
    const server = await startServer([path], lab, dir);
    await (await fetch(`${server.info}/health`)).text();
    times!.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 500));
    memory!.push(rssMb(server.pid));
    await server.stop();
    await Deno.remove(dir, { recursive: true });
  }
  const busy = await underLoad(bench, lab, path);
  bench.samples.cold_start = { ms: times, rss_mb: memory, rss_100_streams_mb: busy };
  const { size } = await Deno.stat(path);
  bench.say({ what: "executable: size", unit: "MB", ours: size / 1e6 });
  bench.say({ what: "executable: start to the first answer", unit: "ms", ours: median(times!) }, 400);
  bench.say({ what: "executable: RSS when ready", unit: "MB", ours: median(memory!) }, 110);
  bench.say({ what: "executable: RSS after 100 streams at once", unit: "MB", ours: busy }, 250);
}

/** The memory it has after it has served 100 streams at once. */
async function underLoad(bench: Bench, lab: Lab & Model, path: string): Promise<number> {
  const dir = await Deno.makeTempDir();
  const server = await startServer([path], lab, dir);
  const chat = server.info + new URL(bench.ours.chat).pathname;
  await finished(loadOf({ ...bench.ours, chat }, 100));
  const memory = rssMb(server.pid);
  await server.stop();
  await Deno.remove(dir, { recursive: true });
  return memory;
}
