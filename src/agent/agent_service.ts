// One project's agent: starts turns, follows and stops them, and answers for what is stored of them.
import { AppError, errorText } from "../domain/error.ts";
import type { FaultRecords } from "../domain/fault.ts";
import type { CopilotMode, ModelConfig } from "../domain/model_config.ts";
import type { Project } from "../domain/project.ts";
import { type Caller, withScope } from "../domain/scope.ts";
import type { ChatAnswer, ChatRequest, ChatSession, ConversationHistory } from "../domain/session.ts";
import type { Logger } from "../log.ts";
import type { SqliteSaver } from "../storage/checkpoints.ts";
import type { ChatSessionsRepository } from "../storage/sessions.ts";
import { buildGraph, type CopilotGraph } from "./graph.ts";
import { answerOf, historyOf } from "./history.ts";
import { repair, toChatMessage, userMessage } from "./messages.ts";
import { rebuildLog } from "./replay.ts";
import type { EventLog } from "./event_log.ts";
import { titleText } from "./title_text.ts";
import { type AbortReason, Turn } from "./turn.ts";
import type { TurnContext } from "./turn_context.ts";

/** The storage of one project. */
export interface ProjectStorage {
  sessions: ChatSessionsRepository;
  saver: SqliteSaver;
  faults: { by(caller: Caller): FaultRecords };
  close(): void;
}

export interface AgentServiceOptions {
  project: Project;
  storage: ProjectStorage;
  /** Makes what the nodes need for a turn; called inside the turn's scope. */
  contextFor(
    turn: Turn,
    mode: CopilotMode,
    request: ChatRequest,
    project: Project,
    faultsBy: (caller: Caller) => FaultRecords,
  ): Omit<TurnContext, "wantsTitle">;
  /** The model configuration of a caller. Throws `bad_request` when there is none. */
  modelFor(caller: Caller): ModelConfig;
  log: Logger;
  newId(): string;
  now(): Date;
}

export interface StartTurn {
  caller: Caller;
  request: ChatRequest;
  /** The mode of `/inject`, whatever the configuration says. */
  forcedMode?: CopilotMode;
}

/** How long a finished turn's log is kept in memory. */
const KEEP_LOG_MS = 10 * 60_000;

export class AgentService {
  /** As GNS3 described it last. */
  project: Project;
  readonly sessions: ChatSessionsRepository;
  readonly #running = new Map<string, TurnContext>();
  readonly #finished = new Map<string, { turn: Turn; timer: ReturnType<typeof setTimeout> }>();
  readonly #graph: CopilotGraph;
  #closed = false;

