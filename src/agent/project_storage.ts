// What an agent needs of its project's storage, and how it notices that GNS3 has taken the files away.
import type { FaultRecords } from "../domain/fault.ts";
import type { Caller } from "../domain/scope.ts";
import type { ApprovalsRepository } from "../storage/approvals.ts";
import type { SqliteSaver } from "../storage/checkpoints.ts";
import type { ChatSessionsRepository } from "../storage/sessions.ts";

/** The storage of one project. */
export interface ProjectStorage {
  sessions: ChatSessionsRepository;
  saver: SqliteSaver;
  approvals: ApprovalsRepository;
  faults: { by(caller: Caller): FaultRecords };
  /** Deletes most of what is saved of a session, bit by bit; `sessions.delete` then has little left to do. */
  deleteOldRows(threadId: string): Promise<void>;
  /** Runs a restore of a snapshot, which overwrites the database's file, so that the database stays as it is. */
  keepThrough<T>(restore: () => Promise<T>): Promise<T>;
  /** What GNS3 has done to the project's files behind our back; undefined: nothing. Costs some microseconds. */
  taken(): "restored" | "deleted" | undefined;
  /** Everything that is saved stands in the database itself afterwards, and closing has nothing left to do. */
  checkpoint(): void;
  /** Closes the database. A snapshot's file that has come into its place stays as it is. */
  close(): Promise<void>;
}
