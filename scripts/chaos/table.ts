// The chaos table: which rows there are, and how they are shown.
import { seeded } from "../soak/random.ts";
import { CLIENT_ROWS } from "./client_rows.ts";
import { MODEL_ROWS } from "./model_rows.ts";
import { GNS3_ROWS } from "./gns3_rows.ts";
import { STOP_ROWS } from "./stop_rows.ts";
import { READER_ROWS } from "./reader_rows.ts";
import type { Row } from "./row.ts";
import { type Handles, handlesOf } from "./handles.ts";
import type { ProcessStage } from "./stage.ts";

export const ROWS: readonly Row[] = [
  ...MODEL_ROWS,
  ...GNS3_ROWS,
  ...CLIENT_ROWS,
  ...READER_ROWS,
  ...STOP_ROWS,
];

export interface Result {
  row: Pick<Row, "where" | "fault">;
  outcome: string;
  ok: boolean;
  why: string;
  ms: number;
}

export interface Choice {
  /** Leaves out what takes long. */
  short: boolean;
  /** A text that a row must have in its name. */
  only: string;
  /** Another order for each; 0: the order of the table. */
  seed: number;
}

/** The rows to play in an order that the seed gives: no row may depend on what was before it. */
export function rowsOf({ short, only, seed }: Choice): Row[] {
  const rows = ROWS.filter((row) => !(short && row.long) && `${row.where}: ${row.fault}`.includes(only));
  const random = seeded(seed);
  if (seed) {
    for (let i = rows.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [rows[i], rows[j]] = [rows[j]!, rows[i]!];
    }
  }
  return rows;
}

export function show({ row, outcome, ok, why, ms }: Result): void {
  const name = `${row.where}: ${row.fault}`.padEnd(62);
  console.log(
    `${ok ? "ok    " : "FAILED"} ${name} ${(ms / 1000).toFixed(1).padStart(5)} s  ${outcome || why}`,
  );
  if (!ok && outcome) console.log(`       ${why}`);
}

/**
 * When everything is over nothing may be left open. Connections that are kept for the next request are dropped first;
 * those of clients are the clients' own, as long as none of them has hung up.
 */
export async function finalRow(stage: ProcessStage, before: Handles): Promise<Result> {
  const began = performance.now();
  let now = before;
  let ok = false;
  for (let i = 0; i < 100 && !ok; i++) {
    stage.toModel.drop();
    stage.toGns3.drop();
    await new Promise((resolve) => setTimeout(resolve, 50));
    now = handlesOf(stage);
    // GNS3's notifications are followed again at once.
    ok = now.files <= before.files && now.outward <= 2 && now.unnoticed === 0;
  }
  return {
    row: { where: "client", fault: "after all of them" },
    outcome: `${now.files} open files, ${before.files} before; ${now.outward} connections to others; ` +
      `${now.unnoticed} to clients that have gone; at most ${peakMb(stage.pid)} MB of memory`,
    ok,
    why: "Something was left open.",
    ms: performance.now() - began,
  };
}

/** The most memory that a process has had in RAM, in MB. */
function peakMb(pid: number): number {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))![1]) / 1024);
}
