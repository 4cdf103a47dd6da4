// What is readable of a damaged chat database, put into a new one.
import { type Json, tagged } from "./codec.ts";
import type { Database, Value } from "./connection.ts";
import { decodeMessage } from "./message_codec.ts";
import { type RawRow, rowsOf } from "./pages.ts";
import { referredRuns } from "./prune.ts";
import { formatRanges, parseRanges, type Run } from "./ranges.ts";
import { original } from "./text.ts";

interface Table {
  name: string;
  columns: string;
  /**
   * What tells a row from all others, a letter a column: N a number, S a text, J a text of JSON, 0 nothing (a rowid's
   * own column), n and s one or nothing.
   */
  shape: string;
  /** Columns that older databases lack. */
  later?: string;
  rowid?: boolean;
}

const TABLES: readonly Table[] = [
  {
    name: "chat_sessions",
    columns: "id, thread_id, user_id, project_id, title, message_count, llm_calls_count, input_tokens, " +
      "output_tokens, total_tokens, last_message_at, created_at, updated_at, metadata, stats, pinned, title_source",
    shape: "0SSSSnnnnnsssss",
    later: "nn",
    rowid: true,
  },
  { name: "saver_threads", columns: "id, thread_id, next_seq", shape: "0SN", rowid: true },
  {
    name: "injected_faults",
    columns: "id, issue, title, devices, undo, note, user_id, username, injected_at, undone_at",
    shape: "0SSJJsSSSs",
    rowid: true,
  },
  { name: "saver_rows", columns: "thread, seq, kind, id, content, rest, hash", shape: "NNSsssN" },
  {
    name: "saver_checkpoints",
    columns: "thread, ns, id, parent, head, channels, metadata",
    shape: "NSSsJJJ",
  },
  {
    name: "saver_writes",
    columns: "thread, ns, checkpoint, task, idx, path, channel, value",
    shape: "NSSSNSSJ",
  },
  {
    name: "chat_turns",
    columns: "thread_id, turn_id, started_at, ended_at, finish_reason, usage, error, title, last_seq",
    shape: "SSSsssssN",
  },
  {
    name: "chat_approvals",
    columns: "id, thread_id, place, request, options, expires_at, decision",
    shape: "SSNJJSs",
  },
  {
    name: "python_threads",
    columns: "id, thread_id, checkpoint_id, messages",
    shape: "0SSN",
    rowid: true,
  },
];

/** The tables whose rows are found again; a test holds them against the schema. */
export const SALVAGED = TABLES.map(({ name, columns }) => ({ name, columns: columns.split(", ") }));

/** Fills `db`, which is new, with the rows of our tables that stand in `file` and its `-wal`. Makes no sense of them yet. */
export function salvageRows(db: Database, file: Uint8Array, wal: Uint8Array): void {
  db.transaction(() => {
    for (const row of rowsOf(file, wal)) {
      const table = TABLES.find((one) => belongs(row, one));
      if (!table) continue;
      const columns = table.columns.split(", ");
      const values = row.values.slice(0, columns.length).map((value) =>
        typeof value === "string" ? original(value) : value
      );
      if (table.rowid) values[0] = row.rowid!;
      db.prepare(
        `INSERT OR IGNORE INTO ${table.name} (${columns.slice(0, values.length).join(", ")})
         VALUES (${values.map(() => "?").join(", ")})`,
      ).run(...values as Value[]);
    }
  });
}

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
    for (const [thread] of db.prepare("SELECT id FROM saver_threads").arrays()) {
      mendThread(db, Number(thread));
    }
    // Nobody has this user id: whose it was is lost, and it is shown to nobody else.
    db.exec(`INSERT INTO chat_sessions (thread_id, user_id, title)
      SELECT thread_id, '', 'Recovered conversation' FROM saver_threads
      WHERE thread_id NOT IN (SELECT thread_id FROM chat_sessions)`);
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
  let whole = false;
  const checkpoints = db.prepare("SELECT ns, id, channels FROM saver_checkpoints WHERE thread = ?");
  for (const [ns, id, channels] of checkpoints.arrays(thread)) {
    whole ||= ns === "";
    db.prepare("UPDATE saver_checkpoints SET channels = ? WHERE thread = ? AND ns = ? AND id = ?")
      .run(withoutLost(String(channels), there), thread, ns!, id!);
  }
  const writes = db.prepare("SELECT ns, checkpoint, task, idx, value FROM saver_writes WHERE thread = ?");
  for (const [ns, checkpoint, task, idx, value] of writes.arrays(thread)) {
    if (refersOnlyTo(there, JSON.parse(String(value)))) continue;
    db.prepare(
      "DELETE FROM saver_writes WHERE thread = ? AND ns = ? AND checkpoint = ? AND task = ? AND idx = ?",
    ).run(thread, ns!, checkpoint!, task!, idx!);
  }
  if (!whole && messages.length > 0) writeStandIn(db, thread, messages);
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

/** A checkpoint's channels without what refers to lost rows; of a list of messages those remain that are there. */
function withoutLost(channels: string, there: ReadonlySet<number>): string {
  const kept = Object.entries(JSON.parse(channels) as Record<string, Json>).flatMap(([name, value]) => {
    const runs = messageList(value);
    if (runs === undefined) return refersOnlyTo(there, value) ? [[name, value]] : [];
    const left = runs.flatMap(numbersIn).filter((seq) => there.has(seq));
    return [[name, left.length > 0 ? tagged("ms", formatRanges(left)) : []]];
  });
  return JSON.stringify(Object.fromEntries(kept));
}

function messageList(value: Json): Run[] | undefined {
  const found = value !== null && typeof value === "object" && !Array.isArray(value) && value.$ === "ms";
  return found ? parseRanges(String(value.v)) : undefined;
}

function refersOnlyTo(there: ReadonlySet<number>, json: Json): boolean {
  return referredRuns(json).flatMap(numbersIn).every((seq) => there.has(seq));
}

function* numbersOf([first, last]: Run): Generator<number> {
  for (let seq = first; seq <= last; seq++) yield seq;
}

const numbersIn = (run: Run) => [...numbersOf(run)];

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

/** Whether a row looks like one of the table's: columns that were added later may be missing. */
function belongs({ rowid, values }: RawRow, { shape, later = "", rowid: hasRowid = false }: Table): boolean {
  const letters = shape + later;
  if ((rowid !== undefined) !== hasRowid || values.length < shape.length) return false;
  if (later === "" && values.length !== shape.length) return false;
  return values.slice(0, letters.length).every((value, i) => FITS[letters[i]!]!(value));
}

type Test = (value: RawRow["values"][number]) => boolean;
const isText: Test = (value) => typeof value === "string";
const isNumber: Test = (value) => typeof value === "number";

const FITS: Record<string, Test> = {
  "0": (value) => value === null,
  N: isNumber,
  n: (value) => value === null || isNumber(value),
  S: isText,
  s: (value) => value === null || isText(value),
  J: (value) => {
    try {
      return isText(value) && JSON.parse(String(value)) !== undefined;
    } catch {
      return false;
    }
  },
};
