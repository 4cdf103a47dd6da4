// What the audit log is told of a call.
import type { AuditedCall } from "../domain/audit.ts";
import { deeperThan } from "../domain/json.ts";
import type { PreparedCall, ToolAnswer } from "./run.ts";

/** A call that was refused was never more than a name and a text. */
export function audited(
  prepared: PreparedCall,
  answer: ToolAnswer,
  more: { aborted: boolean; ms: number },
): AuditedCall {
  const refused = prepared.kind === "answer";
  return {
    ...(refused
      ? {
        tool: prepared.call.name,
        risk: prepared.risk ?? null,
        arguments: parsedOrText(prepared.call.arguments),
      }
      : { tool: prepared.tool.name, risk: prepared.risk, arguments: prepared.args }),
    outcome: refused ? "refused" : more.aborted ? "aborted" : answer.status,
    ...(answer.status === "error" ? { error: errorOf(answer.output) } : {}),
    duration_ms: Math.max(0, Math.round(more.ms)),
  };
}

function parsedOrText(text: string): unknown {
  if (deeperThan(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What a tool's answer says first about its failure. */
function errorOf(output: string): string {
  const { error, results } = JSON.parse(output) as { error?: unknown; results?: { error?: unknown }[] };
  return String(error ?? results?.find((one) => one.error !== undefined)?.error ?? "failed");
}
