// Measures streams: one as fast as it comes, many at the pace of a model, large tool calls, and chats that wait.
import { type Bench, messageOf, type Target } from "./bench.ts";
import { ask, MARKERS } from "./client.ts";
import { cpuMs, rssMb, runLoad, startPass } from "./processes.ts";
import type { Load, Streams } from "./load.ts";
import { median, quantile, round } from "./statistics.ts";

type PerTarget = Partial<Record<Target["name"], number>>;

/** One stream of 5,000 tokens as fast as the model gives them. */
export async function burst(bench: Bench): Promise<void> {
  const tag = "words=5000";
  const cpu: PerTarget = {};
  const time: PerTarget = {};
  let direct = NaN;
  for (const target of bench.targets) {
    await bench.send(target, `as fast as you can [[${tag}]]`);
    const request = await bench.requestOf(tag);
    const [own, raw, used]: number[][] = [[], [], []];
    for (let i = 0; i < (bench.flags.quick || target.name === "peer" ? 3 : 20); i++) {
      raw!.push((await bench.direct(request)).total);
      const before = cpuMs(target.pid);
      own!.push((await bench.send(target, `as fast as you can [[${tag}]]`)).total);
      used!.push((cpuMs(target.pid) - before) * 1000 / 5000);
    }
    bench.samples[`burst_${target.name}`] = { cpu_us_per_token: used, ms: own, direct_ms: raw };
    // The system counts in steps of 10 ms, which only an average of many gets under.
    cpu[target.name] = used!.reduce((sum, one) => sum + one, 0) / used!.length;
    time[target.name] = median(own!);
    if (target.name === "ours") direct = median(raw!);
  }
  const what = "one stream of 5,000 tokens";
  bench.say({ what: `${what}: time`, unit: "ms", ours: time.ours!, peer: time.peer, direct });
  bench.say({ what: `${what}: CPU of the server a token`, unit: "us", ours: cpu.ours!, peer: cpu.peer }, 35);
}

/** What a short turn in a new session costs, title and all; one after the other. */
export async function turns(bench: Bench): Promise<void> {
  const count = bench.flags.quick ? 50 : 200;
  const cpu: PerTarget = {};
  for (const target of bench.targets) {
    const before = cpuMs(target.pid);
    for (let i = 0; i < count; i++) await bench.send(target, "hello [[words=12]]");
    cpu[target.name] = (cpuMs(target.pid) - before) / count;
  }
  bench.samples[`cpu_of_${count}_turns`] = cpu;
  bench.say({
    what: "a short turn in a new session: CPU of the server",
    unit: "ms",
    ours: cpu.ours!,
    peer: cpu.peer,
  });
}

const PACED = "words=200,ms=20";
const IDEAL_MS = 200 * 20;
/** For so many streams: how much longer than the ideal the last one may take. */
const GOALS = new Map([[20, 1.2], [100, 1.2], [300, 1.3]]);

/** Many streams at once, each of 200 tokens at 20 ms. */
export async function paced(bench: Bench): Promise<void> {
  const { quick, peerLong } = bench.flags;
  await bench.send(bench.ours, `slowly [[${PACED}]]`);
  const request = await bench.requestOf(PACED);
  for (const [count, share] of GOALS) {
    if (quick && count > 100) continue;
    const targets = bench.targets.filter(({ name }) => name === "ours" || count < 300 || peerLong);
    const runs: Record<string, Run[]> = { direct: [] };
    for (let round = 0; round < (quick || count > 100 ? 1 : 3); round++) {
      runs.direct!.push(await measured(bench, directLoad(bench, request, count)));
      for (const target of targets) {
        if (target.name === "peer" && round > 0) continue;
        (runs[target.name] ??= []).push(await measured(bench, loadOf(target, count), target));
      }
    }
    bench.samples[`paced_${count}`] = runs;
    const of = (name: string, figure: (run: Run) => number) =>
      runs[name] ? median(runs[name].map(figure)) : undefined;
    const say = (what: string, unit: string, figure: (run: Run) => number, goal?: number, ofDirect = true) =>
      bench.say({
        what: `${count} streams of 200 tokens at 20 ms: ${what}`,
        unit,
        ours: of("ours", figure)!,
        peer: of("peer", figure),
        direct: ofDirect ? of("direct", figure) : undefined,
      }, goal);
    say(
      "the last one ends after",
      "s",
      (run) => Math.max(...run.total) / 1000,
      round(share * IDEAL_MS / 1000),
    );
    say("median first content", "ms", (run) => median(run.first));
    say("p95 gap", "ms", (run) => run.gaps.p95);
    say("CPU of the server a token", "us", (run) => run.cpuMs * 1000 / (200 * count), 160);
    if (count !== 100) continue;
    const bare = await passedOn(bench, request, count);
    bench.say({
      what: `${count} streams of 200 tokens at 20 ms: CPU a token beyond passing bytes on, turns and all`,
      unit: "us",
      ours: of("ours", (run) => run.cpuMs * 1000 / (200 * count))! - bare,
      direct: bare,
    });
    say("RSS of the server", "MB", (run) => run.rssMb, 250, false);
    await stalls(bench, targets, count);
  }
}

