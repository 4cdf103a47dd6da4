// The routes that start, follow and stop turns.
import type { Context } from "hono";
import { EventLog } from "../../agent/event_log.ts";
import type { ChosenModel } from "../../agent/model_choice.ts";
import type { Turn } from "../../agent/turn.ts";
import { INJECTION_REQUEST } from "../../agent/prompts/mod.ts";
import { AppError } from "../../domain/error.ts";
import { decisionSchema } from "../../domain/approval.ts";
import type { CopilotMode } from "../../domain/model_config.ts";
import { chatAnswerSchema, type ChatRequest, chatRequestSchema } from "../../domain/session.ts";
import { gns3Dialect } from "../dialects/gns3.ts";
import { readBody, readQuery } from "../input.ts";
import { sseResponse } from "../sse.ts";
import { startNow, startSoon, streamedTurn } from "./starting.ts";
import type { ChatDeps, Visit } from "./deps.ts";
import { sessionIdOf } from "./deps.ts";
import type { Answer, Route } from "./route.ts";
import {
  abortAnswer,
  injectRequestSchema,
  streamEventSchema,
  streamHeaders,
  streamQuery,
} from "./schemas.ts";

const STREAM: Answer = {
  description: "The events of the turn, one `data:` line each; with `stream: false` one JSON answer",
  contentType: "text/event-stream",
  schema: streamEventSchema,
  also: { "application/json": chatAnswerSchema },
};
const EVENTS: Answer = { ...STREAM, description: "The events, one `data:` line each", also: undefined };

const STARTED: Record<number, Answer> = {
  200: STREAM,
  400: { description: "No model is configured, or its key must be entered again" },
  409: { description: "The session is already answering" },
  429: { description: "Too many messages or tokens; Retry-After tells when to try again" },
};

/** Starts a turn and answers with its events, or with one JSON object when the client wants no stream. */
export async function startTurn(
  c: Context,
  deps: ChatDeps,
  visit: Visit,
  request: ChatRequest,
  forcedMode?: CopilotMode,
): Promise<Response> {
  const { service, caller, recheck } = visit;
  const sessionId = request.session_id || crypto.randomUUID();
  const abortsWhenGone = request.on_disconnect === "abort";
  let gone = false;
  let turn: Turn | undefined;
  const start = (model: ChosenModel) => {
    turn = service.startTurn({ caller, model, request: { ...request, session_id: sessionId }, forcedMode });
    if (gone) void turn.abort("client_gone");
    return turn;
  };
  const onGone = abortsWhenGone
    ? () => {
      gone = true;
      void turn?.abort("client_gone");
    }
    : undefined;
  if (!request.stream) return await oneAnswer(c, visit, await startNow(c, deps, visit, start), onGone);
  service.checkFree(caller.userId, sessionId);
  const started = await startSoon(c, deps, visit, start);
  return sseResponse({
    turn: "done" in started ? streamedTurn(started.done) : started.going.then(streamedTurn),
    dialect: gns3Dialect(sessionId, { reasoning: request.reasoning }),
    heartbeatMs: deps.heartbeatMs,
    signal: c.req.raw.signal,
    headers: { "X-Session-Id": sessionId },
    onGone,
    recheck,
  });
}

async function oneAnswer(
  c: Context,
  { service, caller, recheck }: Visit,
  turn: Turn,
  onGone?: () => void,
): Promise<Response> {
  const signal = c.req.raw.signal;
  const began = performance.now();
  if (onGone) signal.addEventListener("abort", onGone, { once: true });
  try {
    await turn.finished;
  } finally {
    if (onGone) signal.removeEventListener("abort", onGone);
  }
  const refused = performance.now() - began > recheck.everyMs ? await recheck.refused() : undefined;
  if (refused) throw new AppError(refused.code, refused.message);
  return c.json(service.answerOf(caller.userId, turn), 200, { "X-Session-Id": turn.sessionId });
}

