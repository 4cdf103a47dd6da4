// The system prompts: one for each mode, and the one for titles. Text imports, so that they are part of the executable.
import type { CopilotMode } from "../../domain/model_config.ts";
import common from "./common.md" with { type: "text" };
import lab from "./lab_automation_assistant.md" with { type: "text" };
import teaching from "./teaching_assistant.md" with { type: "text" };
import title from "./title.md" with { type: "text" };
import topology from "./topology.md" with { type: "text" };
import injection from "./troubleshooting_injection.md" with { type: "text" };

const ROLES: Record<CopilotMode, string> = {
  teaching_assistant: teaching,
  lab_automation_assistant: lab,
  troubleshooting_injection: injection,
};

/** The system prompt of a mode, with `{{topology_info}}` still in it. */
export function systemPrompt(mode: CopilotMode): string {
  return [common, ROLES[mode], topology].map((part) => part.trim()).join("\n\n");
}

export const TITLE_PROMPT = title.trim();

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
