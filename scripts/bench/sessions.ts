// Measures what depends on how much a session, or a project, holds already.
import { DatabaseSync } from "node:sqlite";
import type { Bench, Target } from "./bench.ts";
import { ask } from "./client.ts";
import { median } from "./statistics.ts";

/** The session that grows; a new one in every run, because the peer keeps those of earlier ones. */
const RUN = crypto.randomUUID();
const longSession = (target: Target) => `bench-${target.name}-${RUN}`;

const LONG = { quick: 400, full: 2000 };

/** Latency to the first text in a new session, in one of 200 messages and in a long one, which is left behind. */
export async function firstContent(bench: Bench): Promise<void> {
  const { quick, peerLong } = bench.flags;
  let before = 0;
  for (const messages of [0, 200, quick ? LONG.quick : LONG.full]) {
    const over: Partial<Record<Target["name"], number>> = {};
    let direct = NaN;
    for (const target of bench.targets) {
      if (messages > 200 && target.name === "peer" && !peerLong) continue;
      const session = messages ? longSession(target) : undefined;
      if (session) await bench.grow(target, session, messages - before);
      await bench.send(target, "hello [[words=3]]", session);
      const request = await bench.requestOf("words=3");
      const [own, raw]: number[][] = [[], []];
      // Pairs, so that the machine's own changes of speed meet both.
      for (let i = 0; i < (quick ? 10 : 60); i++) {
        raw!.push((await bench.direct(request)).first);
        own!.push((await bench.send(target, "hello [[words=3]]", session)).first);
      }
      bench.samples[`first_content_${messages}_${target.name}`] = { own, direct: raw };
      over[target.name] = median(own!) - median(raw!);
      if (target.name === "ours") direct = median(raw!);
    }
    before = messages;
    const where = messages ? `session of ${messages.toLocaleString("en")} messages` : "new session";
    bench.say({
      what: `first content over the direct read, ${where}`,
      unit: "ms",
      ours: over.ours!,
      peer: over.peer,
      direct,
    }, 8);
  }
}

/** Reading lists and histories, and deleting. Comes after `firstContent`, whose long session it reads and deletes. */
export async function stored(bench: Bench): Promise<void> {
  const long = bench.targets.filter(({ name }) => name === "ours" || bench.flags.peerLong);
  const read = async (target: Target, limit: number) => {
    const history = `${target.chat}/sessions/${longSession(target)}/history`;
    const began = performance.now();
    let bytes = 0;
    let before = "";
    for (;;) {
      type Page = { messages: { id: string }[] };
      const page = await ask<Page>(`${history}?limit=${limit}${before && `&before=${before}`}`, target.token);
      bytes += page.bytes;
      // The peer has no pages: it gives what `limit` says.
      if (limit < 1000 || target.name === "peer" || page.value.messages.length < limit) break;
      before = page.value.messages[0]!.id;
    }
    return { ms: performance.now() - began, bytes };
  };
  const times = async (
    name: string,
    targets: readonly Target[],
    once: (target: Target) => Promise<number>,
  ) => {
    const result: Partial<Record<Target["name"], number>> = {};
    for (const target of targets) {
      const samples: number[] = [];
      for (let i = 0; i < 20; i++) samples.push(await once(target));
      bench.samples[`${name}_${target.name}`] = samples;
      result[target.name] = median(samples);
    }
    return { ours: result.ours!, peer: result.peer };
  };
  const messages = (bench.flags.quick ? LONG.quick : LONG.full).toLocaleString("en");
  bench.say({
    what: `history, the newest 100 of ${messages} messages`,
    unit: "ms",
    ...await times("history_100", long, async (target) => (await read(target, 100)).ms),
  });
  bench.say({
    what: `history, all ${messages} messages in pages of 1,000`,
    unit: "ms",
    ...await times(
      "history_all",
      long,
      async (target) => (await read(target, target.name === "peer" ? 5000 : 1000)).ms,
    ),
  }, 15);
  for (let i = 0; i < 500; i++) {
    await ask(`${bench.ours.chat}/sessions`, bench.ours.token, { method: "POST", body: { title: `s ${i}` } });
  }
  bench.say({
    what: "sessions list, 100 of 500",
    unit: "ms",
    ...await times(
      "sessions_list",
      [bench.ours],
      async ({ chat, token }) => (await ask(`${chat}/sessions?limit=100`, token)).ms,
    ),
  });
  const deleted: Partial<Record<Target["name"], number>> = {};
  for (const target of long) {
    const url = `${target.chat}/sessions/${longSession(target)}`;
    deleted[target.name] = (await ask(url, target.token, { method: "DELETE" })).ms;
  }
  bench.samples.delete_session = deleted;
  bench.say({
    what: `deleting that session of ${messages} messages`,
    unit: "ms",
    ours: deleted.ours!,
    peer: deleted.peer,
  });
}

/** What a session of one-line turns takes on the disk: of the pages in use, whatever is still in the `-wal` file. */
export async function database(bench: Bench, path: string): Promise<void> {
  const size = () => {
    const db = new DatabaseSync(path, { readOnly: true });
    const of = (name: string) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get()!)[0]);
    const bytes = (of("page_count") - of("freelist_count")) * of("page_size");
    db.close();
    return bytes;
  };
  const base = size();
  const sizes: Record<string, number> = {};
  let turns = 0;
  for (const goal of bench.flags.quick ? [50, 100] : [50, 100, 400, 500]) {
    await bench.grow(bench.ours, "bench-size", 2 * (goal - turns));
    turns = goal;
    sizes[turns] = size() - base;
    bench.say({ what: `database after ${turns} turns of one line`, unit: "kB", ours: sizes[turns]! / 1000 });
  }
  bench.samples.database_bytes = sizes;
  if (!sizes[500]) return;
  const late = (sizes[500]! - sizes[400]!) / 100;
  const early = (sizes[100]! - sizes[50]!) / 50;
  bench.say({ what: "database: bytes a turn, late against early", unit: "×", ours: late / early }, 1.25);
}
