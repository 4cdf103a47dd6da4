// A row of `chat_sessions` as the API's ChatSession, whoever wrote it and however incomplete it is.
import { COPILOT_MODES } from "../domain/model_config.ts";
import type { ChatSession } from "../domain/session.ts";
import { type Json, mayBeTooDeep, visitTags } from "./tags.ts";
import type { Row } from "./connection.ts";
import { isoTime } from "./times.ts";

/** The columns that `toSession` reads. */
export const SESSION_COLUMNS =
  `id, thread_id, user_id, project_id, title, message_count, llm_calls_count, input_tokens,
  output_tokens, total_tokens, last_message_at, created_at, updated_at, metadata, stats, pinned`;

/** What a session is called until it has a title. */
export const DEFAULT_TITLE = "New conversation";

const EPOCH = new Date(0).toISOString();

/** The session of a row with `SESSION_COLUMNS`. Never throws: what cannot be read is left out or zero. */
export function toSession(row: Row): ChatSession {
  const created = isoTime(row.created_at) ?? isoTime(row.updated_at) ?? EPOCH;
  return {
    id: Number(row.id),
    thread_id: String(row.thread_id),
    user_id: String(row.user_id ?? ""),
    project_id: String(row.project_id ?? ""),
    title: String(row.title ?? "") || DEFAULT_TITLE,
    message_count: count(row.message_count),
    llm_calls_count: count(row.llm_calls_count),
    input_tokens: count(row.input_tokens),
    output_tokens: count(row.output_tokens),
    total_tokens: count(row.total_tokens),
    last_message_at: isoTime(row.last_message_at),
    created_at: created,
    updated_at: isoTime(row.updated_at) ?? created,
    metadata: knownMode(jsonObject(row.metadata)),
    stats: jsonObject(row.stats),
    pinned: Boolean(row.pinned),
  };
}

/** The object in a JSON text; an empty one for anything else. */
export function jsonObject(text: unknown): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(String(text));
    if (mayBeTooDeep(String(text))) visitTags(value as Json, () => {});
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : {};
  } catch {
    return {};
  }
}

function count(value: unknown): number {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : 0;
}

function knownMode(metadata: Record<string, unknown>): ChatSession["metadata"] {
  const { copilot_mode, ...others } = metadata;
  const mode = COPILOT_MODES.find((known) => known === copilot_mode);
  return mode ? { ...others, copilot_mode: mode } : others;
}
