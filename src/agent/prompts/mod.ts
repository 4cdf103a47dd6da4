// The system prompts: one for each mode, and the one for titles. Text imports, so that they are part of the executable.
import type { CopilotMode } from "../../domain/model_config.ts";
import common from "./common.md" with { type: "text" };
import lab from "./lab_automation_assistant.md" with { type: "text" };
import teaching from "./teaching_assistant.md" with { type: "text" };
import title from "./title.md" with { type: "text" };
import topology from "./topology.md" with { type: "text" };
import injection from "./troubleshooting_injection.md" with { type: "text" };

const PROMPTS = {
  common,
  teaching_assistant: teaching,
  lab_automation_assistant: lab,
  troubleshooting_injection: injection,
  topology,
  title,
};

/** The names under which the skills folder may have prompts of its own. */
export const PROMPT_NAMES: readonly string[] = Object.keys(PROMPTS);

/** Prompts by name that take the place of ours. */
export type PromptOverrides = ReadonlyMap<string, string>;

/** Added to the teaching prompt where the server lets it build; it corrects what that prompt says of tools. */
const BUILDS =
  "On this server you may also set the lab up when the student asks for it: create nodes, links and drawings, start nodes, and rename them. Devices you still do not configure: that is the student's exercise.";

const TOPOLOGY = "{{topology_info}}";

/** The system prompt of a mode, with `{{topology_info}}` still in it. */
export function systemPrompt(
  mode: CopilotMode,
  overrides: PromptOverrides = new Map(),
  teachingCanBuild = false,
): string {
  const of = (name: keyof typeof PROMPTS) => (overrides.get(name) ?? PROMPTS[name]).trim();
  const builds = teachingCanBuild && mode === "teaching_assistant" ? `\n\n${BUILDS}` : "";
  const said = `${of("common")}\n\n${of(mode)}${builds}`;
  // A whole prompt from elsewhere may have a place for the topology already.
  return said.includes(TOPOLOGY) ? said : `${said}\n\n${withTopology(of("topology"))}`;
}

/** Without its place for the topology a prompt would leave the assistant blind. */
function withTopology(text: string): string {
  return text.includes(TOPOLOGY) ? text : `${text}\n${TOPOLOGY}`;
}

/** What the model is told when it is to title a conversation. */
export function titlePrompt(overrides: PromptOverrides = new Map()): string {
  return (overrides.get("title") ?? title).trim();
}

/** What `/inject` says for a user who said nothing. */
export const INJECTION_REQUEST = "Inject a fault into this lab for me to find.";

/** Added when a turn has used up its steps: the agent has to answer with what it has. */
export const SUM_UP =
  "You have used all the steps of this turn. Do not call any tool now. Tell the user in a few sentences what you did, what you found, and what is still open; they can send another message to go on.";

/** Added when the same call failed again and again. */
export const GOING_IN_CIRCLES =
  "The same tool call has failed three times. Do not call any tool now. Tell the user what you tried, what the tool answered, and what they can do about it.";

/** What the user reads when the agent was to sum up and said nothing. */
export function limitText(steps: number): string {
  return `I stopped here: a turn has at most ${steps} steps, and this one used them up. What I did is listed above; send another message and I go on from there.`;
}
