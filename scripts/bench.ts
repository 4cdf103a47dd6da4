// `deno task bench [--executable PATH] [--quick]`: measures the whole server against reading the model's stream directly,
// in one run on one machine. Writes the raw samples to scripts/bench/results.json and prints a table.
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { direct, get, ours, type Reading } from "./bench/client.ts";
import { cpuMs, type Lab, rssMb, type Running, startLab, startServer } from "./bench/processes.ts";
import { median, quantile, round } from "./bench/statistics.ts";

const { values: flags } = parseArgs({
  args: Deno.args,
  options: { executable: { type: "string" }, quick: { type: "boolean", default: false } },
});
const RESULTS = new URL("./bench/results.json", import.meta.url);
const SOURCE = [Deno.execPath(), "run", "-A", "main.ts"];
const ROUNDS = flags.quick ? 10 : 60;
const TURNS = flags.quick ? 100 : 500;
const IDEAL_MS = 200 * 20;

interface Row {
  what: string;
  value: number;
  unit: string;
  /** Against reading the same bytes of the model's stream directly. */
  direct?: number;
  goal?: string;
  met?: boolean;
}
const rows: Row[] = [];
const samples: Record<string, unknown> = {};
const say = (row: Row) => {
  rows.push(row);
  const against = row.direct === undefined
    ? ""
    : `  direct ${row.direct} (×${round(row.value / row.direct, 2)})`;
  const goal = row.goal === undefined ? "" : `  goal ${row.goal}: ${row.met ? "met" : "NOT MET"}`;
  console.log(`${row.what.padEnd(58)} ${String(row.value).padStart(8)} ${row.unit}${against}${goal}`);
};

const lab = await startLab();
const state = await Deno.makeTempDir();
let server: Running<string> | undefined;
try {
  server = await startServer(SOURCE, lab.info, state);
  await measure(lab.info, server);
  await server.stop();
  server = undefined;
  await coldStart(lab.info);
} finally {
  await server?.stop();
  await lab.stop();
  await Deno.remove(state, { recursive: true });
}
await Deno.writeTextFile(
  RESULTS,
  JSON.stringify(
    {
      command: `deno task bench ${Deno.args.join(" ")}`.trim(),
      date: new Date().toISOString(),
      deno: Deno.version.deno,
      processors: navigator.hardwareConcurrency,
      load_average: Deno.loadavg().map((load) => round(load, 2)),
      rows,
      samples,
    },
    null,
    1,
  ) + "\n",
);
console.log(
  `raw samples: scripts/bench/results.json; load average ${
    Deno.loadavg().map((load) => load.toFixed(2)).join(" ")
  }`,
);

async function measure(lab: Lab, server: Running<string>) {
  const chat = `${server.info}/v3/projects/${lab.projectId}/chat`;
  const send = (message: string, session?: string) => ours(chat, lab.token, message, session);
  const requestOf = async (key: string) => await (await fetch(`${lab.control}/?key=${key}`)).json();
  for (let i = 0; i < 15; i++) await send("warm up [[turn]]");

  // Pairs, so that the machine's own changes of speed meet both.
  const firstContent = async (name: string, session?: string) => {
    await send("hello [[first]]", session);
    const request = await requestOf("first");
    const [own, raw]: number[][] = [[], []];
    for (let i = 0; i < ROUNDS; i++) {
      raw!.push((await direct(lab.model, request)).first);
      own!.push((await send("hello [[first]]", session)).first);
    }
    samples[name] = { ours: own, direct: raw };
    return { own: median(own!), raw: median(raw!) };
  };
  const fresh = await firstContent("first_content_new_session");
  say({
    what: "first content, new session, over the direct read",
    value: round(fresh.own - fresh.raw),
    unit: "ms",
    direct: round(fresh.raw),
    goal: "<= 12",
    met: fresh.own - fresh.raw <= 12,
  });

  const sizes = await grow(lab, send);
  const long = await firstContent("first_content_2000_messages", "long");
  say({
    what: `first content, session with ${2 * TURNS * (flags.quick ? 1 : 2)} messages, over the direct read`,
    value: round(long.own - long.raw),
    unit: "ms",
    direct: round(long.raw),
    goal: "<= 20",
    met: long.own - long.raw <= 20,
  });
  for (const [turns, bytes] of Object.entries(sizes.sizes)) {
    say({
      what: `database after ${turns} turns of one-line messages`,
      value: round(bytes / 1000),
      unit: "kB",
    });
  }
  say({
    what: "bytes per turn, late against early",
    value: round(sizes.late / sizes.early, 2),
    unit: "×",
    goal: "constant (0.8–1.25)",
    met: sizes.late / sizes.early > 0.8 && sizes.late / sizes.early < 1.25,
  });
  const history: number[] = [];
  for (let i = 0; i < 20; i++) {
    history.push((await get(`${chat}/sessions/long/history?limit=1000`, lab.token)).ms);
  }
  samples.history_1000 = history;
  say({
    what: "history, the newest 1,000 messages of that session",
    value: round(median(history)),
    unit: "ms",
  });

  await burst(lab, server, send, requestOf);
  await paced(lab, server, send, requestOf);
}

