// What a tool is, and what it gets to work with.
import { z } from "zod";
import type { CallerConsoles } from "../devices/consoles.ts";
import type { AuditedCall } from "../domain/audit.ts";
import type { FaultRecords } from "../domain/fault.ts";
import type { CopilotMode } from "../domain/model_config.ts";
import type { Project } from "../domain/project.ts";
import type { Gns3Client } from "../gns3/client.ts";
import type { HostClient } from "../host/client.ts";
import type { SkillSet } from "../knowledge/skill_set.ts";

/** What a call may do to the lab: only look, change it, or take something away. */
export type Risk = "read" | "change" | "destroy";

/** The snapshot that was made before a change, or why there is none. */
export type RestorePoint = { name: string; note: string } | { error: string };

/** Everything a tool may touch. A tool never reads the request's scope, the environment or a singleton. */
export interface ToolContext {
  project: Project;
  /** Bound to the caller's credential. */
  gns3: Gns3Client;
  /** Bound to the caller's credential too: what GNS3 refuses the caller, it refuses here. */
  consoles: CallerConsoles;
  /** The skills as they were when the turn began: a reload is for later turns. */
  skills: SkillSet;
  /** The faults that were put into this project for practice. */
  faults: FaultRecords;
  mode: CopilotMode;
  /** `--teaching-can-build`: in teaching mode the assistant may also create, start and rename. */
  teachingCanBuild?: boolean;
  /** Programs outside of the sandbox (tshark); missing where the server runs without them. */
  host?: Pick<HostClient, "analyze" | "searchFields">;
  /** Takes every call that was asked for, whatever came of it. Never throws. */
  audit?(call: AuditedCall): void;
  /** Called before every change where the settings want a snapshot; undefined when there is nothing new to tell. */
  restorePoint?(context: ToolContext): Promise<RestorePoint | undefined>;
  /**
   * Runs a restore of a snapshot, which overwrites the project's files with the chats among them, so that the chats
   * stay. `restore` must end only when GNS3 is done, also when the turn is stopped meanwhile.
   */
  keepConversations?<T>(restore: () => Promise<T>): Promise<T>;
  /** Aborts when the turn is stopped; every wait in a tool ends with it. */
  signal: AbortSignal;
  now(): number;
}

/**
 * A tool as the model sees it. `run` returns a JSON value for the model: `{results: […], summary}` where it acts on
 * several things, `{error: "…"}` for a failure; it may throw `AppError`, which becomes such an answer.
 */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  description: string;
  input: Input;
  /** The call's risk, known before it runs; resolved from the arguments where they decide. */
  risk: Risk | ((args: z.infer<Input>) => Risk);
  modes: readonly CopilotMode[];
  /** False: what it changes is no part of what a snapshot holds, so that none is made before it. */
  restorePoint?: false;
  run(args: z.infer<Input>, context: ToolContext): Promise<unknown>;
}

/** Declares a tool; only there to infer the type of its arguments. */
export function defineTool<Input extends z.ZodObject>(tool: Tool<Input>): Tool {
  return tool as unknown as Tool;
}
