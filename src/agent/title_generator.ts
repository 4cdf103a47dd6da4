// The node that names a session after its first answer. Its words are never part of the conversation.
import { type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { errorText } from "../domain/error.ts";
import { joinSignals } from "../domain/signals.ts";
import { askModel } from "../models/ask_model.ts";
import { contentText } from "../models/content_text.ts";
import type { State, Update } from "./state.ts";
import { titleText } from "./title_text.ts";
import { countMessage, countTokens } from "./tokens.ts";
import type { TurnContext } from "./turn_context.ts";

const EXCERPT = 2000;

/** Names the session. What goes wrong here is worth a line in the log: the answer is there already. */
export async function titleGenerator(state: State, context: TurnContext): Promise<Update> {
  try {
    return await makeTitle(state, context);
  } catch (error) {
    context.log.error("The title could not be set.", { error: errorText(error) });
    return {};
  }
}

/** Asks for a title within the time limit; a call that fails or is late is replaced by the user's first words. */
async function makeTitle(state: State, context: TurnContext): Promise<Update> {
  const { turn, log } = context;
  const question = contentText(state.messages.find((message) => message.getType() === "human")?.content);
  const reply = contentText(state.messages.findLast((message) => message.getType() === "ai")?.content);
  const asked = [
    new SystemMessage(context.titlePrompt),
    new HumanMessage(
      `The engineer:\n${question.slice(0, EXCERPT)}\n\nThe assistant:\n${reply.slice(0, EXCERPT)}`,
    ),
  ];
  using limited = joinSignals([turn.signal], { ms: context.limits.titleTimeoutMs });
  let text = "";
  turn.statistics.llmCalls++;
  try {
    const answer = await askModel(context.model, asked, {
      signal: limited.signal,
      silenceLimit: context.limits.titleTimeoutMs,
    });
    text = answer.text;
    const { usage } = answer;
    if (usage) turn.statistics.addCall(usage);
    // Where the provider reports the answers' usage, an estimate of this small call would only blur its figures.
    else if (!turn.statistics.reported) turn.statistics.addCall(estimate(asked, answer.text));
  } catch (error) {
    log.warn("The title could not be made by the model.", {
      error: limited.late ? "too late" : errorText(error),
    });
  }
  // A stopped turn leaves the title to the next one; a title the user has set meanwhile stays.
  if (turn.signal.aborted || !context.wantsTitle()) return {};
  const title = titleText(text, question);
  turn.title = title;
  turn.publish({ type: "title", title });
  return { conversation_title: title };
}

function estimate(asked: BaseMessage[], text: string) {
  const input = asked.reduce((sum, message) => sum + countMessage(message), 0);
  return { input, output: countTokens(text), estimated: true };
}
