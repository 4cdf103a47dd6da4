// The node that runs what the model asked for: all calls of a message, side by side; consoles keep the order of calls.
import type { BaseMessage } from "@langchain/core/messages";
import pLimit from "p-limit";
import { type ModelToolCall, toolCallsOf } from "../models/tool_calls.ts";
import { executeCall, prepareCall, type PreparedCall, type ToolAnswer } from "../tools/run.ts";
import type { Decision } from "../domain/approval.ts";
import { NOT_RUN } from "./answer.ts";
import { decided, decisionsFor, withEdit } from "./approvals.ts";
import { toolMessage } from "./messages.ts";
import type { State, Update } from "./state.ts";
import type { TurnContext } from "./turn_context.ts";

/** So many failures of the very same call, and the agent is told to stop and explain. */
const SAME_FAILURES = 3;

const STOPPED: ToolAnswer = { output: NOT_RUN, status: "error" };

/** Runs the calls of the last message. Every call gets exactly one result, in call order, whatever happens. */
export async function toolNode(state: State, context: TurnContext): Promise<Update> {
  const { toolContext, tools } = context;
  const calls = toolCallsOf(state.messages.at(-1)!);
  const prepared = calls.map((call) =>
    prepareCall({ name: call.name, arguments: call.argumentsText }, toolContext, { tools })
  );
  const decisions = decisionsFor(calls, prepared, context);
  const slot = pLimit(context.limits.parallelTools);
  const running = calls.map((call, i) => slot(() => runOne(call, prepared[i]!, decisions[call.id], context)));
  const messages = await Promise.all(running);
  return { messages };
}

async function runOne(
  call: ModelToolCall,
  prepared: PreparedCall,
  decision: Decision | undefined,
  context: TurnContext,
): Promise<BaseMessage> {
  const { turn, toolContext, log } = context;
  const stopped = turn.signal.aborted;
  let start = 0;
  let end = 0;
  let answer = STOPPED;
  if (!stopped) {
    turn.statistics.toolCalls++;
    start = turn.publish({ type: "tool_start", toolCallId: call.id, toolName: call.name });
    const ran = await executeCall(decided(prepared, decision, context), toolContext, {
      onFault: (error, tool) =>
        log.error(`${tool.name} failed.`, { stack: (error as Error)?.stack ?? String(error) }),
    });
    answer = withEdit(ran, decision);
    const { output, status } = answer;
    end = turn.publish({ type: "tool_end", toolCallId: call.id, toolName: call.name, output, status });
    noteFailure(call, answer, context);
  }
  const message = toolMessage(
    { callId: call.id, name: call.name, output: answer.output, status: answer.status },
    { id: context.newId(), createdAt: context.now().toISOString() },
  );
  if (stopped) message.additional_kwargs.not_started = true;
  else message.additional_kwargs.event_seq = { turn: turn.id, start, end };
  return message;
}

function noteFailure(call: ModelToolCall, answer: ToolAnswer, { turn }: TurnContext): void {
  if (answer.status === "success" || turn.signal.aborted) return;
  if (answer.code === "unauthorized") {
    turn.fail({
      code: "unauthorized",
      message: "GNS3 no longer accepts this sign-in: sign in again, then send a message to go on.",
    });
  }
  const key = `${call.name} ${call.argumentsText}`;
  const count = (turn.failures.get(key) ?? 0) + 1;
  turn.failures.set(key, count);
  if (count >= SAME_FAILURES) turn.goingInCircles = true;
}