/** One session of many turns; sizes are of the pages in use, whatever is still in the write-ahead log. */
async function grow(lab: Lab, send: (message: string, session: string) => Promise<Reading>) {
  const path = `${lab.projectsDir}/${lab.projectId}/gns3-copilot/copilot_checkpoints.db`;
  const size = () => {
    const db = new DatabaseSync(path, { readOnly: true });
    const of = (name: string) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get()!)[0]);
    const bytes = (of("page_count") - of("freelist_count")) * of("page_size");
    db.close();
    return bytes;
  };
  const base = size();
  const sizes: Record<string, number> = {};
  const all = flags.quick ? TURNS : 2 * TURNS;
  for (let turn = 1; turn <= all; turn++) {
    await send("another line for the session [[turn]]", "long");
    if ([50, 100, 400, 500, 1000].includes(turn)) sizes[turn] = size() - base;
  }
  samples.database_bytes = sizes;
  const early = (sizes[100]! - sizes[50]!) / 50;
  const late = flags.quick ? early : (sizes[500]! - sizes[400]!) / 100;
  return { sizes, early, late };
}

/** One stream of 5,000 tokens as fast as the model gives them. */
async function burst(
  lab: Lab,
  server: Running<string>,
  send: (message: string) => Promise<Reading>,
  requestOf: (key: string) => Promise<unknown>,
) {
  await send("as fast as you can [[burst]]");
  const request = await requestOf("burst");
  const cpu: number[] = [];
  const [own, raw]: number[][] = [[], []];
  for (let i = 0; i < (flags.quick ? 3 : 10); i++) {
    raw!.push((await direct(lab.model, request)).total);
    const before = cpuMs(server.pid);
    own!.push((await send("as fast as you can [[burst]]")).total);
    cpu.push((cpuMs(server.pid) - before) * 1000 / 5000);
  }
  samples.burst = { cpu_us_per_token: cpu, ours_ms: own, direct_ms: raw };
  say({
    what: "one stream of 5,000 tokens: CPU of the server a token",
    value: round(median(cpu)),
    unit: "us",
    goal: "<= 50",
    met: median(cpu) <= 50,
  });
  say({
    what: "one stream of 5,000 tokens: time",
    value: round(median(own!)),
    unit: "ms",
    direct: round(median(raw!)),
  });
}

/** 100 streams at once, each of 200 tokens at 20 ms. */
async function paced(
  lab: Lab,
  server: Running<string>,
  send: (message: string) => Promise<Reading>,
  requestOf: (key: string) => Promise<unknown>,
) {
  await send("slowly [[paced]]");
  const request = await requestOf("paced");
  const many = (one: () => Promise<Reading>) =>
    Promise.all(Array.from({ length: flags.quick ? 20 : 100 }, one));
  const raw = await many(() => direct(lab.model, request));
  const before = cpuMs(server.pid);
  const own = await many(() => send("slowly [[paced]]"));
  const cpu = (cpuMs(server.pid) - before) * 1000 / (200 * own.length);
  const rss = rssMb(server.pid);
  const within = (list: Reading[]) => list.filter((one) => one.total <= 1.2 * IDEAL_MS).length / list.length;
  const gap = (list: Reading[]) => quantile(list.flatMap((one) => one.gaps), 0.95);
  samples.paced = {
    ours: own.map((one) => one.total),
    direct: raw.map((one) => one.total),
    cpu_us_per_token: cpu,
  };
  const what = `${own.length} streams of 200 tokens at 20 ms`;
  say({
    what: `${what}: finished within 1.2 × ideal`,
    value: round(100 * within(own)),
    unit: "%",
    direct: round(100 * within(raw)),
    goal: "100 %",
    met: within(own) === 1,
  });
  const longest = (list: Reading[]) => round(Math.max(...list.map((one) => one.total)) / 1000, 2);
  say({ what: `${what}: the last one ends after`, value: longest(own), unit: "s", direct: longest(raw) });
  say({ what: `${what}: p95 gap`, value: round(gap(own)), unit: "ms", direct: round(gap(raw)) });
  say({
    what: `${what}: CPU of the server a token`,
    value: round(cpu),
    unit: "us",
    goal: "<= 160",
    met: cpu <= 160,
  });
  say({ what: `${what}: RSS of the server`, value: rss, unit: "MB" });
}

/** From the start of the process to the first 200 of `/health`, and the memory it has then. */
async function coldStart(lab: Lab) {
  const path = flags.executable ?? new URL("../dist/gns3-copilot", import.meta.url).pathname;
  if (!await Deno.stat(path).then((found) => found.isFile, () => false)) {
    console.log("cold start of the executable: not measured, there is no executable (deno task compile)");
    return;
  }
  const [times, memory]: number[][] = [[], []];
  for (let i = 0; i < (flags.quick ? 3 : 10); i++) {
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
  samples.cold_start = { ms: times, rss_mb: memory };
  const { size } = await Deno.stat(path);
  say({ what: "executable: size", value: round(size / 1e6), unit: "MB" });
  say({
    what: "executable: start to the first answer",
    value: round(median(times!), 0),
    unit: "ms",
    goal: "<= 400",
    met: median(times!) <= 400,
  });
  say({
    what: "executable: RSS when ready",
    value: median(memory!),
    unit: "MB",
    goal: "<= 110",
    met: median(memory!) <= 110,
  });
}
