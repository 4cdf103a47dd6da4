// Which groups a user is in. GNS3 does not tell ordinary users, so somebody who may ask stands in for them.
import { AppError } from "../domain/error.ts";
import type { Group } from "../domain/inheritance.ts";
import type { Caller } from "../domain/scope.ts";
import { unlessAborted } from "../domain/signals.ts";
import { Gns3Client } from "./client.ts";

export interface MembershipsOptions {
  baseUrl: string;
  timeoutMs?: number;
  /** How long an answer counts for whoever does not ask anew. */
  cacheMs?: number;
  maxEntries?: number;
  now?: () => number;
  /** The credential of a service account that may ask about everybody, when there is one. */
  service?: () => Promise<string | undefined>;
}

interface Entry {
  groups: Promise<readonly Group[] | undefined>;
  until: number;
}

/** Answers for all users; remembers for a moment. */
export class Memberships {
  readonly #options: MembershipsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  /** The newest super administrator's credential: in memory only, used for this one question, gone when GNS3 refuses it. */
  #administrator: string | undefined;

  constructor(options: MembershipsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Lets a super administrator who has just called stand in for users who may not ask. Others are not remembered. */
  met(caller: Caller): void {
    if (!caller.superadmin) return;
    // What could not be told without one can be told now.
    if (this.#administrator === undefined) this.#entries.clear();
    this.#administrator = caller.credential;
  }

  /**
   * The groups of a user, or undefined when GNS3 tells nobody whom this server could ask with. `anew` does not take a
   * remembered answer. Throws `unauthorized` for the caller's credential, `unavailable`, or the signal's reason.
   */
  async of(
    userId: string,
    caller: Caller,
    options: { anew?: boolean; signal?: AbortSignal } = {},
  ): Promise<readonly Group[] | undefined> {
    let entry = this.#entries.get(userId);
    if (!entry || options.anew || this.#now() >= entry.until) entry = this.#ask(userId, caller);
    return await unlessAborted(options.signal, entry.groups);
  }

  #ask(userId: string, caller: Caller): Entry {
    const groups = this.#find(userId, caller);
    const entry = { groups, until: this.#now() + (this.#options.cacheMs ?? 30_000) };
    this.#entries.delete(userId);
    this.#entries.set(userId, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= (this.#options.maxEntries ?? 1_000)) break;
      this.#entries.delete(oldest);
    }
    const forget = () => {
      if (this.#entries.get(userId) === entry) this.#entries.delete(userId);
    };
    groups.catch(forget);
    return entry;
  }

  async #find(userId: string, caller: Caller): Promise<readonly Group[] | undefined> {
    const own = await this.#groups(userId, caller.credential);
    if (own) return own;
    const service = await this.#options.service?.();
    const byService = service && await this.#groups(userId, service, "of another");
    if (byService) return byService;
    const administrator = this.#administrator;
    if (!administrator || administrator === caller.credential) return undefined;
    const groups = await this.#groups(userId, administrator, "of another");
    if (!groups && this.#administrator === administrator) this.#administrator = undefined;
    return groups;
  }

  /** Undefined when GNS3 does not answer this question to this credential. */
  async #groups(userId: string, credential: string, whose?: "of another"): Promise<Group[] | undefined> {
    const { baseUrl, timeoutMs } = this.#options;
    try {
      return await new Gns3Client({ baseUrl, credential, timeoutMs }).groupsOf(userId);
    } catch (error) {
      const code = error instanceof AppError ? error.code : undefined;
      if (code === "forbidden" || (whose && code === "unauthorized")) return undefined;
      throw error;
    }
  }
}
