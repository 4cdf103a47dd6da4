// How often a user may start a turn, and how many tokens users and groups may spend a day. Off unless an administrator
// sets them.
import { AppError } from "../domain/error.ts";
import type { TokenUsage } from "../storage/token_usage.ts";
import type { CallUsage } from "./turn_statistics.ts";

/** 0 means no limit. */
export interface Limits {
  turnsPerMinute: number;
  /** For each user, whichever configuration pays. */
  tokensPerDay: number;
  /** For each group: all that its members spend with its configurations. */
  groupTokensPerDay: number;
}

const MINUTE_MS = 60_000;

/** On whose account a turn is. */
export interface Account {
  userId: string;
  groupId?: string;
}

/** Counts for all users. Starts of turns are counted in memory, tokens in the state database. */
export class TurnLimits {
  readonly #starts = new Map<string, number[]>();

  constructor(
    private readonly limits: Limits,
    private readonly usage: TokenUsage,
    private readonly now: () => number = Date.now,
  ) {}

  /** Counts the start of a turn, or throws `rate_limited` with the seconds until one is possible, and counts nothing. */
  admit(account: Account): void {
    this.refuseSpent(account);
    const { userId } = account;
    const { turnsPerMinute } = this.limits;
    if (turnsPerMinute === 0) return;
    const now = this.now();
    const recent = (this.#starts.get(userId) ?? []).filter((start) => start > now - MINUTE_MS);
    if (recent.length >= turnsPerMinute) {
      throw new AppError(
        "rate_limited",
        `You may send ${turnsPerMinute} message${turnsPerMinute === 1 ? "" : "s"} a minute. Wait a moment.`,
        { retryAfter: (recent[0]! + MINUTE_MS - now) / 1000 },
      );
    }
    this.#forgetIdle(now);
    this.#starts.set(userId, [...recent, now]);
  }

  /** Throws `rate_limited` when the day's tokens are used up. */
  refuseSpent({ userId, groupId }: Account): void {
    this.#refuseSpent("user", userId, this.limits.tokensPerDay);
    if (groupId) this.#refuseSpent("group", groupId, this.limits.groupTokensPerDay);
  }

  /** Counts the tokens of one model call. */
  spent({ userId, groupId }: Account, { input, output }: Pick<CallUsage, "input" | "output">): void {
    const tokens = input + output;
    if (tokens <= 0) return;
    if (this.limits.tokensPerDay > 0) this.usage.add({ kind: "user", id: userId }, this.#today(), tokens);
    if (groupId && this.limits.groupTokensPerDay > 0) {
      this.usage.add({ kind: "group", id: groupId }, this.#today(), tokens);
    }
  }

  #refuseSpent(kind: "user" | "group", id: string, limit: number): void {
    if (limit === 0 || this.usage.of({ kind, id }, this.#today()) < limit) return;
    const whose = kind === "user" ? "You have" : "Your group has";
    throw new AppError(
      "rate_limited",
      `${whose} used up today's ${limit} tokens. There are new ones at 00:00 UTC.`,
      { retryAfter: this.#untilTomorrow() },
    );
  }

  /** Users who have not asked for a minute need not be remembered. */
  #forgetIdle(now: number): void {
    for (const [userId, starts] of this.#starts) {
      if (starts.at(-1)! <= now - MINUTE_MS) this.#starts.delete(userId);
    }
  }

  #today(): string {
    return new Date(this.now()).toISOString().slice(0, 10);
  }

  #untilTomorrow(): number {
    const day = 24 * 3600;
    return day - Math.floor(this.now() / 1000) % day;
  }
}
