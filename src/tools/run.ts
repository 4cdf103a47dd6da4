// The only way in which a tool is called: checked first, run then. Neither step throws; every failure is an answer.
import { z } from "zod";
import { AppError, type ErrorCode } from "../domain/error.ts";
import type { ToolStatus } from "../domain/event.ts";
import { isDeeper, MOST_LEVELS } from "../domain/json.ts";
import { Stopped } from "../domain/stopped.ts";
import { formatJson, wellFormedFrom } from "../domain/unicode.ts";
import { audited } from "./audited.ts";
import { forbiddenIn } from "./forbidden.ts";
import { buildsInTeaching, toolsFor } from "./mod.ts";
import { toolSchema } from "./schema.ts";
import type { RestorePoint, Risk, Tool, ToolContext } from "./tool.ts";

/** What the model asked for; `arguments` is JSON text as it came. */
export interface RequestedCall {
  name: string;
  arguments: string;
}

/** What the model is told. `output` is JSON text. `code` lets the turn stop where going on makes no sense. */
export interface ToolAnswer {
  output: string;
  status: ToolStatus;
  code?: ErrorCode;
  /** It was stopped before its end. */
  aborted?: true;
}

/** A call that may run, or the answer that says why it may not. */
export type PreparedCall =
  | { kind: "ready"; tool: Tool; args: Record<string, unknown>; risk: Risk }
  | { kind: "answer"; answer: ToolAnswer; call: RequestedCall; risk?: Risk };

type Refusal = { kind: "answer"; answer: ToolAnswer };

export interface PrepareOptions {
  /** The turn's tools; those of the mode when left out. */
  tools?: readonly Tool[];
}

const QUOTED = 800;

type CheckedIn =
  & Pick<ToolContext, "project" | "mode">
  & Partial<Pick<ToolContext, "skills" | "teachingCanBuild">>;

/**
 * Checks a call without any effect: tool, mode, project, arguments, forbidden commands, risk. In `teaching_assistant`
 * nothing passes whose risk is not `read`, except what the settings allow.
 */
export function prepareCall(
  call: RequestedCall,
  context: CheckedIn,
  options: PrepareOptions = {},
): PreparedCall {
  const checked = check(call, context, options);
  return checked.kind === "ready" ? checked : { ...checked, call };
}

function check(
  call: RequestedCall,
  context: CheckedIn,
  options: PrepareOptions,
): Exclude<PreparedCall, { kind: "answer" }> | Refusal {
  const tools = options.tools ?? toolsFor(context.mode, context.teachingCanBuild);
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) {
    const names = tools.map(({ name }) => name).join(", ");
    return refuse(`unknown tool "${call.name.slice(0, 100)}" in the mode ${context.mode}. Tools: ${names}.`);
  }
  const parsed = parse(call.arguments, tool);
  if ("answer" in parsed) return parsed;
  const { project_id, ...given } = parsed.value;
  if (project_id !== undefined && !isProject(project_id, context)) {
    return refuse(
      "project_id is not this chat's project: tools work only on that one. Leave project_id out.",
    );
  }
  const checked = tool.input.safeParse(given);
  if (!checked.success) {
    const fields = checked.error.issues.map((issue) => `${pathOf(issue.path)}: ${issue.message}`).slice(
      0,
      10,
    );
    return refuse(`the arguments do not fit: ${fields.join("; ")}`, { expected: toolSchema(tool) });
  }
  const args = checked.data as Record<string, unknown>;
  const forbidden = context.skills && forbiddenIn(args, context.skills);
  if (forbidden) return refuse(forbidden);
  const risk = typeof tool.risk === "function" ? tool.risk(args) : tool.risk;
  const builds = context.teachingCanBuild && risk === "change" && buildsInTeaching(tool);
  if (context.mode === "teaching_assistant" && risk !== "read" && !builds) {
    return refuse(
      `not done: this call of ${tool.name} would ${
        risk === "destroy" ? "remove something from" : "change"
      } the lab, ` +
        "and in teaching mode only what reads or tests is run. Explain to the user how to do it themselves.",
    );
  }
  return { kind: "ready", tool, args, risk };
}

export interface ExecuteOptions {
  /** Told of anything but an `AppError`; for the log. */
  onFault?: (error: unknown, tool: Tool) => void;
}

/**
 * Runs a prepared call, and tells the audit log of it. Returns at once when the context's signal aborts; the tool then
 * ends by itself.
 */