/** Routes under a project's chat prefix; `visit` finds out who calls and which project is meant. */
export function chatRoutes(prefix: string, suffix: string, deps: ChatDeps): Route[] {
  const tag = "chat";
  return [
    {
      method: "post",
      path: `${prefix}/stream`,
      id: `startTurn${suffix}`,
      tag,
      summary: "Send a message and follow the assistant's turn",
      body: chatRequestSchema,
      answers: STARTED,
      handle: async (c) => {
        const visit = await deps.visit(c);
        return startTurn(c, deps, visit, await readBody(c, chatRequestSchema));
      },
    },
    {
      method: "post",
      path: `${prefix}/inject`,
      id: `injectFault${suffix}`,
      tag,
      summary: "Let the assistant break the lab in one way, for practice",
      body: injectRequestSchema,
      bodyOptional: true,
      answers: STARTED,
      handle: async (c) => {
        const visit = await deps.visit(c);
        const request = await readBody(c, injectRequestSchema, { optional: true });
        const message = request.message ?? INJECTION_REQUEST;
        return startTurn(c, deps, visit, { ...request, message }, "troubleshooting_injection");
      },
    },
    {
      method: "get",
      path: `${prefix}/sessions/:session_id/stream`,
      id: `followTurn${suffix}`,
      tag,
      summary: "Pick up the running or last turn, after `Last-Event-ID` or `after`",
      query: streamQuery,
      headers: streamHeaders,
      answers: { 200: EVENTS, 204: { description: "The session has had no turn yet" } },
      handle: async (c) => {
        const { service, caller, recheck } = await deps.visit(c);
        const sessionId = sessionIdOf(c);
        const followed = service.follow(caller.userId, sessionId);
        if (!followed) return c.body(null, 204);
        const query = readQuery(c, streamQuery);
        const wanted = c.req.header("last-event-id") ?? query.after;
        return sseResponse({
          turn: followed,
          dialect: gns3Dialect(sessionId, { reasoning: query.reasoning === "true" }),
          after: positionIn(followed, wanted),
          heartbeatMs: deps.heartbeatMs,
          signal: c.req.raw.signal,
          headers: { "X-Session-Id": sessionId },
          recheck,
        });
      },
    },
    {
      method: "post",
      path: `${prefix}/sessions/:session_id/abort`,
      id: `abortTurn${suffix}`,
      tag,
      summary: "Stop the running turn at once",
      answers: { 200: { description: "Whether a turn was running", schema: abortAnswer } },
      handle: async (c) => {
        const own = await deps.peek(c);
        const session_id = sessionIdOf(c);
        const runs = own?.service.runningTurns.some((turn) =>
          turn.sessionId === session_id && turn.userId === own.caller.userId
        );
        if (runs) await own?.confirm();
        const { service, caller } = own && runs ? own : await deps.visit(c);
        return c.json({ status: "ok", session_id, aborted: await service.abort(caller.userId, session_id) });
      },
    },
    {
      method: "post",
      path: `${prefix}/sessions/:session_id/approvals/:approval_id`,
      id: `decideApproval${suffix}`,
      tag,
      summary:
        "Approve, reject or edit a call that waits; when all of its batch are decided the turn goes on",
      body: decisionSchema,
      answers: {
        200: { ...EVENTS, description: "The rest of the turn; while other calls wait, only its end" },
        409: { description: "It was decided already, or the session is answering" },
      },
      handle: async (c) => decide(c, deps, await deps.visit(c)),
    },
  ];
}

async function decide(c: Context, deps: ChatDeps, visit: Visit): Promise<Response> {
  const { service, caller, recheck } = visit;
  const sessionId = sessionIdOf(c);
  const { decision, arguments: edited, reason } = await readBody(c, decisionSchema);
  const started = await startSoon(c, deps, visit, (model) => {
    const turn = service.decide({
      caller,
      model,
      sessionId,
      approvalId: c.req.param("approval_id") ?? "",
      decision: decision === "edit"
        ? { decision, arguments: edited! }
        : decision === "reject"
        ? { decision, ...(reason ? { reason } : {}) }
        : { decision },
    });
    return turn ? streamedTurn(turn) : stillWaiting();
  });
  return sseResponse({
    turn: "done" in started ? started.done : started.going,
    dialect: gns3Dialect(sessionId),
    heartbeatMs: deps.heartbeatMs,
    signal: c.req.raw.signal,
    headers: { "X-Session-Id": sessionId },
    recheck,
  });
}

/** The stream of a decision that was not the last of its batch. */
function stillWaiting(): { log: EventLog; turnId: string } {
  const log = new EventLog();
  const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0, llm_calls: 0 };
  log.append({ type: "turn_end", finishReason: "approval", usage });
  return { log, turnId: crypto.randomUUID() };
}

/** Seed 001's flat route: the project stands in the body. */
export function flatStreamRoute(deps: ChatDeps): Route {
  return {
    method: "post",
    path: "/v3/chat/stream",
    id: "startTurnFlat",
    tag: "chat",
    summary: "Send a message; the project stands in the body",
    body: chatRequestSchema.extend({ project_id: deps.projectIdSchema }),
    answers: STARTED,
    handle: async (c) => {
      deps.requireCredential(c);
      const { project_id, ...request } = await readBody(
        c,
        chatRequestSchema.extend({ project_id: deps.projectIdSchema }),
      );
      return startTurn(c, deps, await deps.visit(c, project_id), request);
    },
  };
}

/** The position that an event id names in this turn; an id of another turn, none, or one beyond its log, is its start. */
function positionIn({ turnId, log }: { turnId: string; log: EventLog }, eventId: string | undefined): number {
  const match = /^(.+):(\d{1,15})$/.exec(eventId ?? "");
  const position = match && match[1] === turnId ? Number(match[2]) : 0;
  return position <= log.last ? position : 0;
}
