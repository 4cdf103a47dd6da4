// The node that asks the model: fits the context, streams the answer into the turn's log, returns it as one message.
import { AppError, errorText } from "../domain/error.ts";
import { inTurn } from "../domain/in_turn.ts";
import type { ModelConfig } from "../domain/model_config.ts";
import { ModelError } from "../models/model_error.ts";
import { modelFailure } from "../models/failures.ts";
import { streamModel } from "../models/stream.ts";
import { Answer, usedIds } from "./answer.ts";
import { fitContext, type FittedContext, windowWarning } from "./context_window.ts";
import { GOING_IN_CIRCLES, limitText, SUM_UP } from "./prompts/mod.ts";
import type { State, Update } from "./state.ts";
import { countToolTokens, warmUp } from "./tokens.ts";
import { topologyInfo } from "./topology_info.ts";
import type { TurnContext } from "./turn_context.ts";

/**
 * One model call. A stop or a failure of the model ends the node normally, with what was said so far: the graph then
 * saves it like any other step. At the last step, or when the agent goes in circles, its tools are taken away.
 */
export async function llmCall(state: State, context: TurnContext): Promise<Update> {
  const { turn } = context;
  const last = state.remaining_steps <= 1 || turn.goingInCircles;
  const update: Update = { llm_calls: state.llm_calls + 1, remaining_steps: state.remaining_steps - 1 };
  const answer = new Answer({
    turn,
    newId: context.newId,
    isUsed: usedIds(state.messages),
    toolNames: last ? null : new Set(context.tools.map((tool) => tool.name)),
  });
  let fitted: FittedContext | undefined;
  let answered = false;
  try {
    const [topology] = await Promise.all([topologyInfo(context), warmUp()]);
    update.topology_info = topology.info;
    await inTurn("further");
    fitted = fit(state, context, topology, last);
    await stream(answer, fitted, context, { last, onFirstByte: () => answered = true });
    await inTurn("further");
    answer.end(true);
    noteCut(answer, context, fitted);
  } catch (error) {
    answer.end(false);
    if (!turn.signal.aborted && !(last && isEmpty(error))) turn.fail(failureOf(error, context, fitted));
  }
  // Who refused the call, or was never reached, has read nothing of it; of a stopped one nobody knows.
  if (fitted && (answered || turn.signal.aborted)) tryToAccount(answer, fitted, context);
  if (last && !turn.error && !turn.signal.aborted) {
    turn.limitReached = true;
    // Some models only know how to call tools: the user still gets a sentence.
    if (!answer.any) answer.say(limitText(context.limits.steps));
  }
  const messages = answer.messages(
    context.now().toISOString(),
    turn.signal.aborted || turn.error !== undefined,
  );
  context.log.info(`LLM call completed: tool_calls=${answer.calls.length}`);
  return { ...update, messages };
}

function fit(
  state: State,
  context: TurnContext,
  topology: { info: string | null; outline?: string },
  last: boolean,
): FittedContext {
  const { log, turn } = context;
  const note = !last ? "" : `\n\n${turn.goingInCircles ? GOING_IN_CIRCLES : SUM_UP}`;
  const fitted = fitContext({
    messages: state.messages,
    systemPrompt: context.systemPrompt + note,
    topology: topology.info,
    topologyOutline: topology.outline,
    toolsTokens: countToolTokens(context.toolSpecs),
    config: context.modelConfig,
  });
  for (const line of fitted.errors) log.error(line);
  for (const line of fitted.warnings) log.warn(line);
  log.info(fitted.info);
  log.info(`Messages prepared: ${state.messages.length} → ${fitted.messages.length}`);
  return fitted;
}

async function stream(
  answer: Answer,
  fitted: FittedContext,
  context: TurnContext,
  { last, onFirstByte }: { last: boolean; onFirstByte(): void },
): Promise<void> {
  const { turn, log } = context;
  turn.statistics.llmCalls++;
  await streamModel(context.model, fitted.messages, {
    signal: turn.signal,
    tools: context.toolSpecs,
    ...(last ? { toolChoice: "none" as const } : {}),
    silenceLimit: context.limits.modelTimeoutMs,
    onFirstByte,
    onRetry: (failure, wait) =>
      log.warn(`The model call failed (${failure.kind}); again in ${Math.round(wait)} ms.`),
  }, (batch) => answer.add(batch));
}

/** A last answer that the provider has cut is not told as a complete one. */
function noteCut({ calls, finishReason }: Answer, context: TurnContext, fitted: FittedContext): void {
  if (calls.length > 0) return;
  if (finishReason === "length") context.turn.limitReached = true;
  if (finishReason === "content_filter") {
    context.turn.fail(failureOf(new ModelError("filtered"), context, fitted));
  }
}

const warned = new WeakSet<ModelConfig>();

/** An answer is not lost because it could not be counted. */
function tryToAccount(answer: Answer, fitted: FittedContext, context: TurnContext): void {
  try {
    account(answer, fitted, context);
  } catch (error) {
    context.log.error("A model call could not be counted.", { error: errorText(error) });
  }
}

/** The provider's figures, or our own count where it gave none. */
function account(answer: Answer, fitted: FittedContext, { turn, log, modelConfig }: TurnContext): void {
  const { usage } = answer;
  turn.statistics.addCall(usage ?? { input: fitted.total, output: answer.count(), estimated: true });
  const warning = windowWarning(fitted.total, usage?.input, answer.finishReason);
  // Once for each configuration: it would stand in the log after every call.
  if (!warning || warned.has(modelConfig)) return;
  warned.add(modelConfig);
  log.warn(warning);
}

function failureOf(error: unknown, context: TurnContext, fitted: FittedContext | undefined) {
  const failure = modelFailure(error, context.modelConfig);
  if (failure.code === "internal" && !(error instanceof AppError)) {
    context.log.error("A model call failed unexpectedly.", { stack: (error as Error)?.stack });
  }
  const message = fitted?.advice ? `${failure.message} ${fitted.advice}` : failure.message;
  return { code: failure.code, message };
}

function isEmpty(error: unknown): boolean {
  return error instanceof ModelError && error.kind === "empty";
}
