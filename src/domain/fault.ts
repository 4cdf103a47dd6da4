// Faults that were put into a project on purpose, for practice: what is remembered of them across sessions.

/** Commands on one device that take a fault out again. */
export interface UndoStep {
  device_name: string;
  commands: string[];
}

/** A fault to remember. `issue` is its id among the injection skills, or one that the agent made up. */
export interface NewFault {
  issue: string;
  title: string;
  /** Names of the devices, or of the link, that it is on. */
  devices: string[];
  /** What to type where to undo it. A fault on a link has none: its filters are cleared. */
  undo: UndoStep[];
  /** What else is needed to undo it or to judge an answer, such as former values. */
  note?: string;
}

/** A fault that was used in a project, by whom, and until when. */
export interface UsedFault extends NewFault {
  id: number;
  user_id: string;
  username: string;
  injected_at: string;
  /** Null while it is in the lab. */
  undone_at: string | null;
}

/** The faults of one project, as one user may add to them; everybody's are listed, because they share the lab. */
export interface FaultRecords {
  /** Newest first. */
  list(): UsedFault[];
  record(fault: NewFault, now: Date): UsedFault;
  /** Notes that a fault is out again. Answers undefined when there is none with this id. */
  undone(id: number, now: Date): UsedFault | undefined;
}