export async function executeCall(
  prepared: PreparedCall,
  context: ToolContext,
  options: ExecuteOptions = {},
): Promise<ToolAnswer> {
  const began = context.now();
  const answer = prepared.kind === "answer" ? prepared.answer : await execute(prepared, context, options);
  context.audit?.(audited(prepared, answer, { aborted: answer.aborted === true, ms: context.now() - began }));
  return answer;
}

async function execute(
  { tool, args, risk }: Extract<PreparedCall, { kind: "ready" }>,
  context: ToolContext,
  options: ExecuteOptions,
): Promise<ToolAnswer> {
  const { signal } = context;
  const stopped = Promise.withResolvers<ToolAnswer>();
  const stop = () => stopped.resolve(aborted(signal));
  if (signal.aborted) return aborted(signal);
  signal.addEventListener("abort", stop, { once: true });
  const run = async (): Promise<ToolAnswer> => {
    const wanted = risk !== "read" && tool.restorePoint !== false;
    const point = wanted ? await context.restorePoint?.(context) : undefined;
    signal.throwIfAborted();
    // Wrapped, so that a tool that throws before its first await is no different.
    const answer = await (async () => answered(await tool.run(args, context)))().catch(failed);
    return withPoint(answer, point);
  };
  const failed = (error: unknown): ToolAnswer => {
    if (signal.aborted) return aborted(signal);
    if (error instanceof AppError) {
      return { ...failure(error.message, { code: error.code }), code: error.code };
    }
    options.onFault?.(error, tool);
    return {
      ...failure(`internal: ${tool.name} failed unexpectedly.`, { code: "internal" }),
      code: "internal",
    };
  };
  const work = run().catch(failed);
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function parse(
  text: string,
  tool: Tool,
): { value: Record<string, unknown> } | Refusal {
  const raw = text.length > QUOTED ? `${text.slice(0, QUOTED)}… (cut)` : text;
  const wrong = (why: string) => refuse(why, { expected: toolSchema(tool), received: raw });
  if (text.trim() === "") return { value: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return wrong("the arguments are not valid JSON; send one complete JSON object");
  }
  if (isDeeper(value)) {
    return wrong(`the arguments are nested more than ${MOST_LEVELS} levels deep; send a flatter object`);
  }
  const object = z.record(z.string(), z.unknown()).safeParse(wellFormedFrom(text, value));
  return object.success ? { value: object.data } : wrong("the arguments are not a JSON object");
}

function isProject(value: unknown, { project }: Pick<ToolContext, "project">): boolean {
  if (typeof value !== "string") return false;
  return value.toLowerCase() === project.project_id.toLowerCase() || value === project.name;
}

/** `nodes[0].template_id` */
function pathOf(path: PropertyKey[]): string {
  if (path.length === 0) return "arguments";
  return path.map((part, i) => typeof part === "number" ? `[${part}]` : `${i ? "." : ""}${String(part)}`)
    .join("");
}

/** A tool's own value; when everything it was asked for failed, the call counts as failed. */
function answered(value: unknown): ToolAnswer {
  const output = formatJson(value ?? {});
  const { results, error } = (value ?? {}) as {
    results?: { status?: string; code?: ErrorCode }[];
    error?: unknown;
  };
  if (error !== undefined) return { output, status: "error" };
  if (!Array.isArray(results)) return { output, status: "success" };
  const signedOut = results.some(({ code }) => code === "unauthorized");
  const failed = results.length > 0 && results.every(({ status }) => status === "error");
  return {
    output,
    status: failed ? "error" : "success",
    ...(signedOut ? { code: "unauthorized" as const } : {}),
  };
}

/** The tool's answer with the restore point in it, for the model to offer. */
function withPoint(answer: ToolAnswer, point: RestorePoint | undefined): ToolAnswer {
  if (!point || answer.aborted) return answer;
  return { ...answer, output: JSON.stringify({ ...JSON.parse(answer.output), restore_point: point }) };
}

function failure(error: string, more: Record<string, unknown> = {}): ToolAnswer {
  return { output: formatJson({ error, ...more }), status: "error" };
}

function refuse(error: string, more: Record<string, unknown> = {}): Refusal {
  return { kind: "answer", answer: failure(error, more) };
}

function aborted({ reason }: AbortSignal): ToolAnswer {
  const why = reason instanceof Stopped ? ` (${reason.message})` : "";
  const error =
    `aborted before it finished${why}; whether it took effect is unknown: check before you repeat it`;
  return { ...failure(error), aborted: true };
}
