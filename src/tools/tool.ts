// What a tool is, and what it gets to work with.
import { z } from "zod";
import type { CallerConsoles } from "../devices/consoles.ts";
import type { FaultRecords } from "../domain/fault.ts";
import type { CopilotMode } from "../domain/model_config.ts";
import type { Project } from "../domain/project.ts";
import type { Gns3Client } from "../gns3/client.ts";
import type { SkillSet } from "../knowledge/skill_set.ts";

/** What a call may do to the lab: only look, change it, or take something away. */
export type Risk = "read" | "change" | "destroy";

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
  run(args: z.infer<Input>, context: ToolContext): Promise<unknown>;
}

/** Declares a tool; only there to infer the type of its arguments. */
export function defineTool<Input extends z.ZodObject>(tool: Tool<Input>): Tool {
  return tool as unknown as Tool;
}
