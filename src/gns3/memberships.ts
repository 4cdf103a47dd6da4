// Which groups a user is in. GNS3 does not tell ordinary users, so somebody who may ask stands in for them.
import { AppError } from "../domain/error.ts";
import type { Group } from "../domain/inheritance.ts";
import type { Caller } from "../domain/scope.ts";
import { unlessAborted } from "../domain/signals.ts";
import { Gns3Client } from "./client.ts";

export interface MembershipsOptions {
  baseUrl: string;
  timeoutMs?: number;
  /** The credential of a service account that may ask about everybody, when there is one. */
  service?: () => Promise<string | undefined>;
}

/** Answers for all users. Nothing is remembered: who leaves a group loses what is its at once. */
export class Memberships {
  readonly #options: MembershipsOptions;
  /** The questions that GNS3 is being asked, by user. */
  readonly #asking = new Map<string, Promise<readonly Group[] | undefined>>();
  /** The newest super administrator's credential: in memory only, used for this one question, gone when GNS3 refuses it. */
  #administrator: string | undefined;

  constructor(options: MembershipsOptions) {
    this.#options = options;
  }

  /** Lets a super administrator who has just called stand in for users who may not ask. Others are not remembered. */
  met(caller: Caller): void {
    if (caller.superadmin) this.#administrator = caller.credential;
  }

  /**
   * The groups of a user, or undefined when GNS3 tells nobody whom this server could ask with. Calls at the same time share
   * the requests, which no single caller's abort cancels. Throws `unauthorized` for the caller's credential, `unavailable`,
   * or the signal's reason.
   */
  async of(userId: string, caller: Caller, signal?: AbortSignal): Promise<readonly Group[] | undefined> {
    let groups = this.#asking.get(userId);
    if (!groups) {
      groups = this.#find(userId, caller).finally(() => this.#asking.delete(userId));
      this.#asking.set(userId, groups);
    }
    return await unlessAborted(signal, groups);
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
