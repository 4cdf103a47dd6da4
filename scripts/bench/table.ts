// The table of results in scripts/bench/README.md.
import type { Row } from "./bench.ts";

export interface Result {
  command: string;
  date: string;
  deno: string;
  server: string;
  processors: number;
  load_averages: number[][];
  rows: readonly Row[];
}

const README = new URL("./README.md", import.meta.url);
const MARKS = ["<!-- results -->", "<!-- end of results -->"] as const;

/** The rows as a Markdown table, under a line that says where they come from. */
export function tableOf({ command, date, deno, server, processors, load_averages, rows }: Result): string {
  const cell = (value: number | undefined, unit: string) => value === undefined ? "" : `${value} ${unit}`;
  const lines = rows.map(({ what, unit, ours, peer, direct, goal, met }) =>
    `| ${what} | ${cell(ours, unit)} | ${cell(direct, unit)} | ${cell(peer, unit)} | ${
      goal === undefined ? "" : `${goal} ${unit} ${met ? "✓" : "✗"}`
    } |`
  );
  return [
    `From \`results.json\`: \`${command}\`, ${
      date.slice(0, 10)
    }, Deno ${deno}, ${server}, ${processors} processors for ` +
    `everything together, load averages over a minute ${load_averages.map(([one]) => one).join(", ")}.`,
    "",
    "| what | ours | direct read | peer | goal |",
    "|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}

/** Puts the table between its marks. Throws when they are not there. */
export async function writeTable(result: Result): Promise<void> {
  const text = await Deno.readTextFile(README);
  const [begin, end] = MARKS.map((mark) => text.indexOf(mark)) as [number, number];
  if (begin < 0 || end < begin) throw new Error("scripts/bench/README.md has lost the marks of its table.");
  const table = `${MARKS[0]}\n${tableOf(result)}\n`;
  await Deno.writeTextFile(README, text.slice(0, begin) + table + text.slice(end));
}
