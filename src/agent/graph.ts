// The agent: llm_call → should_continue → tool_node → llm_call … → title_generator → end.
import { Runnable, type RunnableConfig } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { type BaseCheckpointSaver, END, START, StateGraph } from "@langchain/langgraph";
import { toolCallsOf } from "../models/tool_calls.ts";
import { llmCall } from "./llm_call.ts";
import { CopilotState, type State, type Update } from "./state.ts";
import { titleGenerator } from "./title_generator.ts";
import { toolNode } from "./tool_node.ts";
import type { TurnContext, TurnLookup } from "./turn_context.ts";

/**
 * A node or an edge of the graph as LangGraph runs it: nothing but the function. Plain functions get a tracer's run tree
 * and callback managers at every step, which nobody here listens to.
 */
class Step<Output> extends Runnable<State, Output> {
  lc_namespace = ["gns3_copilot"];

  constructor(
    private readonly turnOf: TurnLookup,
    private readonly run: (state: State, context: TurnContext) => Output | Promise<Output>,
    private readonly interrupts = false,
  ) {
    super();
  }

  override async invoke(state: State, config?: Partial<RunnableConfig>): Promise<Output> {
    const work = () => this.run(state, this.turnOf(String(config?.configurable?.thread_id)));
    // `interrupt` finds its graph through this context and no other way.
    return await (this.interrupts
      ? AsyncLocalStorageProviderSingleton.runWithConfig(config, work, false)
      : work());
  }
}

/** Compiles the graph, once for each project. A node ends on its own when its turn is stopped: it never throws for that. */
export function buildGraph(checkpointer: BaseCheckpointSaver, turnOf: TurnLookup) {
  const step = <Output>(run: (state: State, context: TurnContext) => Output | Promise<Output>) =>
    new Step(turnOf, run);
  const shouldContinue = (state: State, { turn, wantsTitle }: TurnContext) => {
    if (turn.error || turn.signal.aborted) return END;
    if (toolCallsOf(state.messages.at(-1)!).length > 0) return "tool_node";
    return state.conversation_title === null && wantsTitle() ? "title_generator" : END;
  };
  const afterTools = (_state: State, { turn }: TurnContext) =>
    turn.error || turn.signal.aborted ? END : "llm_call";

  return new StateGraph(CopilotState)
    .addNode("llm_call", step<Update>(llmCall))
    .addNode("tool_node", new Step<Update>(turnOf, toolNode, true))
    .addNode("title_generator", step<Update>(titleGenerator))
    .addEdge(START, "llm_call")
    .addConditionalEdges("llm_call", step(shouldContinue), ["tool_node", "title_generator", END])
    .addConditionalEdges("tool_node", step(afterTools), ["llm_call", END])
    .addEdge("title_generator", END)
    .compile({ checkpointer });
}

export type CopilotGraph = ReturnType<typeof buildGraph>;
