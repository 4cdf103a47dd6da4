// The databases in tests/testdata/python_copilot, made by the Python copilot, and what its own routes said of them.
import { dirname } from "node:path";
import { brotliDecompressSync } from "node:zlib";
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
