// The faults that were injected into one project for practice. They outlive the sessions in which that was done.
import type { FaultRecords, NewFault, UndoStep, UsedFault } from "../domain/fault.ts";
import type { Database, Row } from "./connection.ts";
import { isoTime } from "./times.ts";

/** More are never needed: the oldest that are out of the lab again are forgotten. */
const KEPT = 500;

/** Reads and writes `injected_faults`. All throw `AppError` when the database cannot be read or written. */
export class FaultsRepository {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The project's faults, where what is added is this user's. */
  by(user: { userId: string; username: string }): FaultRecords {
    return {
      list: () => this.#list(),
      record: (fault, now) => this.#record(user, fault, now),
      undone: (id, now) => this.#undone(id, now),
    };
  }

  #list(): UsedFault[] {
    return this.#db.prepare(`SELECT * FROM injected_faults ORDER BY id DESC LIMIT ${KEPT}`).all().map(
      toFault,
    );
  }

  #record(user: { userId: string; username: string }, fault: NewFault, now: Date): UsedFault {
    return this.#db.transaction(() => {
      this.#db.prepare(
        `INSERT INTO injected_faults (issue, title, devices, undo, note, user_id, username, injected_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ).run(
        fault.issue,
        fault.title,
        JSON.stringify(fault.devices),
        JSON.stringify(fault.undo),
        fault.note ?? null,
        user.userId,
        user.username,
        now.toISOString(),
      );
      this.#db.prepare(
        `DELETE FROM injected_faults WHERE undone_at IS NOT NULL
         AND id <= (SELECT max(id) - ${KEPT} FROM injected_faults)`,
      ).run();
      return toFault(this.#db.prepare("SELECT * FROM injected_faults ORDER BY id DESC LIMIT 1").get()!);
    });
  }

  #undone(id: number, now: Date): UsedFault | undefined {
    this.#db.prepare("UPDATE injected_faults SET undone_at = ? WHERE id = ? AND undone_at IS NULL")
      .run(now.toISOString(), id);
    const row = this.#db.prepare("SELECT * FROM injected_faults WHERE id = ?").get(id);
    return row && toFault(row);
  }
}

function toFault(row: Row): UsedFault {
  return {
    id: Number(row.id),
    issue: String(row.issue),
    title: String(row.title),
    devices: JSON.parse(String(row.devices)) as string[],
    undo: JSON.parse(String(row.undo)) as UndoStep[],
    ...(row.note === null ? {} : { note: String(row.note) }),
    user_id: String(row.user_id),
    username: String(row.username),
    injected_at: String(row.injected_at),
    undone_at: isoTime(row.undone_at),
  };
}
