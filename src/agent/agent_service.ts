// One project's agent: starts turns, follows and stops them, and answers for what is stored of them.
import { Command } from "@langchain/langgraph";
import type { Decision } from "../domain/approval.ts";
import { AppError, errorText } from "../domain/error.ts";
import type { TurnError } from "../domain/event.ts";
import type { FaultRecords } from "../domain/fault.ts";
import type { CopilotMode } from "../domain/model_config.ts";
import type { Project } from "../domain/project.ts";
import { type Caller, withScope } from "../domain/scope.ts";
import type { ChatAnswer, ChatRequest, ChatSession, ConversationHistory } from "../domain/session.ts";
import type { Logger } from "../log.ts";
import type { ChatSessionsRepository } from "../storage/sessions.ts";
import { type AccessCheck, watchAccess } from "./access_watch.ts";
import { ApprovalDesk } from "./approval_desk.ts";
import { NOT_APPROVED } from "./approvals.ts";
import { settleCutTurns } from "./cut_turns.ts";
import { repair } from "./exchanges.ts";
import { FinishedTurns } from "./finished_turns.ts";
import { buildGraph, type CopilotGraph } from "./graph.ts";
import { answerOf, historyOf } from "./history.ts";
import { userMessage } from "./messages.ts";
import type { ChosenModel } from "./model_choice.ts";
import type { ProjectStorage } from "./project_storage.ts";
import { rebuildLog } from "./replay.ts";
import { runTurn } from "./run_turn.ts";
import type { Update } from "./state.ts";
import type { EventLog } from "./event_log.ts";
import { titleText } from "./title_text.ts";
import { askAhead } from "./topology_info.ts";
import { type AbortReason, Turn } from "./turn.ts";
import type { TurnContext, TurnRequest } from "./turn_context.ts";
import { saveTurnEnd } from "./turn_end.ts";
import type { Account, TurnLimits } from "./turn_limits.ts";
import type { CallUsage } from "./turn_statistics.ts";

export interface AgentServiceOptions {
  project: Project;
  storage: ProjectStorage;
  /** Makes what the nodes need for a turn; called inside the turn's scope. */
  contextFor(
    turn: Turn,
    mode: CopilotMode,
    request: TurnRequest,
    project: Project,
    faults: FaultRecords,
  ): Omit<TurnContext, "wantsTitle">;
  /** The model configuration of a caller. Throws `bad_request` when there is none. */
  modelFor(caller: Caller, signal?: AbortSignal): Promise<ChosenModel>;
  /** Asks GNS3 whether the caller may still use the project; throws what it refuses with. */
  access?: AccessCheck;
  limits: Pick<TurnLimits, "admit" | "refuseSpent" | "spent">;
  log: Logger;
  newId(): string;
  now(): Date;
}

/** Why an agent is closed, and what its running turns tell their users when they did not ask for it. */
export interface Closing {
  reason: AbortReason;
  why?: TurnError;
  /** The project's files may be on their way out: the database is let go of only when this resolves. */
  until?: Promise<unknown>;
}

export interface StartTurn {
  caller: Caller;
  /** What `modelFor` gave for the caller, just before. */
  model: ChosenModel;
  request: ChatRequest;
  /** The mode of `/inject`, whatever the configuration says. */
  forcedMode?: CopilotMode;
}

export interface Decide {
  caller: Caller;
  /** What `modelFor` gave for the caller, just before. */
  model: ChosenModel;
  sessionId: string;
  approvalId: string;
  decision: Decision;
}

export class AgentService {
  /** As GNS3 described it last. */
  project: Project;
  readonly sessions: ChatSessionsRepository;
  readonly #running = new Map<string, TurnContext>();
  readonly #finished = new FinishedTurns();
  readonly #desk: ApprovalDesk;
  readonly #graph: CopilotGraph;
  #restore?: Promise<void>;
  #closed = false;
  #visits = 0;

