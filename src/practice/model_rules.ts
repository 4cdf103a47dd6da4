// What the Chat Completions API refuses about tool messages: every call answered once, right after it, and nothing else.
import type { ChatBodyMessage } from "./model_script.ts";

/** The reason for a 400, or null when the messages are in order. */
export function refusal(messages: ChatBodyMessage[]): string | null {
  let unanswered = new Set<string>();
  let known = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const where = `messages[${index}]`;
    if (message.role === "tool") {
      const id = message.tool_call_id ?? "";
      if (!known.has(id)) {
        return `${where}: a 'tool' message must answer a tool call of the assistant message before it`;
      }
      if (!unanswered.delete(id)) return `${where}: the tool call '${id}' already has an answer`;
      continue;
    }
    if (unanswered.size) return `${where}: tool calls without an answer: ${[...unanswered].join(", ")}`;
    known = new Set();
    unanswered = new Set();
    for (const call of message.tool_calls ?? []) {
      if (known.has(call.id)) return `${where}: two tool calls have the id '${call.id}'`;
      known.add(call.id);
      unanswered.add(call.id);
    }
  }
  return unanswered.size ? `the last assistant message has tool calls without an answer` : null;
}
