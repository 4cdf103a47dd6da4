// The lab as it is now, for the system prompt: taken anew before every model call.
import { errorText } from "../domain/error.ts";
import { joinSignals } from "../domain/signals.ts";
import { outlineOf, viewOf } from "../gns3/topology.ts";
import type { TurnContext } from "./turn_context.ts";

/** `info` is null when GNS3 could not be asked: an old picture would be worse than none. */
export interface TopologyInfo {
  info: string | null;
  outline?: string;
}

/** A model can do without it for a moment; a user should not wait for it for long. */
const LIMIT_MS = 5000;

/** Asks for the topology already, so that GNS3 answers while the turn is being started. Only where nothing changes it before. */
export function askAhead(context: TurnContext): void {
  context.topologyAhead = ask(context);
  // A turn that is stopped before its first model call never looks at it.
  context.topologyAhead.catch(() => {});
}

/** The topology for a model call: taken now, or ahead for the first one. Throws only the turn's own stop. */
export function topologyInfo(context: TurnContext): Promise<TopologyInfo> {
  const ahead = context.topologyAhead;
  context.topologyAhead = undefined;
  return ahead ?? ask(context);
}

/**
 * Asks GNS3. A sign-in that has run out is no end of the turn either, which may need nothing more of GNS3: the next tool
 * that does says so. Throws only the turn's own stop.
 */
async function ask(context: TurnContext): Promise<TopologyInfo> {
  const { turn, toolContext, log } = context;
  using limited = joinSignals([turn.signal], { ms: LIMIT_MS });
  try {
    const topology = await toolContext.gns3.topology(toolContext.project.project_id, limited.signal);
    const info = JSON.stringify(viewOf(topology));
    const names = topology.nodes.map((node) => `'${node.name}'`).join(", ");
    log.info(`✓ Topology injected: ${info.length} chars, nodes: [${names}]`);
    return { info, outline: JSON.stringify(outlineOf(topology)) };
  } catch (error) {
    if (turn.signal.aborted) throw error;
    log.warn("The topology could not be read.", { error: errorText(error) });
    return { info: null };
  }
}
