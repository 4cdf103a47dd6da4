// The audit log: one JSON line a tool call in `<state-dir>/audit`, a bounded number of files of bounded size.
import { join } from "node:path";
import { type AuditEntry, auditEntrySchema } from "../domain/audit.ts";
import { maskSecrets } from "../domain/device_secrets.ts";
import { errorText, fieldError } from "../domain/error.ts";
import { formatJson } from "../domain/unicode.ts";
import type { Logger } from "../log.ts";
import { createRedactor } from "../redact.ts";

export interface AuditOptions {
  /** The state directory; `audit` is created in it. */
  stateDir: string;
  log: Logger;
  /** A file that has reached this many bytes is put aside. */
  fileBytes?: number;
  /** How many files there are at most, the current one included. */
  files?: number;
}

export interface AuditPage {
  projectId: string;
  /** Left out: the entries of all users. */
  userId?: string;
  limit: number;
  /** The id of an entry; only older ones are given. */
  before?: string;
}

const MOST_TEXT = 4_000;
const MOST_ARGUMENTS = 32_000;

/** Writes and reads the log. Writing never throws: a full disk must not stop anybody's work, but it is logged. */
export class AuditLog {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #fileBytes: number;
  readonly #files: number;
  readonly #redactor = createRedactor({ stacks: false });
  #failing = false;

  constructor({ stateDir, log, fileBytes = 8 * 1024 * 1024, files = 8 }: AuditOptions) {
    this.#folder = join(stateDir, "audit");
    this.#log = log;
    this.#fileBytes = fileBytes;
    this.#files = files;
  }

  /** Appends an entry. Secrets are cut from its arguments and its error, and both are cut to a bearable length. */
  append(entry: AuditEntry): void {
    try {
      const line = `${formatJson(this.#clean(entry))}\n`;
      Deno.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#rotate();
      Deno.writeTextFileSync(this.#file(0), line, { append: true, mode: 0o600 });
      this.#failing = false;
    } catch (error) {
      // Said once until it works again: there may be thousands of calls.
      if (!this.#failing) this.#log.error("The audit log cannot be written.", { error: errorText(error) });
      this.#failing = true;
    }
  }

  /** Entries of a project, newest first. Throws `validation_error` when `before` is not (or no longer) there. */
  async read({ projectId, userId, limit, before }: AuditPage): Promise<AuditEntry[]> {
    const found: AuditEntry[] = [];
    let past = before === undefined;
    for (let number = 0; number < this.#files && found.length < limit; number++) {
      const lines = (await readText(this.#file(number))).split("\n");
      for (let at = lines.length - 1; at >= 0 && found.length < limit; at--) {
        const entry = parsed(lines[at]!, projectId);
        if (!entry || (userId !== undefined && entry.user_id !== userId)) continue;
        if (past) found.push(entry);
        else past = entry.id === before;
      }
    }
    if (!past) throw fieldError(["query", "before"], "there is no such entry any more");
    return found;
  }

  /** 0 is the file that is written, the others are the older the higher their number. */
  #file(number: number): string {
    return join(this.#folder, number === 0 ? "audit.jsonl" : `audit.${number}.jsonl`);
  }

  #rotate(): void {
    if (sizeOf(this.#file(0)) < this.#fileBytes) return;
    for (let number = this.#files - 1; number > 0; number--) {
      if (sizeOf(this.#file(number - 1)) >= 0) Deno.renameSync(this.#file(number - 1), this.#file(number));
    }
  }

  #clean(entry: AuditEntry): AuditEntry {
    const { value } = this.#redactor.fields({ value: masked(entry.arguments) });
    const text = JSON.stringify(value) ?? "null";
    return {
      ...entry,
      tool: entry.tool.slice(0, 100),
      arguments: text.length > MOST_ARGUMENTS ? `${text.slice(0, MOST_ARGUMENTS)}… (cut)` : value,
      ...(entry.error === undefined
        ? {}
        : { error: this.#redactor.text(maskSecrets(entry.error)).slice(0, MOST_TEXT) }),
    };
  }
}

/** Every text of a value without the secrets of device commands. */
function masked(value: unknown): unknown {
  if (typeof value === "string") return maskSecrets(value.slice(0, MOST_TEXT));
  if (Array.isArray(value)) return value.map(masked);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, masked(item)]));
}

/** A line is parsed only when it may be of the project: the files hold those of all. */
function parsed(line: string, projectId: string): AuditEntry | undefined {
  if (!line.includes(projectId)) return undefined;
  try {
    const entry = auditEntrySchema.parse(JSON.parse(line));
    return entry.project_id === projectId ? entry : undefined;
  } catch {
    // A line that a crash has cut short.
    return undefined;
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

/** -1 when there is no such file. */
function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return -1;
    throw error;
  }
}
