// Who is the caller, and may they use this project? GNS3 decides; a short memory spares it the same question.
import { AppError, fieldError } from "../domain/error.ts";
import type { Project } from "../domain/project.ts";
import type { Caller } from "../domain/scope.ts";
import { unlessAborted } from "../domain/signals.ts";
import { Gns3Client } from "./client.ts";
import type { Gns3User } from "./shapes.ts";

export interface AccessOptions {
  baseUrl: string;
  timeoutMs?: number;
  /** How long an answer of `users/me` counts. */
  cacheMs?: number;
  maxEntries?: number;
  now?: () => number;
}

interface Entry {
  user: Promise<Omit<Caller, "credential">>;
  until: number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** How long what must not wait for a GNS3 that hangs asks it, in milliseconds. */
const CONFIRM_MS = 120;

/** Answers for all callers. Identities are remembered by the hash of the credential, never by the credential. */
export class Access {
  readonly #options: AccessOptions;
  readonly #entries = new Map<string, Entry>();
  /** What GNS3 said last of each credential, however long ago, until it refuses it. */
  readonly #accepted = new Map<string, Omit<Caller, "credential">>();
  readonly #now: () => number;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * The user behind `credential`. Calls at the same time share one request, which no single caller's abort cancels.
   * Throws `unauthorized`, `unavailable`, or the signal's reason.
   */
  async identify(credential: string, signal?: AbortSignal): Promise<Caller> {
    const key = await hash(credential);
    let entry = this.#entries.get(key);
    if (!entry || this.#now() >= entry.until) entry = this.#ask(credential, key);
    // The most recently used entry is the last one.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#trim();
    return { ...await unlessAborted(signal, entry.user), credential };
  }

  /**
   * The user behind `credential` as GNS3 said it last, without asking it now: enough for what a user may always do to
   * what is their own. Undefined when GNS3 has not accepted it yet, or has refused it since.
   */
  async known(credential: string): Promise<Caller | undefined> {
    const user = this.#accepted.get(await hash(credential));
    return user && { ...user, credential };
  }

  /**
   * Throws `unauthorized` when GNS3 refuses `credential` now. It is asked for at most `ms`; while it does not answer,
   * nothing is refused.
   */
  async confirm(credential: string, ms = CONFIRM_MS): Promise<void> {
    try {
      await this.#client(credential, ms).me();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "unauthorized") return;
      await this.forget(credential);
      throw error;
    }
  }

  /**
   * The opened project `projectId` as the caller may see it; may be asked beside `identify`. Throws `validation_error`
   * (not a UUID), `project_not_found`, `forbidden` (no access, or not opened), `unauthorized`, `unavailable`.
   */
  async project(by: Caller | string, projectId: string, signal?: AbortSignal): Promise<Project> {
    const project = await this.visible(by, projectId, signal);
    if (project.status !== "opened") {
      throw new AppError(
        "forbidden",
        `Project must be opened to use chat. Current status: ${project.status}`,
        { details: { project_status: project.status } },
      );
    }
    return project;
  }

  /** As `project`, also when it is closed. */
  async visible(by: Caller | string, projectId: string, signal?: AbortSignal): Promise<Project> {
    if (!UUID.test(projectId)) throw fieldError(["path", "project_id"], "must be a UUID", "uuid_parsing");
    const credential = typeof by === "string" ? by : by.credential;
    return await this.#client(credential).project(projectId, signal).catch(async (error) => {
      if (error instanceof AppError && error.code === "unauthorized") await this.forget(credential);
      throw refused(error, projectId);
    });
  }

  /** The user behind `credential` as GNS3 has it now, with what decides about more than one project. Never remembered. */
  async user(credential: string, signal?: AbortSignal): Promise<Gns3User> {
    return await this.#client(credential).me(signal);
  }

  /** Drops what is remembered of a credential; for whoever sees GNS3 answer 401. */
  async forget(credential: string): Promise<void> {
    const key = await hash(credential);
    this.#entries.delete(key);
    this.#accepted.delete(key);
  }

  #client(credential: string, timeoutMs = this.#options.timeoutMs): Gns3Client {
    const { baseUrl } = this.#options;
    return new Gns3Client({ baseUrl, credential, timeoutMs });
  }

  #ask(credential: string, key: string): Entry {
    const user = this.#client(credential).me()
      .then(({ user_id, username, is_superadmin }) => ({
        userId: user_id,
        username,
        ...(is_superadmin ? { superadmin: true } : {}),
      }));
    const entry = { user, until: this.#now() + (this.#options.cacheMs ?? 60_000) };
    user.then((accepted) => {
      this.#accepted.delete(key);
      this.#accepted.set(key, accepted);
      this.#trim();
    }, (error) => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      if (error instanceof AppError && error.code === "unauthorized") this.#accepted.delete(key);
    });
    return entry;
  }

  #trim() {
    for (const map of [this.#entries, this.#accepted]) {
      for (const key of map.keys()) {
        if (map.size <= (this.#options.maxEntries ?? 1_000)) break;
        map.delete(key);
      }
    }
  }
}

function refused(error: unknown, projectId: string): unknown {
  if (!(error instanceof AppError)) return error;
  if (error.code === "forbidden") {
    return new AppError("forbidden", `You have no access to this project. GNS3 says: ${error.message}`);
  }
  if (error.code === "not_found" || error.code === "project_not_found") {
    return new AppError("project_not_found", `There is no project ${projectId}.`);
  }
  return error;
}

async function hash(credential: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(credential));
  return new Uint8Array(digest).toHex();
}
