// A conversation as a Markdown document.
import type { ChatMessage, ConversationHistory } from "../domain/session.ts";

const SPEAKER: Record<ChatMessage["role"], string> = {
  user: "You",
  assistant: "Assistant",
  system: "System",
  tool: "Result",
};

/** The whole conversation; tool calls and results stand in code blocks. */
export function markdownOf(history: ConversationHistory): string {
  const parts = [`# ${history.title.replace(/\s+/g, " ")}`, `Started ${history.created_at}.`];
  for (const message of history.messages) {
    parts.push(
      `## ${SPEAKER[message.role]}${message.name ? ` of ${message.name}` : ""} · ${message.created_at}`,
    );
    if (message.role === "tool") parts.push(fenced(pretty(message.content), "json"));
    else if (message.content) parts.push(message.content);
    for (const call of message.tool_calls ?? []) {
      parts.push(`Calls \`${call.function.name}\`:`, fenced(pretty(call.function.arguments), "json"));
    }
  }
  return parts.join("\n\n") + "\n";
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The fence is longer than any run of backticks inside, so that nothing in the text can end it. */
function fenced(text: string, language: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
