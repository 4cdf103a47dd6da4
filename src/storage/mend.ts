// Makes the rows that were salvaged from a damaged chat database fit each other.
import { type Json, tagged } from "./codec.ts";
import type { Database } from "./connection.ts";
import { decodeMessage } from "./message_codec.ts";
import { referredRuns } from "./prune.ts";
import { formatRanges } from "./ranges.ts";

/**
 * Makes the rows in `db` fit each other: every conversation has a checkpoint that can be read, with all messages of it that
 * are there, and nothing refers to what is lost.
 */
export function mend(db: Database): void {
  db.transaction(() => {
    nameThreads(db);
    for (const table of ["saver_checkpoints", "saver_writes"]) {
      db.exec(`DELETE FROM ${table} WHERE thread NOT IN (SELECT id FROM saver_threads)`);
    }
    db.exec(`UPDATE saver_threads SET next_seq = max(next_seq,
      (SELECT COALESCE(max(seq), 0) + 1 FROM saver_rows WHERE thread = saver_threads.id))`);
    // Nobody has this user id: whose it was is lost, and it is shown to nobody else.
    db.exec(`INSERT INTO chat_sessions (thread_id, user_id, title)
      SELECT thread_id, '', 'Recovered conversation' FROM saver_threads
      WHERE thread_id NOT IN (SELECT thread_id FROM chat_sessions)`);
    for (const [thread] of db.prepare("SELECT id FROM saver_threads").arrays()) {
      mendThread(db, Number(thread));
    }
    for (const table of ["chat_turns", "chat_approvals"]) {
      db.exec(`DELETE FROM ${table} WHERE thread_id NOT IN (SELECT thread_id FROM chat_sessions)`);
    }
  });
}

/** A thread whose own row is lost is known by its last turn, whose id is in its messages. */
function nameThreads(db: Database): void {
  const lost = db.prepare(
    "SELECT DISTINCT thread FROM saver_rows WHERE thread NOT IN (SELECT id FROM saver_threads)",
  ).arrays();
  for (const [thread] of lost) {
    const turn = db.prepare(
      `SELECT t.thread_id AS thread_id FROM chat_turns t JOIN saver_rows r ON r.thread = ? AND instr(r.rest, t.turn_id) > 0
       ORDER BY r.seq DESC LIMIT 1`,
    ).get(thread!);
    db.prepare("INSERT OR IGNORE INTO saver_threads (id, thread_id) VALUES (?, ?)")
      .run(thread!, turn?.thread_id ?? `recovered-${thread}`);
  }
}

function mendThread(db: Database, thread: number): void {
  const messages = readableRows(db, thread);
  const there = new Set(
    db.prepare("SELECT seq FROM saver_rows WHERE thread = ?").arrays(thread).map(([seq]) => Number(seq)),
  );
  /** In the newest checkpoint of the conversation itself. */
  let left: number | undefined;
  const checkpoints = db.prepare(
    "SELECT ns, id, channels FROM saver_checkpoints WHERE thread = ? ORDER BY id",
  );
  for (const [ns, id, channels] of checkpoints.arrays(thread)) {
    const mended = withoutLost(String(channels), there);
    if (ns === "") left = mended.messages;
    db.prepare("UPDATE saver_checkpoints SET channels = ? WHERE thread = ? AND ns = ? AND id = ?")
      .run(JSON.stringify(mended.channels), thread, ns!, id!);
  }
  const writes = db.prepare("SELECT ns, checkpoint, task, idx, value FROM saver_writes WHERE thread = ?");
  for (const [ns, checkpoint, task, idx, value] of writes.arrays(thread)) {
    if (numbersIn(JSON.parse(String(value)))?.every((seq) => there.has(seq))) continue;
    db.prepare(
      "DELETE FROM saver_writes WHERE thread = ? AND ns = ? AND checkpoint = ? AND task = ? AND idx = ?",
    ).run(thread, ns!, checkpoint!, task!, idx!);
  }
  if (left === undefined && messages.length > 0) writeStandIn(db, thread, messages);
  db.prepare(
    `UPDATE chat_sessions SET message_count = ?
     WHERE thread_id = (SELECT thread_id FROM saver_threads WHERE id = ?)`,
  ).run(left ?? messages.length, thread);
}

/** The numbers of a thread's messages, each in its newest version; rows that are no message any more are deleted. */
function readableRows(db: Database, thread: number): number[] {
  const newest = new Map<string, number>();
  const rows = db.prepare(
    "SELECT seq, kind, id, content, rest FROM saver_rows WHERE thread = ? AND kind <> 'value' ORDER BY seq",
  );
  for (
    const [seq, kind, id, content, rest] of rows.arrays(thread) as [number, string, ...(string | null)[]][]
  ) {
    try {
      decodeMessage({ kind, id: id!, content: content!, rest: rest! });
      if (kind !== "remove") newest.set(id ?? `row ${seq}`, seq);
    } catch {
      db.prepare("DELETE FROM saver_rows WHERE thread = ? AND seq = ?").run(thread, seq);
    }
  }
  return [...newest.values()];
}

/** A checkpoint's channels without what refers to lost rows; of the list of messages those remain that are there. */
function withoutLost(
  text: string,
  there: ReadonlySet<number>,
): { channels: Record<string, Json>; messages: number } {
  const channels: [string, Json][] = [];
  let messages = 0;
  for (const [name, value] of Object.entries(JSON.parse(text) as Record<string, Json>)) {
    const numbers = numbersIn(value);
    if (numbers?.every((seq) => there.has(seq))) channels.push([name, value]);
    else if (name === "messages") {
      const left = numbers?.filter((seq) => there.has(seq)) ?? [];
      channels.push([name, left.length > 0 ? tagged("ms", formatRanges(left)) : []]);
    }
    if (name === "messages") messages = numbers?.filter((seq) => there.has(seq)).length ?? 0;
  }
  return { channels: Object.fromEntries(channels), messages };
}

/** The rows that a value refers to; undefined for what nobody has written so. */
function numbersIn(value: Json): number[] | undefined {
  try {
    return referredRuns(value).flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, i) => first + i)
    );
  } catch {
    return undefined;
  }
}

/** A checkpoint with nothing but messages, for a thread that has lost its own. */
function writeStandIn(db: Database, thread: number, messages: number[]): void {
  const head = { v: 4, ts: new Date().toISOString(), channel_versions: { messages: 1 }, versions_seen: {} };
  db.prepare(
    `INSERT INTO saver_checkpoints (thread, ns, id, parent, head, channels, metadata) VALUES (?, '', ?, NULL, ?, ?, ?)`,
  ).run(
    thread,
    // Before every id that LangGraph makes.
    "00000000-0000-6000-8000-000000000000",
    JSON.stringify(head),
    JSON.stringify({ messages: tagged("ms", formatRanges(messages)) }),
    JSON.stringify({ source: "update", step: 0, parents: {} }),
  );
}
