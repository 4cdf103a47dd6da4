// The agent: llm_call → should_continue → tool_node → llm_call … → title_generator → end.
import type { RunnableConfig } from "@langchain/core/runnables";
import { type BaseCheckpointSaver, END, START, StateGraph } from "@langchain/langgraph";
import { toolCallsOf } from "../models/tool_calls.ts";
import { llmCall } from "./llm_call.ts";
import { CopilotState, type State, type Update } from "./state.ts";
import { titleGenerator } from "./title_generator.ts";
import { toolNode } from "./tool_node.ts";
import type { TurnContext, TurnLookup } from "./turn_context.ts";

/** Compiles the graph, once for each project. A node ends on its own when its turn is stopped: it never throws for that. */
export function buildGraph(checkpointer: BaseCheckpointSaver, turnOf: TurnLookup) {
  const node =
    (run: (state: State, context: TurnContext) => Promise<Update>) =>
    (state: State, config: RunnableConfig) => run(state, turnOf(String(config.configurable?.thread_id)));

  const shouldContinue = (state: State, config: RunnableConfig) => {
    const { turn, wantsTitle } = turnOf(String(config.configurable?.thread_id));
    if (turn.error || turn.signal.aborted) return END;
    if (toolCallsOf(state.messages.at(-1)!).length > 0) return "tool_node";
    return state.conversation_title === null && wantsTitle() ? "title_generator" : END;
  };
  const afterTools = (_state: State, config: RunnableConfig) => {
    const { turn } = turnOf(String(config.configurable?.thread_id));
    return turn.error || turn.signal.aborted ? END : "llm_call";
  };

  return new StateGraph(CopilotState)
    .addNode("llm_call", node(llmCall))
    .addNode("tool_node", node(toolNode))
    .addNode("title_generator", node(titleGenerator))
    .addEdge(START, "llm_call")
    .addConditionalEdges("llm_call", shouldContinue, ["tool_node", "title_generator", END])
    .addConditionalEdges("tool_node", afterTools, ["llm_call", END])
    .addEdge("title_generator", END)
    .compile({ checkpointer });
}

export type CopilotGraph = ReturnType<typeof buildGraph>;
