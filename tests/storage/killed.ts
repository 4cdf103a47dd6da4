// Started by `checkpoints_test.ts`: runs four turns, and in the fifth says that its tool runs and waits to be killed.
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Annotation, messagesStateReducer, START, StateGraph } from "@langchain/langgraph";
import { SqliteSaver } from "../../src/storage/checkpoints.ts";
import { openProjectDatabase } from "../../src/storage/database.ts";
import { configOf, newId, runTurns, user } from "./helpers.ts";

const [project, projects] = Deno.args;
const saver = new SqliteSaver(openProjectDatabase(project!, projects!));
await runTurns(saver, "t1", 4);

const State = Annotation.Root({
  messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
});
const graph = new StateGraph(State)
  .addNode("llm_call", () => ({
    messages: [
      new AIMessage({ id: newId(), content: "", tool_calls: [{ id: "c", name: "show", args: {} }] }),
    ],
  }))
  .addNode("tool_node", async () => {
    // The checkpoint before this node is saved while it runs.
    await new Promise((resolve) => setTimeout(resolve, 50));
    console.log("in the tool");
    await new Promise((resolve) => setTimeout(resolve, 60_000));
    return {};
  })
  .addEdge(START, "llm_call").addEdge("llm_call", "tool_node").compile({ checkpointer: saver });
await graph.invoke({ messages: [user("last question")] }, configOf("t1"));
