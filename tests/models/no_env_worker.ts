// Runs in a Worker without the right to read the environment: answers a configuration with the model's text.
import { HumanMessage } from "@langchain/core/messages";
import { askModel } from "../../src/models/ask_model.ts";
import { createChatModel } from "../../src/models/chat_model.ts";

const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent) => void;
  postMessage(value: unknown): void;
};

scope.onmessage = async ({ data }) => {
  try {
    const signal = new AbortController().signal;
    scope.postMessage((await askModel(createChatModel(data), [new HumanMessage("hi")], { signal })).text);
  } catch (error) {
    scope.postMessage(String(error));
  }
};
