// Tokens that users and groups have spent on models, by day (UTC), so that a limit holds across restarts.
import type { Owner } from "../domain/stored_model.ts";
import type { Database } from "./connection.ts";

export class TokenUsage {
  constructor(private readonly db: Database) {}

  /** Adds `tokens` to what `owner` has spent on `day` (YYYY-MM-DD). */
  add(owner: Owner, day: string, tokens: number): void {
    this.db.transaction(() => {
      this.db.prepare(
        `INSERT INTO token_usage (owner_kind, owner_id, day, tokens) VALUES (?, ?, ?, ?)
           ON CONFLICT (owner_kind, owner_id, day) DO UPDATE SET tokens = tokens + excluded.tokens`,
      ).run(owner.kind, owner.id, day, tokens);
      this.db.prepare("DELETE FROM token_usage WHERE day < ?").run(day);
    });
  }

  /** What `owner` has spent on `day`. */
  of(owner: Owner, day: string): number {
    const row = this.db.prepare(
      "SELECT tokens FROM token_usage WHERE owner_kind = ? AND owner_id = ? AND day = ?",
    ).get(owner.kind, owner.id, day);
    return Number(row?.tokens ?? 0);
  }
}
