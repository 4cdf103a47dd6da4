// What the storage tests share: project folders that vanish afterwards, messages, and turns as the agent makes them.
import { Annotation, END, messagesStateReducer, START, StateGraph } from "@langchain/langgraph";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { join } from "node:path";
import type { TurnRecord } from "../../src/domain/session.ts";
import type { SqliteSaver } from "../../src/storage/checkpoints.ts";

/** A projects directory with one project folder in it. */
export interface Folders {
  projects: string;
  project: string;
  /** Where the project's database is or will be. */
  file: string;
}

/** Runs `work` with fresh folders and removes them afterwards. */
export async function withProject(work: (folders: Folders) => unknown): Promise<void> {
  const base = Deno.realPathSync(Deno.makeTempDirSync());
  const projects = join(base, "projects");
  const project = join(projects, "p1");
  Deno.mkdirSync(project, { recursive: true });
  try {
    await work({ projects, project, file: join(project, "gns3-copilot", "copilot_checkpoints.db") });
  } finally {
    Deno.removeSync(base, { recursive: true });
  }
}

/** The names in a folder, sorted. */
export function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();
}

let count = 0;

/** An id that no other message of the test run has. */
export function newId(): string {
  return `m-${++count}`;
}

const created = { created_at: "2026-03-01T10:00:00.000Z" };

export function user(content: string, id = newId()): HumanMessage {
  return new HumanMessage({ id, content, additional_kwargs: created });
}

export function answer(content: string, id = newId()): AIMessage {
  return new AIMessage({ id, content, additional_kwargs: created });
}

const State = Annotation.Root({
  messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
  llm_calls: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
  conversation_title: Annotation<string>(),
});

/** A graph of the agent's shape: question, a tool call, its result of `toolText`, an answer, a title. */
export function chatGraph(saver: SqliteSaver, toolText = "interface up") {
  return new StateGraph(State)
    .addNode("llm_call", ({ messages }) => {
      if (messages.at(-1)!.type === "tool") return { llm_calls: 1, messages: [answer("It is up.")] };
      const call = { id: `call-${messages.length}`, name: "show", args: { node: "R1" } };
      return { llm_calls: 1, messages: [new AIMessage({ id: newId(), content: "", tool_calls: [call] })] };
    })
    .addNode("tool_node", ({ messages }) => {
      const [call] = (messages.at(-1) as AIMessage).tool_calls!;
      return { messages: [new ToolMessage({ id: newId(), content: toolText, tool_call_id: call!.id! })] };
    })
    .addNode("title_generator", () => ({ conversation_title: "Interfaces" }))
    .addEdge(START, "llm_call")
    .addConditionalEdges(
      "llm_call",
      ({ messages }) => (messages.at(-1) as AIMessage).tool_calls?.length ? "tool_node" : "title_generator",
      ["tool_node", "title_generator"],
    )
    .addEdge("tool_node", "llm_call")
    .addEdge("title_generator", END)
    .compile({ checkpointer: saver });
}

/** Runs `turns` turns in a thread, each pruned at its end as the agent does. */
export async function runTurns(
  saver: SqliteSaver,
  threadId: string,
  turns: number,
  toolText?: string,
): Promise<void> {
  const graph = chatGraph(saver, toolText);
  for (let i = 0; i < turns; i++) {
    await graph.invoke({ messages: [user(`Is R1 up? (${i})`)] }, configOf(threadId));
    saver.prune(threadId);
  }
}

/** A thread's address without a checkpoint: its newest one. */
export function configOf(threadId: string, checkpointId?: string) {
  return { configurable: { thread_id: threadId, checkpoint_ns: "", checkpoint_id: checkpointId } };
}

/** A turn that ended well, made one call and changed nothing else; `parts` are put over that. */
export function turnRecord(parts: Partial<TurnRecord> = {}): TurnRecord {
  return {
    turnId: "turn-1",
    messages: 2,
    llmCalls: 1,
    inputTokens: 100,
    outputTokens: 10,
    billedInputTokens: 100,
    billedOutputTokens: 10,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    toolCalls: 0,
    estimated: false,
    finishReason: "stop",
    lastSeq: 7,
    endedAt: new Date("2026-03-01T10:00:00.000Z"),
    ...parts,
  };
}

/** Whether an error is an `AppError` with this code and a message like this that names no path of the machine. */
export function refusal(code: string, message: RegExp): (error: unknown) => boolean {
  return (error) => {
    const { code: actual, message: text } = error as { code?: string; message: string };
    return actual === code && message.test(text) && !text.includes("/tmp");
  };
}
