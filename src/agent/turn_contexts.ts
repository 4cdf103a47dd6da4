// Makes what a turn works with out of the scope it runs in; the only reader of the scope.
import type { AuditEntry } from "../domain/audit.ts";
import type { FaultRecords } from "../domain/fault.ts";
import type { CopilotMode } from "../domain/model_config.ts";
import type { Project } from "../domain/project.ts";
import { currentScope } from "../domain/scope.ts";
import { Gns3Client } from "../gns3/client.ts";
import type { SkillSet } from "../knowledge/skill_set.ts";
import type { Logger } from "../log.ts";
import { createChatModel } from "../models/chat_model.ts";
import type { ToolSpec } from "../models/wire_messages.ts";
import { toolsFor } from "../tools/mod.ts";
import { restorePoints } from "../tools/restore_point.ts";
import { toolSchema } from "../tools/schema.ts";
import type { Tool, ToolContext } from "../tools/tool.ts";
import { systemPrompt, titlePrompt } from "./prompts/mod.ts";
import type { Turn } from "./turn.ts";
import type { AgentLimits, TurnContext, TurnRequest } from "./turn_context.ts";

export interface TurnContextOptions {
  gns3Url: string;
  /** GNS3 does not accept this credential any more. */
  onUnauthorized?(credential: string): void;
  /** The devices' consoles as the caller of this client may use them. */
  consolesFor(gns3: Gns3Client): ToolContext["consoles"];
  /** The skills in use now; a turn keeps those that it began with. */
  skills(): SkillSet;
  /** Takes a line for the audit log; never throws. */
  audit(entry: AuditEntry): void;
  host: ToolContext["host"];
  /** Whether a snapshot of the lab is made before a turn's first change. */
  snapshotBeforeChanges: boolean;
  /** Whether teaching mode may also create, start and rename. */
  teachingCanBuild: boolean;
  limits: Omit<AgentLimits, "steps">;
  /** Model calls in a turn, by mode. */
  steps: { usual: number; injection: number };
  log: Logger;
}

/** A maker of contexts. Tools and their schemas are made once for each mode, so that their tokens are counted once. */
export function turnContexts(options: TurnContextOptions) {
  const sets = new Map<CopilotMode, { tools: readonly Tool[]; toolSpecs: readonly ToolSpec[] }>();
  const toolsOf = (mode: CopilotMode) => {
    let set = sets.get(mode);
    if (!set) {
      const tools = toolsFor(mode, options.teachingCanBuild);
      const toolSpecs = tools.map((tool) => ({
        name: tool.name,
        description: tool.description,
        parameters: toolSchema(tool),
      }));
      sets.set(mode, set = { tools, toolSpecs });
    }
    return set;
  };

  return (
    turn: Turn,
    mode: CopilotMode,
    request: TurnRequest,
    project: Project,
    faults: FaultRecords,
  ): Omit<TurnContext, "wantsTitle"> => {
    const { caller, model: modelConfig, mayCall } = currentScope();
    const { credential } = caller;
    const gns3 = new Gns3Client({
      baseUrl: options.gns3Url,
      credential,
      onUnauthorized: () => options.onUnauthorized?.(credential),
    });
    const now = () => new Date();
    const skills = options.skills();
    return {
      turn,
      modelConfig,
      model: createChatModel(modelConfig, {
        temperature: request.temperature ?? undefined,
        maxTokens: request.max_tokens ?? undefined,
      }, mayCall),
      systemPrompt: systemPrompt(mode, skills.prompts, options.teachingCanBuild),
      titlePrompt: titlePrompt(skills.prompts),
      ...toolsOf(mode),
      toolContext: {
        project,
        gns3,
        consoles: options.consolesFor(gns3),
        skills,
        faults,
        host: options.host,
        audit: (call) =>
          options.audit({
            id: crypto.randomUUID(),
            time: new Date(now().getTime() - call.duration_ms).toISOString(),
            user_id: caller.userId,
            username: caller.username,
            project_id: project.project_id,
            session_id: turn.sessionId,
            turn_id: turn.id,
            mode,
            ...call,
          }),
        ...(options.snapshotBeforeChanges ? { restorePoint: restorePoints(turn.sessionId, now) } : {}),
        mode,
        teachingCanBuild: options.teachingCanBuild,
        signal: turn.signal,
        now: () => now().getTime(),
      },
      approvals: request.approvals,
      limits: {
        ...options.limits,
        steps: mode === "troubleshooting_injection" ? options.steps.injection : options.steps.usual,
      },
      log: options.log.child({ session_id: turn.sessionId, turn_id: turn.id }),
      newId: () => crypto.randomUUID(),
      now,
    };
  };
}
