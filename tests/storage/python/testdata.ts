// The databases in tests/testdata/python_copilot, made by the Python copilot, and what its own routes said of them.
import { dirname } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import type { ChatMessage } from "../../../src/domain/session.ts";
import expected from "../../testdata/python_copilot/expected.json" with { type: "json" };

const FOLDER = new URL("../../testdata/python_copilot/", import.meta.url);

export type PythonDatabase = "copilot" | "kinds" | "long";

/** A message as Python's history route gave it. */
export interface PythonMessage {
  id: string;
  role: string;
  content: unknown;
  name?: string | null;
  tool_call_id?: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: Record<string, unknown> } }[] | null;
  metadata: { created_at?: string; [name: string]: unknown };
}

/** A session as Python's list gave it. */
export interface PythonSession {
  thread_id: string;
  user_id: string;
  project_id: string;
  title: string;
  pinned: boolean;
  [name: string]: unknown;
}

/** What Python said: sessions by owner in the order of the list, and histories by session. */
export function saidBy(name: PythonDatabase): {
  sessions: Record<string, PythonSession[]>;
  histories: Record<string, PythonMessage[]>;
} {
  return expected[name] as never;
}

/** Writes a database to `file`, in folders that are made for it. */
export function putDatabase(name: PythonDatabase, file: string): void {
  Deno.mkdirSync(dirname(file), { recursive: true });
  Deno.writeFileSync(file, brotliDecompressSync(Deno.readFileSync(new URL(`${name}.db.br`, FOLDER))));
}

/** A time of Python's as the API spells it. */
export const milliseconds = (time: string) => new Date(`${time}Z`).toISOString();

/** What both servers say of a message. Python gives a tool's result a new id at every reading. */
export function ofPython({ id, role, content, name, tool_call_id, tool_calls, metadata }: PythonMessage) {
  return {
    id: role === "tool" ? undefined : id,
    role,
    content,
    name: name ?? undefined,
    tool_call_id: tool_call_id ?? undefined,
    tool_calls: tool_calls?.map(({ id, function: { name, arguments: args } }) => ({ id, name, args })),
    created_at: metadata.created_at && milliseconds(metadata.created_at),
    aborted: metadata.aborted,
  };
}

/** The same of our message, to be compared with `ofPython`. */
export function ofOurs(
  { id, role, content, name, tool_call_id, tool_calls, created_at, metadata }: ChatMessage,
) {
  return {
    id: role === "tool" ? undefined : id,
    role,
    content,
    name,
    tool_call_id,
    tool_calls: tool_calls?.map(({ id, function: { name, arguments: args } }) => ({
      id,
      name,
      args: JSON.parse(args),
    })),
    created_at,
    aborted: metadata.aborted,
  };
}