/** The CPU a token, in microseconds, of a server in Deno that only passes the streams on. */
async function passedOn(bench: Bench, request: unknown, count: number): Promise<number> {
  const pass = await startPass(bench.model.model);
  try {
    const load = { ...directLoad(bench, request, count), url: pass.info.url };
    const runs: number[] = [];
    // The first time it is not compiled yet.
    for (let i = 0; i < 3; i++) {
      const before = cpuMs(pass.pid);
      await finished(load);
      runs.push((cpuMs(pass.pid) - before) * 1000 / (200 * count));
    }
    bench.samples[`passed_on_${count}_cpu_us_per_token`] = runs;
    return median(runs);
  } finally {
    await pass.stop();
  }
}

/**
 * Whether anything else is kept waiting meanwhile: no stall of the event loop is longer than an answer of `/health`. A server
 * that does nothing is asked as often at the same time: what its answers take is waiting for a processor.
 */
async function stalls(bench: Bench, targets: readonly Target[], count: number): Promise<void> {
  const health: Partial<Record<Target["name"], number[]>> = {};
  const idle: number[] = [];
  const pass = await startPass(bench.model.model);
  try {
    for (const target of targets) {
      const waits: number[] = health[target.name] = [];
      const load = finished(loadOf(target, count));
      const watches = [
        askWhile(load, target.health, target.token, waits),
        askWhile(load, pass.info.url, "", target.name === "ours" ? idle : []),
      ];
      await load;
      await Promise.all(watches);
    }
  } finally {
    await pass.stop();
  }
  bench.samples[`health_beside_${count}`] = { ...health, idle };
  const say = (what: string, p: number, goal?: number) =>
    bench.say({
      what:
        `${count} streams of 200 tokens at 20 ms: ${what} answer of /health meanwhile (direct: of an idle server)`,
      unit: "ms",
      ours: quantile(health.ours!, p),
      peer: health.peer && quantile(health.peer, p),
      direct: quantile(idle, p),
    }, goal);
  say("p99", 0.99);
  say("longest", 1, 20);
}

/** Asks every 5 ms until `work` has ended, and notes how long each answer took, in milliseconds. */
async function askWhile(work: Promise<unknown>, url: string, token: string, waits: number[]): Promise<void> {
  let over = false;
  void work.catch(() => {}).finally(() => over = true);
  while (!over) {
    waits.push(round((await ask(url, token)).ms, 2));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

interface Run extends Streams {
  cpuMs: number;
  rssMb: number;
}

async function measured(bench: Bench, load: Load, target?: Target): Promise<Run> {
  const before = cpuMs(target?.pid);
  const streams = await finished(load);
  const used = cpuMs(target?.pid) - before;
  // Each has opened a connection; the next run is not to meet their ends.
  await new Promise((resolve) => setTimeout(resolve, bench.flags.quick ? 200 : 2000));
  return { ...streams, cpuMs: used, rssMb: rssMb(target?.pid) };
}

/** Runs `load`. Throws when a stream fails: what is fast because it is broken is not measured. */
export async function finished(load: Load): Promise<Streams> {
  const streams = await runLoad(load);
  const { failed } = streams;
  if (failed.length) throw new Error(`${failed.length} of ${load.count} streams failed: ${failed[0]}`);
  return streams;
}

/** So many paced streams of `target` at once. */
export function loadOf({ chat, token, marker }: Target, count: number): Load {
  return {
    url: `${chat}/stream`,
    headers: { authorization: `Bearer ${token}` },
    body: messageOf(`slowly [[${PACED}]]`),
    marker,
    count,
  };
}

function directLoad({ model }: Bench, request: unknown, count: number): Load {
  return {
    url: `${model.model}/chat/completions`,
    headers: {},
    body: request,
    marker: MARKERS.model,
    count,
  };
}

/** How many bytes of events a tool call's arguments become. */
export async function toolArguments(bench: Bench): Promise<void> {
  for (const size of [2000, 20_000, 100_000]) {
    const bytes: PerTarget = {};
    for (const target of bench.targets) {
      if (target.name === "peer" && size > 20_000 && !bench.flags.peerLong) continue;
      bytes[target.name] = (await bench.send(target, `call a tool [[args=${size}]]`)).bytes / 1000;
    }
    bench.samples[`tool_arguments_${size}`] = bytes;
    bench.say({
      what: `bytes of events for a tool call of ${size / 1000} kB`,
      unit: "kB",
      ours: bytes.ours!,
      peer: bytes.peer,
    }, 5 * size / 1000);
  }
}

/** What a chat takes while six others wait in a tool. */
export async function waiting(bench: Bench): Promise<void> {
  const time: PerTarget = {};
  for (const target of bench.targets) {
    const others = Array.from({ length: 6 }, () => bench.send(target, "wait [[wait=5]]"));
    await new Promise((resolve) => setTimeout(resolve, 1000));
    time[target.name] = (await bench.send(target, "hello [[words=12]]")).total;
    await Promise.all(others);
  }
  bench.samples.beside_six_waiting = time;
  bench.say({
    what: "a short chat while six others wait 5 s in a tool",
    unit: "ms",
    ours: time.ours!,
    peer: time.peer,
  }, 100);
}
