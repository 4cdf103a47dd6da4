// `deno task soak [--minutes N] [--users N] [--executable PATH] [--seed N] [--untimed]`: many users for a long time, with everything that
// users and administrators do. Prints what was measured and whether it levelled off. See `scripts/chaos/README.md`.
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { within } from "./chaos/row.ts";
import { startStage } from "./chaos/stage.ts";
import { quantile, round } from "./bench/statistics.ts";
import { furnish } from "./soak/lab.ts";
import { operate } from "./soak/operator.ts";
import { seeded } from "./soak/random.ts";
import { measure, type Sample, timesCount, verdicts } from "./soak/samples.ts";
import { pause, type Tally, User, writeScripts } from "./soak/user.ts";

const { values: flags } = parseArgs({
  args: Deno.args,
  options: {
    minutes: { type: "string", default: "10" },
    users: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    executable: { type: "string" },
    // On a machine with other work times say nothing: they are printed and not judged.
    untimed: { type: "boolean", default: false },
  },
});
const seconds = Number(flags.minutes) * 60;
const seed = Number(flags.seed);
const every = Math.max(2, seconds / 60);

const stage = await startStage({
  executable: flags.executable,
  limits: { modelTimeout: 60, titleTimeout: 5, heartbeatInterval: 15 },
  more: ["--max-projects", "8"],
  keep: 100,
});
const { gns3 } = stage;
writeScripts(stage.model);
const { users, places, tokens } = await furnish(gns3, Number(flags.users));
const tally: Tally = { first: [], short: [], did: new Map(), faults: new Map() };
const note = (fault: string) => void tally.faults.set(fault, (tally.faults.get(fault) ?? 0) + 1);
const began = performance.now();
const over = () => performance.now() - began > seconds * 1000;

/** Nothing that a user does takes so long. Milliseconds. */
const LONGEST = 120_000;

/** One user in one project until the time is over. In a project that comes and goes a refusal is right; a fault never is. */
async function live(user: User, random: () => number, steady: boolean): Promise<void> {
  while (!over()) {
    try {
      const what = user.next();
      await within(LONGEST, user.act(what), what);
    } catch (error) {
      user.forget();
      const { message } = error as Error;
      // A turn that somebody has left goes on: the session is busy until it ends.
      const busy = message.includes("already answering");
      const fault = steady && !busy || /"internal"|^not within/.test(message);
      if (fault) note(message.replaceAll(/[0-9a-f-]{36}/g, "…").slice(0, 300));
      await pause(500);
    }
    await pause(random() * 2000);
  }
}

const living = users.flatMap(({ name, steady, place }, i) => {
  const token = tokens.get(name)!;
  const random = seeded(seed * 1000 + i);
  // Half of the users are where projects come and go: there a refusal is what they should get.
  return i % 2
    ? live(new User(() => stage.chat(token, place.projectId), random, tally), random, false)
    : live(new User(() => stage.chat(token, steady), random, tally), random, true);
});
const operating = (async () => {
  const random = seeded(seed);
  while (!over()) {
    await operate(gns3, places, random, tally).catch((error) => note(error.message));
    await pause(1000 + random() * 2000);
  }
})();

const samples: Sample[] = [];
console.log(
  "seconds  RSS MB  files  connections  databases MB  starved  turns  first event p95 ms  short answer p95 ms",
);
while (!over()) {
  await pause(every * 1000);
  const sample: Sample = {
    seconds: Math.round((performance.now() - began) / 1000),
    ...measure(stage.pid, gns3.projectsDir),
    turns: tally.first.length,
    firstP95: round(quantile(tally.first, 0.95)),
    shortP95: round(quantile(tally.short, 0.95)),
  };
  [tally.first, tally.short] = [[], []];
  samples.push(sample);
  const { seconds, rss, files, connections, databases, starved, turns, firstP95, shortP95 } = sample;
  console.log(
    [seconds, rss, files, connections, databases, starved, turns, firstP95, shortP95].map((n, i) =>
      String(n).padStart([7, 7, 6, 12, 13, 8, 6, 19, 20][i]!)
    ).join(" "),
  );
}
await Promise.all([...living, operating]);

const errors = new Set(
  stage.errors().map((line) => JSON.parse(line)).map(({ msg, error }) => `${msg} ${error ?? ""}`),
);
for (const error of errors) note(`in the log: ${error}`);
const ready = await fetch(`${stage.url}/ready`);
if (ready.status !== 200) note(`/ready is ${ready.status}: ${await ready.text()}`);
else await ready.body?.cancel();
for (const { name } of Deno.readDirSync(gns3.projectsDir)) checkDatabase(name);
console.log(`\ndid: ${[...tally.did].map(([what, count]) => `${count} × ${what}`).join(", ")}`);
const timed = !flags.untimed && timesCount(samples);
if (!timed) {
  console.log("Times are not judged: the server had to wait for a processor, or it was not wanted.");
}
const judged = verdicts(samples).filter(({ unit }) => timed || unit !== "ms");
for (const { name, middle, last, unit, level } of judged) {
  console.log(
    `${level ? "level " : "RISING"} ${
      name.padEnd(10)
    } middle third ${middle} ${unit}, last third ${last} ${unit}`,
  );
}
for (const [fault, count] of tally.faults) console.log(`FAULT  ${count} × ${fault}`);
const code = await stage.stop();
if (code !== 0) console.log(`FAULT  the server ended with ${code}`);
const good = judged.every(({ level }) => level) && tally.faults.size === 0 && code === 0;
console.log(good ? "The server levels off, and nothing came out that should not." : "The soak has failed.");
Deno.exit(good ? 0 : 1);

function checkDatabase(project: string): void {
  const path = `${gns3.projectsDir}/${project}/gns3-copilot/copilot_checkpoints.db`;
  try {
    Deno.statSync(path);
  } catch {
    return;
  }
  const db = new DatabaseSync(path, { readOnly: true });
  const [row] = db.prepare("PRAGMA integrity_check").all();
  if (row?.integrity_check !== "ok") note(`a database is damaged: ${row?.integrity_check}`);
  db.close();
}