  constructor(private readonly options: AgentServiceOptions) {
    this.project = options.project;
    this.sessions = options.storage.sessions;
    settleCutTurns(options.storage, options.log);
    this.#desk = new ApprovalDesk(options.storage.approvals, options.now);
    this.#graph = buildGraph(options.storage.saver, (threadId) => {
      const context = this.#running.get(threadId);
      if (!context) throw new AppError("internal", "The session runs no turn.");
      return context;
    });
  }

  /** A request is using it: it is not idle. */
  hold(): void {
    this.#visits++;
  }

  /** The request that held it was answered. */
  leave(): void {
    this.#visits--;
  }

  get busy(): boolean {
    return this.#visits > 0 || this.#running.size > 0;
  }

  /** A turn of this agent restores a snapshot; GNS3 closes the project for a moment, which means nothing. */
  get restoring(): boolean {
    return this.#restore !== undefined;
  }

  get runningTurns(): Turn[] {
    return [...this.#running.values()].map((context) => context.turn);
  }

  /** The model for a turn of this caller. Throws `bad_request` when none is configured; see `model_choice.ts`. */
  modelFor(caller: Caller, signal?: AbortSignal): Promise<ChosenModel> {
    return this.options.modelFor(caller, signal);
  }

  /** The session's owner, if there is one. Throws 404 for another user's session, 409 for a busy one, 503 after `close`. */
  checkFree(userId: string, sessionId: string): string | undefined {
    if (this.#closed) throw new AppError("unavailable", "The project is being closed.", { retryAfter: 2 });
    const owner = this.sessions.ownerOf(sessionId);
    if (owner !== undefined && owner !== userId) throw new AppError("not_found", "Session not found.");
    if (this.#running.has(sessionId)) throw new AppError("conflict", "This session is already answering.");
    return owner;
  }

  /**
   * Starts a turn and returns at once; the turn goes on by itself. Throws 404 for another user's session, 409 for a busy
   * one, 429 over a limit. Nothing is awaited between the check and the mark: two requests cannot both pass.
   */
  startTurn({ caller, model, request, forcedMode }: StartTurn): Turn {
    const sessionId = request.session_id || this.options.newId();
    const owner = this.checkFree(caller.userId, sessionId);
    this.options.limits.admit(accountOf(caller, model));
    const mode = forcedMode ?? model.config.copilot_mode;
    const turn = new Turn(this.options.newId(), sessionId, caller.userId, this.options.now());
    const context = this.#contextOf(turn, caller, model, mode, request);
    const noted = owner === undefined && this.#createFor(turn, titleText("", request.message), mode);
    askAhead(context);
    this.#launch(context, caller, request, () => {
      if (!noted) this.#note(turn);
      const createdAt = turn.startedAt.toISOString();
      const before = this.options.storage.saver.messages(sessionId);
      const asked = this.#desk.clear(sessionId);
      const mended = repair(before, createdAt, context.newId, asked ? NOT_APPROVED : undefined);
      return {
        messages: [
          ...mended,
          userMessage(request.message, { id: context.newId(), createdAt }),
        ],
        llm_calls: 0,
        remaining_steps: context.limits.steps,
        mode,
      };
    });
    return turn;
  }

  /**
   * Takes a decision about a call that waits. When it was the last of its batch, the turn goes on in a new `Turn`;
   * undefined while others are open. Throws 404 for an unknown session or approval, 409 when it was decided already, its
   * time is over or the session answers, 429 over a limit of tokens, 422 for arguments that the tool does not take.
   */
  decide({ caller, model, sessionId, approvalId, decision }: Decide): Turn | undefined {
    this.#own(caller.userId, sessionId);
    if (this.#running.has(sessionId)) throw new AppError("conflict", "This session is already answering.");
    const asked = this.#desk.find(sessionId, approvalId);
    this.options.limits.refuseSpent(accountOf(caller, model));
    const request = { ...asked.options, approvals: true };
    const turn = new Turn(this.options.newId(), sessionId, caller.userId, this.options.now());
    const context = this.#contextOf(turn, caller, model, asked.options.mode, request);
    const decisions = this.#desk.decide(asked, decision, context);
    if (!decisions) return undefined;
    this.#launch(context, caller, request, () => {
      this.#note(turn);
      this.#desk.clear(sessionId);
      return new Command({ resume: decisions });
    });
    return turn;
  }

  /** The log of the running or last turn; undefined when there was none. Throws 404 for an unknown session. */
  follow(userId: string, sessionId: string): { turnId: string; log: EventLog } | undefined {
    this.#own(userId, sessionId);
    const turn = this.#running.get(sessionId)?.turn ?? this.#finished.of(sessionId);
    if (turn) return { turnId: turn.id, log: turn.log };
    const last = this.sessions.lastTurn(sessionId);
    if (!last) return undefined;
    const messages = this.options.storage.saver.messages(sessionId);
    return { turnId: last.turnId, log: rebuildLog(last, messages, this.#desk.waiting(sessionId)) };
  }

  /** Stops the session's turn; resolves when it is saved. Returns whether one was running. Throws 404. */
  async abort(userId: string, sessionId: string, reason: AbortReason = "user"): Promise<boolean> {
    this.#own(userId, sessionId);
    const turn = this.#running.get(sessionId)?.turn;
    if (!turn) return await this.#dropApprovals(userId, sessionId);
    const aborted = turn.abort(reason);
    await turn.finished;
    return aborted;
  }

  /** A turn that waits for a decision is stopped by answering its calls: nothing of them has run. */
  async #dropApprovals(userId: string, sessionId: string): Promise<boolean> {
    const { saver } = this.options.storage;
    const last = this.sessions.lastTurn(sessionId);
    if (!last || !this.#desk.clear(sessionId)) return false;
    const now = this.options.now();
    const answers = repair(saver.messages(sessionId), now.toISOString(), this.options.newId, NOT_APPROVED);
    // As the last node of a turn, after which nothing runs.
    const thread = { configurable: { thread_id: sessionId } };
    await this.#graph.updateState(thread, { messages: answers }, "title_generator");
    const stopped = new Turn(last.turnId, sessionId, userId, now);
    stopped.abort("user");
    stopped.finish((end) => saveTurnEnd(this.options.storage, stopped, end), { lastSeq: last.lastSeq });
    this.#finished.forget(sessionId);
    return true;
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
    const messages = this.options.storage.saver.messages(turn.sessionId);
    return answerOf(session, turn, messages, this.#desk.waiting(turn.sessionId));
  }

  /** Deletes a session and all that is stored of it; a running turn is stopped first. Returns whether it was there. */
  async deleteSession(userId: string, sessionId: string): Promise<boolean> {
    if (!this.sessions.get(userId, sessionId)) return false;
    await this.abort(userId, sessionId, "session_deleted");
    await this.options.storage.deleteOldRows(sessionId);
    // That may have taken long enough for another turn, or for somebody else to delete it.
    if (!this.sessions.get(userId, sessionId)) return false;
    await this.abort(userId, sessionId, "session_deleted");
    this.#finished.forget(sessionId);
    const deleted = this.sessions.delete(userId, sessionId);
    this.options.storage.saver.forget(sessionId);
    return deleted;
  }

  /** What GNS3 has done to the project's files behind our back; such an agent can only be closed. */
  get taken(): "restored" | "deleted" | undefined {
    return this.options.storage.taken();
  }

  /** Stops all turns, waits until they are saved, and closes the database. */
  async close({ reason, why, until }: Closing): Promise<void> {
    this.#closed = true;
    const { storage } = this.options;
    const running = this.runningTurns;
    for (const turn of running) turn.abort(reason, why);
    await Promise.all(running.map((turn) => turn.finished));
    this.#finished.close();
    await this.#restore;
    if (until) {
      if (!storage.taken()) storage.checkpoint();
      await until;
    }
    if (reason === "project_deleted") await this.#deleteAll();
    await storage.close();
  }

  /** Deletes every session, unless GNS3 has the files already, or takes them meanwhile. */
  async #deleteAll(): Promise<void> {
    const { storage } = this.options;
    try {
      for (const threadId of this.sessions.threadIds()) await storage.deleteOldRows(threadId);
      if (!storage.taken()) this.sessions.deleteAll();
    } catch (error) {
      if (!storage.taken()) throw error;
    }
  }

  /** The turn that asked for it may have been stopped: the restore goes on, and its end is waited for in `close`. */
  async #keepThrough<T>(restore: () => Promise<T>): Promise<T> {
    if (this.#restore) {
      throw new AppError("conflict", "A snapshot of this project is being restored already.");
    }
    const work = this.options.storage.keepThrough(restore);
    this.#restore = work.then(() => {}, () => {}).finally(() => this.#restore = undefined);
    return await work;
  }

  #own(userId: string, sessionId: string): ChatSession {
    const session = this.sessions.get(userId, sessionId);
    if (!session) throw new AppError("not_found", "Session not found.");
    return session;
  }

  #contextOf(
    turn: Turn,
    caller: Caller,
    model: ChosenModel,
    mode: CopilotMode,
    request: TurnRequest,
  ): TurnContext {
    const account = accountOf(caller, model);
    turn.statistics.onCall = (usage) => this.#spent(account, usage);
    const scope = { caller, model: model.config, mayCall: model.mayCall };
    const faults = this.options.storage.faults.by(caller);
    const context = withScope(
      scope,
      () => this.options.contextFor(turn, mode, request, this.project, faults),
    );
    return {
      ...context,
      toolContext: { ...context.toolContext, keepConversations: (restore) => this.#keepThrough(restore) },
      wantsTitle: () => this.sessions.wantsTitle(turn.sessionId),
    };
  }

  /** Marks the session as busy and runs the graph from `input` to its end; the turn's record is saved whatever happens. */
  #launch(context: TurnContext, caller: Caller, request: TurnRequest, input: () => Update | Command): void {
    const { turn } = context;
    this.#finished.forget(turn.sessionId);
    this.#running.set(turn.sessionId, context);
    if (this.options.access) watchAccess(turn, caller, this.options.access);
    const run = runTurn(this.#graph, context, {
      projectId: this.project.project_id,
      input,
      ask: (list) => this.#desk.ask(context, request, list),
    });
    void run.then(() => this.#finish(context, request));
  }

  /**
   * Creates the session of its first turn, and notes the turn as running, in one transaction. Where not both can be saved, the
   * session alone is: false, and the turn itself then tells what is wrong. Throws when that cannot be saved either.
   */
  #createFor({ id, sessionId, userId, startedAt }: Turn, title: string, mode: CopilotMode): boolean {
    const { project_id } = this.project;
    const session = { thread_id: sessionId, user_id: userId, project_id, title, copilot_mode: mode };
    try {
      this.sessions.create({ ...session, turn: { id, startedAt } });
      return true;
    } catch {
      this.sessions.create(session);
      return false;
    }
  }

  /** Notes a turn of a session that had others as running. */
  #note({ id, sessionId, userId, startedAt }: Turn): void {
    // One whose end could not be saved, on a full disk say.
    settleCutTurns(this.options.storage, this.options.log, sessionId);
    this.sessions.startTurn(userId, sessionId, id, startedAt);
  }

  /** The session is free afterwards, whatever goes wrong. */
  #finish({ turn, log }: TurnContext, request: TurnRequest): void {
    const fault = turn.finish((end) => saveTurnEnd(this.options.storage, turn, end, this.options.log), {
      temperature: request.temperature ?? undefined,
      maxTokens: request.max_tokens ?? undefined,
    });
    if (fault) log.error("The end of a turn could not be saved.", { stack: fault.stack });
    if (turn.error) {
      log.warn("The turn ended with an error.", { code: turn.error.code, error: turn.error.message });
    }
    this.#running.delete(turn.sessionId);
    if (!this.#closed) this.#finished.keep(turn);
  }

  /** A turn is not failed because its tokens could not be counted. */
  #spent(account: Account, usage: CallUsage): void {
    try {
      this.options.limits.spent(account, usage);
    } catch (error) {
      this.options.log.error("Tokens that were spent could not be counted.", { error: errorText(error) });
    }
  }
}

/** On whose account a turn with this model is. */
function accountOf({ userId }: Caller, { groupId }: ChosenModel): Account {
  return { userId, groupId };
}
