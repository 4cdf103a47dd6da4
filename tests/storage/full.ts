// A chat database with something in every table, and ways to damage it.
import { openProjectDatabase } from "../../src/storage/database.ts";
import { ApprovalsRepository } from "../../src/storage/approvals.ts";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import type { Database } from "../../src/storage/connection.ts";
import { FaultsRepository } from "../../src/storage/faults.ts";
import { ChatSessionsRepository } from "../../src/storage/sessions.ts";
import { configOf, type Folders, newId, runTurns, turnRecord } from "./helpers.ts";

/** Turns of each conversation that `fill` makes: short ones, and one with results of several pages each. */
export const TURNS = { t1: 3, t2: 60, t3: 1 } as const;

/** Fills the project's database and leaves it open. */
export async function fill({ project, projects }: Folders): Promise<Database> {
  const db = openProjectDatabase(project, projects);
  const sessions = new ChatSessionsRepository(db, "p1");
  const saver = new SqliteSaver(db);
  for (const [thread_id, turns] of Object.entries(TURNS)) {
    sessions.create({ thread_id, user_id: "u1", project_id: "p1", title: `about \0 ${thread_id}` });
    await runTurns(saver, thread_id, turns, thread_id === "t2" ? "interface up\n".repeat(1500) : undefined);
    sessions.endTurn("u1", thread_id, turnRecord({ turnId: newId(), messages: 4 * turns }));
  }
  await saver.putWrites(configOf("t1", newId()), [["__interrupt__", { question: "Really?" }]], "task");
  const call = {
    id: "a1",
    tool_call_id: "c1",
    tool_name: "show",
    arguments: {},
    risk: "change",
    summary: "s",
  };
  new ApprovalsRepository(db).ask("t1", [call as never], { mode: "lab_automation_assistant" }, new Date());
  new FaultsRepository(db).by({ userId: "u1", username: "ann" }).record(
    { issue: "ospf-area", title: "Wrong area", devices: ["R1"], undo: [] },
    new Date(),
  );
  db.exec("INSERT INTO python_threads (thread_id, checkpoint_id, messages) VALUES ('t3', 'c1', 2)");
  return db;
}

/** All rows of every table, in the order of their text. */
export function contentOf(db: Database): Record<string, string[]> {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all().map((row) =>
    String(row.name)
  );
  return Object.fromEntries(
    tables.map((
      name,
    ) => [name, db.prepare(`SELECT * FROM ${name}`).all().map((row) => JSON.stringify(row)).sort()]),
  );
}

/** Overwrites `length` bytes from `at` with noise. */
export function garble(bytes: Uint8Array, at: number, length: number): Uint8Array {
  const damaged = bytes.slice();
  for (let start = at; start < at + length; start += 4096) {
    crypto.getRandomValues(damaged.subarray(start, Math.min(start + 4096, at + length)));
  }
  return damaged;
}
