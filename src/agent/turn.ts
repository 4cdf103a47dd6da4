// One turn: a user's message and everything the agent does until it stops, whoever is still listening.
import { AppError } from "../domain/error.ts";
import type { FinishReason, TurnError, TurnEvent, Usage } from "../domain/event.ts";
import { Stopped } from "../domain/stopped.ts";
import { EventLog } from "./event_log.ts";
import type { TurnEnd } from "./turn_end.ts";
import { TurnStatistics } from "./turn_statistics.ts";

/** Why a turn was stopped before its end. */
export type AbortReason =
  | "user"
  | "client_gone"
  | "shutdown"
  | "session_deleted"
  | "project_closed"
  | "project_deleted"
  | "project_restored"
  | "access_lost";

/** What the model reads of it in the results of its calls. */
const WHY: Record<AbortReason, string> = {
  user: "the user stopped the turn",
  client_gone: "the user's client went away",
  shutdown: "the assistant's server was stopped",
  session_deleted: "the session was deleted",
  project_closed: "the project was closed",
  project_deleted: "the project was deleted",
  project_restored: "the project was set back to a snapshot",
  access_lost: "the user may not use the project any more",
};

const NOT_SAVED = "The turn could not be saved to its end because of a fault in this server.";

/** Created by `AgentService.startTurn`; it alone decides how the turn ends. */
export class Turn {
  readonly log = new EventLog();
  readonly statistics = new TurnStatistics();
  /** Resolves when everything is saved and `turn_end` is in the log. Never rejects. */
  readonly finished: Promise<void>;
  /** What went wrong; set once, by whoever met it first. */
  error?: TurnError;
  /** The agent was made to sum up before it was done. */
  limitReached = false;
  /** The same call failed again and again. */
  goingInCircles = false;
  /** How often each call, by name and arguments, has failed. */
  readonly failures = new Map<string, number>();
  /** The automatic title, when this turn made one. */
  title?: string;
  abortReason?: AbortReason;
  /** Something of it was not saved. */
  unsaved = false;
  /** The turn ends because calls wait for the user's decision. */
  waiting = false;
  /** What a stop that nobody asked for is told as. */
  #why?: TurnError;
  /** How it ended. */
  #outcome?: FinishReason;

  readonly #controller = new AbortController();
  #settle!: () => void;
  #ended = false;

  constructor(
    readonly id: string,
    readonly sessionId: string,
    readonly userId: string,
    readonly startedAt: Date,
  ) {
    this.finished = new Promise((resolve) => this.#settle = resolve);
    this.publish({ type: "turn_start", turnId: id });
  }

  /** Aborts when the turn is to stop; every wait in the turn ends with it. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get ended(): boolean {
    return this.#ended;
  }

  publish(event: TurnEvent): number {
    return this.log.append(event);
  }

  /**
   * Stops the turn at once. Returns whether it was still running. With `why` the turn ends with that error, for a stop
   * that its user has to be told the reason of.
   */
  abort(reason: AbortReason, why?: TurnError): boolean {
    if (this.#ended || this.signal.aborted) return false;
    this.abortReason = reason;
    this.#why = why;
    this.#controller.abort(new Stopped(WHY[reason]));
    return true;
  }

  /** Notes a failure that ends the turn; what follows a stop is no failure. */
  fail(error: TurnError): void {
    if (!this.signal.aborted) this.error ??= error;
  }

  /** Notes a failure that kept something of the turn from being saved: a stop is no excuse for what it has lost. */
  lose(error: TurnError): void {
    this.unsaved = true;
    this.error ??= error;
  }

  finishReason(): FinishReason {
    if (this.#outcome) return this.#outcome;
    if (this.signal.aborted && !this.unsaved) return this.#why ? "error" : "aborted";
    if (this.error) return "error";
    if (this.waiting) return "approval";
    return this.limitReached ? "limit" : "stop";
  }

  /**
   * Ends the turn, exactly once: `save` writes it, then `turn_end` goes into the log. When saving fails, the
   * turn ends with that error instead of with a success that is not on disk. Returns a failure that is a fault of this
   * program, for the log.
   */
  finish(save: (end: TurnEnd) => void, overrides: Partial<TurnEnd>): Error | undefined {
    if (this.#ended) return undefined;
    let fault: Error | undefined;
    this.#ended = true;
    if (this.#why) this.error = this.#why;
    let finishReason = this.finishReason();
    let usage: Usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0, llm_calls: 0 };
    // The log's end is part of the record, so that a resume after a restart finds the same positions.
    const lastSeq = this.log.last + 1;
    try {
      usage = this.statistics.usage();
      save({
        ...this.statistics.record(),
        turnId: this.id,
        finishReason,
        error: finishReason === "error" ? this.error : undefined,
        title: this.title,
        lastSeq,
        endedAt: new Date(),
        ...overrides,
      });
    } catch (error) {
      if (!(error instanceof AppError)) fault = error instanceof Error ? error : new Error(String(error));
      const told = fault ? { code: "internal" as const, message: NOT_SAVED } : error as AppError;
      this.error ??= { code: told.code, message: told.message };
      finishReason = "error";
    }
    this.#outcome = finishReason;
    const error = finishReason === "error" ? { error: this.error } : {};
    this.log.append({ type: "turn_end", finishReason, usage, ...error });
    this.#settle();
    return fault;
  }
}
