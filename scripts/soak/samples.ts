// What is measured in a soak, and whether it has levelled off.
import { quantile, round } from "../bench/statistics.ts";

/** One sample. Times in milliseconds, sizes in MB. */
export interface Sample {
  seconds: number;
  rss: number;
  files: number;
  connections: number;
  databases: number;
  /** How long the server has waited for a processor that other programs had, in share of the time since the last sample. */
  starved: number;
  turns: number;
  firstP95: number;
  shortP95: number;
}

/** Reads what the operating system and the folders say of a server. */
export function measure(
  pid: number,
  projectsDir: string,
): Pick<Sample, "rss" | "files" | "connections" | "databases" | "starved"> {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return {
    rss: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024),
    ...handles(pid),
    databases: round(databasesIn(projectsDir) / 1e6),
    starved: starvedSince(pid),
  };
}

/** What a process has open: connections, and everything else. */
function handles(pid: number): Pick<Sample, "files" | "connections"> {
  const open = { files: 0, connections: 0 };
  for (const { name } of Deno.readDirSync(`/proc/${pid}/fd`)) {
    try {
      open[Deno.readLinkSync(`/proc/${pid}/fd/${name}`).startsWith("socket:") ? "connections" : "files"]++;
    } catch {
      // It has been closed meanwhile.
    }
  }
  return open;
}

let waitedBefore = 0;
let askedAt = performance.now();

function starvedSince(pid: number): number {
  let waited = 0;
  for (const { name } of Deno.readDirSync(`/proc/${pid}/task`)) {
    try {
      waited += Number(Deno.readTextFileSync(`/proc/${pid}/task/${name}/schedstat`).split(" ")[1]) / 1e6;
    } catch {
      // A thread that has ended, or a system that does not tell.
    }
  }
  const share = (waited - waitedBefore) / (performance.now() - askedAt);
  [waitedBefore, askedAt] = [waited, performance.now()];
  return round(Math.max(0, share), 2);
}

/** A server that waited so long for a processor has been slow by no fault of its own. */
export const MOST_STARVED = 0.2;

/** Whether the times of a soak say something about the server. */
export function timesCount(samples: readonly Sample[]): boolean {
  return quantile(samples.map(({ starved }) => starved), 0.5) <= MOST_STARVED;
}

function databasesIn(projectsDir: string): number {
  let size = 0;
  for (const { name } of Deno.readDirSync(projectsDir)) {
    for (const end of ["", "-wal"]) {
      try {
        size += Deno.statSync(`${projectsDir}/${name}/gns3-copilot/copilot_checkpoints.db${end}`).size;
      } catch {
        // A project without a conversation, or one that is going.
      }
    }
  }
  return size;
}

/** What must have levelled off: the last third may be this much above the middle one, in share and in its unit. */
const CURVES = [
  { name: "rss", unit: "MB", share: 0.15, more: 30 },
  { name: "files", unit: "", share: 0.05, more: 8 },
  { name: "connections", unit: "", share: 0.3, more: 30 },
  { name: "databases", unit: "MB", share: 0.2, more: 3 },
  { name: "firstP95", unit: "ms", share: 0.5, more: 100 },
  { name: "shortP95", unit: "ms", share: 0.5, more: 200 },
] as const;

export interface Verdict {
  name: string;
  middle: number;
  last: number;
  unit: string;
  level: boolean;
}

/** The last third of the samples against the middle one, by their medians. */
export function verdicts(samples: readonly Sample[]): Verdict[] {
  const third = Math.floor(samples.length / 3);
  return CURVES.map(({ name, unit, share, more }) => {
    const [middle, last] = [samples.slice(third, 2 * third), samples.slice(-third)].map((part) =>
      quantile(part.map((sample) => sample[name]).filter((value) => !Number.isNaN(value)), 0.5)
    ) as [number, number];
    return {
      name,
      unit,
      middle: round(middle),
      last: round(last),
      level: !(last > middle * (1 + share) + more),
    };
  });
}
