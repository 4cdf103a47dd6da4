// What the graph's nodes need of the running turn. It lives beside the graph, not in its state: none of it is saved.
import type { ModelConfig } from "../domain/model_config.ts";
import type { ChatRequest } from "../domain/session.ts";
import type { Logger } from "../log.ts";
import type { ChatModel } from "../models/chat_model.ts";
import type { ToolSpec } from "../models/wire_messages.ts";
import type { Tool, ToolContext } from "../tools/tool.ts";
import type { TopologyInfo } from "./topology_info.ts";
import type { Turn } from "./turn.ts";

/** Times and counts that an administrator sets; milliseconds. */
export interface AgentLimits {
  modelTimeoutMs: number;
  titleTimeoutMs: number;
  /** Model calls in a turn, the last of which sums up. */
  steps: number;
  /** Tool calls that run at the same time. */
  parallelTools: number;
}

/** What of a request holds for a whole turn, also for one that goes on after an approval. */
export type TurnRequest = Pick<ChatRequest, "temperature" | "max_tokens" | "approvals">;

export interface TurnContext {
  turn: Turn;
  model: ChatModel;
  modelConfig: ModelConfig;
  systemPrompt: string;
  titlePrompt: string;
  tools: readonly Tool[];
  /** The same tools as the model sees them; one array for each set, so that its tokens are counted once. */
  toolSpecs: readonly ToolSpec[];
  toolContext: ToolContext;
  /** The topology for the turn's first model call, which was asked for when the turn started. */
  topologyAhead?: Promise<TopologyInfo>;
  limits: AgentLimits;
  /** The client can answer approval requests, so calls that change the lab wait for one. */
  approvals: boolean;
  /** Whether the session has no title yet but the first words of its first message. */
  wantsTitle(): boolean;
  log: Logger;
  newId(): string;
  now(): Date;
}

/** How a node finds its turn: by the only thing in LangGraph's configuration, the session's id. */
export type TurnLookup = (threadId: string) => TurnContext;