  constructor(private readonly options: AgentServiceOptions) {
    this.project = options.project;
    this.sessions = options.storage.sessions;
    this.#graph = buildGraph(options.storage.saver, (threadId) => {
      const context = this.#running.get(threadId);
      if (!context) throw new AppError("internal", "The session runs no turn.");
      return context;
    });
  }

  get busy(): boolean {
    return this.#running.size > 0;
  }

  get runningTurns(): Turn[] {
    return [...this.#running.values()].map((context) => context.turn);
  }

  /**
   * Starts a turn and returns at once; the turn goes on by itself. Throws 404 for another user's session, 409 for a busy
   * one, 400 when no model is configured. Nothing is awaited between the check and the mark: two requests cannot both pass.
   */
  startTurn({ caller, request, forcedMode }: StartTurn): Turn {
    if (this.#closed) throw new AppError("unavailable", "The project is being closed.", { retryAfter: 2 });
    const model = this.options.modelFor(caller);
    const sessionId = request.session_id || this.options.newId();
    const owner = this.sessions.ownerOf(sessionId);
    if (owner !== undefined && owner !== caller.userId) throw new AppError("not_found", "Session not found.");
    if (this.#running.has(sessionId)) throw new AppError("conflict", "This session is already answering.");

    const now = this.options.now();
    const mode = forcedMode ?? model.copilot_mode;
    const turn = new Turn(this.options.newId(), sessionId, caller.userId, now);
    if (owner === undefined) {
      this.sessions.create({
        thread_id: sessionId,
        user_id: caller.userId,
        project_id: this.project.project_id,
        title: titleText("", request.message),
        copilot_mode: mode,
      });
    }
    this.#forget(sessionId);
    const { faults } = this.options.storage;
    withScope({ caller, model }, () => {
      const context = {
        ...this.options.contextFor(turn, mode, request, this.project, (by) => faults.by(by)),
        wantsTitle: () => this.sessions.wantsTitle(sessionId),
      };
      this.#running.set(sessionId, context);
      void this.#run(context, mode, request).catch((error) => {
        this.options.log.error("A turn ended outside of its own handling.", { error: errorText(error) });
      });
    });
    return turn;
  }

  /** The log of the running or last turn; undefined when there was none. Throws 404 for an unknown session. */
  follow(userId: string, sessionId: string): { turnId: string; log: EventLog } | undefined {
    this.#own(userId, sessionId);
    const turn = this.#running.get(sessionId)?.turn ?? this.#finished.get(sessionId)?.turn;
    if (turn) return { turnId: turn.id, log: turn.log };
    const last = this.sessions.lastTurn(sessionId);
    if (!last) return undefined;
    return { turnId: last.turnId, log: rebuildLog(last, this.options.storage.saver.messages(sessionId)) };
  }

  /** Stops the session's turn; resolves when it is saved. Returns whether one was running. Throws 404. */
  async abort(userId: string, sessionId: string, reason: AbortReason = "user"): Promise<boolean> {
    this.#own(userId, sessionId);
    const turn = this.#running.get(sessionId)?.turn;
    if (!turn) return false;
    const aborted = turn.abort(reason);
    await turn.finished;
    return aborted;
  }

  createSession(userId: string, title?: string): ChatSession {
    return this.sessions.create({
      thread_id: this.options.newId(),
      user_id: userId,
      project_id: this.project.project_id,
      title,
      titleByUser: title !== undefined,
    });
  }

  /** A page of the conversation, oldest first; without `limit` all of it. Throws 404, 422 for an unknown `before`. */
  history(userId: string, sessionId: string, page: { limit?: number; before?: string }): ConversationHistory {
    const session = this.#own(userId, sessionId);
    return historyOf(session, this.options.storage.saver.messages(sessionId), page);
  }

  /** What a finished turn answers to a request without a stream. */
  answerOf(userId: string, turn: Turn): ChatAnswer {
    const session = this.#own(userId, turn.sessionId);
    return answerOf(session, turn, this.options.storage.saver.messages(turn.sessionId).map(toChatMessage));
  }

  /** Deletes a session and all that is stored of it; a running turn is stopped first. Returns whether it was there. */
  async deleteSession(userId: string, sessionId: string): Promise<boolean> {
    if (!this.sessions.get(userId, sessionId)) return false;
    await this.abort(userId, sessionId, "session_deleted");
    this.#forget(sessionId);
    const deleted = this.sessions.delete(userId, sessionId);
    this.options.storage.saver.forget(sessionId);
    return deleted;
  }

  /** Stops all turns, waits until they are saved, and closes the database. */
  async close(reason: AbortReason): Promise<void> {
    this.#closed = true;
    const running = this.runningTurns;
    for (const turn of running) turn.abort(reason);
    await Promise.all(running.map((turn) => turn.finished));
    for (const id of [...this.#finished.keys()]) this.#forget(id);
    this.options.storage.close();
  }

  #own(userId: string, sessionId: string): ChatSession {
    const session = this.sessions.get(userId, sessionId);
    if (!session) throw new AppError("not_found", "Session not found.");
    return session;
  }

  async #run(context: TurnContext, mode: CopilotMode, request: ChatRequest): Promise<void> {
    const { turn, log } = context;
    const { saver } = this.options.storage;
    try {
      this.sessions.startTurn(turn.userId, turn.sessionId, turn.id, turn.startedAt);
      const createdAt = turn.startedAt.toISOString();
      const message = userMessage(request.message, { id: context.newId(), createdAt });
      const before = saver.messages(turn.sessionId);
      const input = {
        messages: [...repair(before, createdAt, context.newId), message],
        llm_calls: 0,
        remaining_steps: context.limits.steps,
        mode,
      };
      // The events of a turn go into its log directly: LangGraph's own event stream costs four times as much a token.
      await this.#graph.invoke(input, {
        configurable: { thread_id: turn.sessionId, project_id: this.project.project_id },
        metadata: { user_id: turn.userId },
        recursionLimit: 2 * context.limits.steps + 10,
        durability: "async",
        callbacks: [],
      });
    } catch (error) {
      const known = error instanceof AppError;
      log.error("A turn failed.", {
        error: errorText(error),
        stack: known ? undefined : (error as Error)?.stack,
      });
      turn.fail({
        code: known ? error.code : "internal",
        message: known
          ? error.message
          : "The assistant met an unexpected fault; what was said so far is saved.",
      });
    } finally {
      turn.finish((record) => this.sessions.endTurn(turn.userId, turn.sessionId, record), {
        temperature: request.temperature ?? undefined,
        maxTokens: request.max_tokens ?? undefined,
      });
      if (turn.error) {
        log.warn("The turn ended with an error.", { code: turn.error.code, error: turn.error.message });
      }
      this.#running.delete(turn.sessionId);
      if (!this.#closed) this.#keep(turn);
      this.#prune(turn.sessionId);
    }
  }

  /** What is not pruned now is pruned after the next turn: it is never worth failing one. */
  #prune(sessionId: string): void {
    try {
      this.options.storage.saver.prune(sessionId);
    } catch (error) {
      this.options.log.warn("Old checkpoints could not be removed.", { error: errorText(error) });
    }
  }

  #keep(turn: Turn): void {
    const timer = setTimeout(() => this.#finished.delete(turn.sessionId), KEEP_LOG_MS);
    this.#finished.set(turn.sessionId, { turn, timer });
  }

  #forget(sessionId: string): void {
    const kept = this.#finished.get(sessionId);
    if (!kept) return;
    clearTimeout(kept.timer);
    this.#finished.delete(sessionId);
  }
}
