// Lists of row numbers as text: "1-1998,2003" keeps a checkpoint small, because a chat mostly appends.

import { damaged } from "./errors.ts";

/** Far more messages than a conversation has: a file that was made up must not keep this program busy for hours. */
const LONGEST = 10_000_000;

/** An inclusive run of row numbers. */
export type Run = [first: number, last: number];

/** Writes numbers in their order; each ascending run becomes "first-last". */
export function formatRanges(numbers: readonly number[]): string {
  const runs: Run[] = [];
  for (const number of numbers) appendRow(runs, number);
  return formatRuns(runs);
}

/** As `formatRanges`, of runs that `appendRow` has made. */
export function formatRuns(runs: readonly Run[]): string {
  return runs.map(([first, last]) => last > first ? `${first}-${last}` : `${first}`).join();
}

/** Adds a row number behind `runs`: to the last one where it goes on with it. */
export function appendRow(runs: Run[], row: number): void {
  const last = runs.at(-1);
  if (last && last[1] + 1 === row) last[1] = row;
  else runs.push([row, row]);
}

/** The runs of a text made by `formatRanges`, in its order. Throws `AppError` for any other text. */
export function parseRanges(text: string): Run[] {
  return text.split(",").map((part) => {
    const run = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part);
    const first = Number(run?.[1]);
    const last = Number(run?.[2] ?? first);
    if (!(first <= last && last - first < LONGEST)) throw damaged();
    return [first, last];
  });
}

/** Runs of `from` that are in none of `without`; both in any order and overlapping. The result is ascending. */
export function subtractRanges(from: readonly Run[], without: readonly Run[]): Run[] {
  const kept = merge(without);
  const result: Run[] = [];
  let next = 0;
  for (const [first, last] of merge(from)) {
    let start = first;
    while (next < kept.length && kept[next]![1] < start) next++;
    for (let i = next; i < kept.length && kept[i]![0] <= last; i++) {
      if (kept[i]![0] > start) result.push([start, kept[i]![0] - 1]);
      start = Math.max(start, kept[i]![1] + 1);
    }
    if (start <= last) result.push([start, last]);
  }
  return result;
}

/** Ascending runs without overlaps. */
function merge(runs: readonly Run[]): Run[] {
  const result: Run[] = [];
  for (const [first, last] of [...runs].sort((a, b) => a[0] - b[0])) {
    const previous = result.at(-1);
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else result.push([first, last]);
  }
  return result;
}
