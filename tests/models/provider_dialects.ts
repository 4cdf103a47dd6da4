// How a dozen and more providers stream the same conversation, each with its habits and demands: one tool call, then an
// answer. Written from their documentation and public reports; none of it was recorded from an account.
import { type Answer, chunk, type SeenRequest, sse } from "./fake_endpoint.ts";

const TOOL = "get_gns3_templates";
const USAGE = { prompt_tokens: 900, completion_tokens: 12, total_tokens: 912 };

export interface Dialect {
  name: string;
  model: string;
  /** The call, as chunks. */
  call: unknown[];
  /** The answer "All good.", as chunks. */
  answer?: unknown[];
  /** Why the provider refuses a request, if it does. */
  // deno-lint-ignore no-explicit-any -- tests look into any field of the body
  refuses?(body: any): string | undefined;
  status?: number;
  /** In front of the stream's first event. */
  prelude?: string;
  noUsage?: boolean;
}

const fn = (name?: string, args?: string) => ({
  ...(name === undefined ? {} : { name }),
  ...(args === undefined ? {} : { arguments: args }),
});
const calls = (...list: unknown[]) => chunk({ tool_calls: list });
const END = chunk({}, "tool_calls");
const ROLE = chunk({ role: "assistant", content: null });
const fragments = [
  calls({ index: 0, id: "call_1", type: "function", function: fn(TOOL, "") }),
  calls({ index: 0, function: fn(undefined, "{") }),
  calls({ index: 0, function: fn(undefined, "}") }),
];
const whole = calls({ index: 0, id: "call_1", type: "function", function: fn(TOOL, "{}") });
// deno-lint-ignore no-explicit-any -- as above
type Body = any;
const assistant = (body: Body) => body.messages.findLast((message: Body) => message.role === "assistant");

export const DIALECTS: readonly Dialect[] = [
  { name: "OpenAI", model: "gpt-4o-mini", call: [ROLE, ...fragments, END] },
  {
    name: "OpenAI, reasoning model",
    model: "o4-mini",
    call: [ROLE, ...fragments, END],
    refuses: (body) =>
      "temperature" in body
        ? "Unsupported parameter: 'temperature'"
        : "max_tokens" in body
        ? "Use max_completion_tokens"
        : undefined,
  },
  {
    name: "Azure OpenAI",
    model: "gpt-4o",
    call: [{ choices: [], prompt_filter_results: [{ prompt_index: 0 }] }, ROLE, ...fragments, END],
  },
  {
    name: "DeepSeek, thinking",
    model: "deepseek-reasoner",
    call: [
      chunk({ role: "assistant", content: null, reasoning_content: "I should look " }),
      chunk({ reasoning_content: "first." }),
      ...fragments,
      END,
    ],
    // Only within a turn: what came before the last question may do without.
    refuses: (body) =>
      body.messages.at(-1).role === "tool" && !assistant(body).reasoning_content
        ? "Missing `reasoning_content` field in the assistant message"
        : undefined,
  },
  {
    name: "Ollama",
    model: "qwen3:14b",
    call: [
      chunk({
        role: "assistant",
        content: "",
        tool_calls: [{ index: 0, id: "call_1", type: "function", function: fn(TOOL, "{}") }],
      }),
      chunk({ role: "assistant", content: "" }, "stop"),
    ],
    noUsage: true,
  },
  {
    name: "vLLM",
    model: "mistralai/Devstral-Small",
    call: [
      chunk({ role: "assistant", content: "" }),
      ...fragments.map((one) => ({ ...one, usage: null })),
      chunk({ content: "" }, "tool_calls"),
    ],
  },
  {
    name: "LM Studio",
    model: "local-model",
    call: [ROLE, ...fragments, END],
    refuses: (body) =>
      assistant(body)?.content === null ? "'messages' content field must be a string, got null" : undefined,
  },
  {
    name: "OpenRouter",
    model: "openai/gpt-4o-mini",
    prelude: ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n",
    call: [
      chunk({ role: "assistant", content: "", reasoning: "hm", reasoning_details: [] }),
      ...fragments,
      END,
    ],
    refuses: (body) =>
      body.model === "openai/gpt-4o-mini" ? undefined : `${body.model} is not a valid model ID`,
  },
  {
    name: "xAI",
    model: "grok-4",
    call: [
      chunk({ role: "assistant", content: "", reasoning_content: "…" }),
      whole,
      chunk({ content: "" }, "tool_calls"),
    ],
  },
  {
    name: "Groq",
    model: "llama-3.3-70b-versatile",
    call: [{ ...ROLE, x_groq: { id: "req_1" } }, whole, { ...END, x_groq: { usage: USAGE } }],
    noUsage: true,
  },
  {
    name: "Mistral",
    model: "mistral-large-latest",
    call: [
      chunk({ role: "assistant", content: "" }),
      chunk(
        { content: "", tool_calls: [{ index: 0, id: "D681PevKs", function: fn(TOOL, "{}") }] },
        "tool_calls",
      ),
    ],
    answer: [
      chunk({ role: "assistant", content: [{ type: "text", text: "All " }] }),
      chunk({ content: [{ type: "text", text: "good." }] }),
      chunk({ content: "" }, "stop"),
    ],
    refuses: (body) =>
      body.stream_options
        ? '{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}'
        : undefined,
    status: 422,
  },
  {
    name: "Qwen (DashScope)",
    model: "qwen-plus",
    call: [
      chunk({ role: "assistant", content: null }),
      calls({ index: 0, id: "call_1", type: "function", function: fn(TOOL, "") }),
      calls({ index: 0, id: "", type: "function", function: { name: null, arguments: "{" } }),
      calls({ index: 0, id: "", type: "function", function: { name: "", arguments: "}" } }),
      END,
    ],
  },
  {
    name: "Moonshot",
    model: "kimi-k2",
    call: [ROLE, ...fragments, {
      choices: [{ index: 0, delta: {}, finish_reason: "tool_calls", usage: USAGE }],
    }],
  },
  {
    name: "Zhipu GLM",
    model: "glm-4.6",
    call: [
      chunk({ role: "assistant", content: "\n" }),
      chunk({
        role: "assistant",
        tool_calls: [{ index: 0, id: "call_1", type: "function", function: fn(TOOL, "{}") }],
      }),
      END,
    ],
  },
  {
    name: "Gemini, compatible endpoint",
    model: "gemini-3-pro",
    call: [
      chunk({
        role: "assistant",
        tool_calls: [{
          id: "",
          type: "function",
          function: fn(TOOL, "{}"),
          extra_content: { google: { thought_signature: "c2ln" } },
        }],
      }),
      chunk({ role: "assistant" }, "stop"),
    ],
    refuses: (body) =>
      assistant(body)?.tool_calls?.some((call: Body) =>
          call.extra_content?.google?.thought_signature !== "c2ln"
        )
        ? "Function call is missing a thought_signature"
        : undefined,
  },
  {
    name: "llama.cpp, no ids",
    model: "gguf",
    call: [
      ROLE,
      calls({ index: 0, function: fn(TOOL) }),
      calls({ index: 0, function: fn(undefined, "{}") }),
      END,
    ],
    noUsage: true,
  },
  {
    name: "Gemma template, no system role, strict turns",
    model: "gemma-3",
    call: [ROLE, whole, END],
    refuses: (body) =>
      body.messages.some((message: Body) => message.role === "system")
        ? "System role not supported"
        : undefined,
  },
  {
    name: "calls written as text",
    model: "hermes-old",
    call: [
      chunk({ role: "assistant", content: "<tool_call>\n" }),
      chunk({ content: `{"name": "${TOOL}", "arguments": {}}` }),
      chunk({ content: "\n</tool_call>" }),
      chunk({}, "stop"),
    ],
  },
];

/** The provider's answer to a request: a refusal, the call, the answer, or a title. */
export function answerAs(dialect: Dialect, { body }: SeenRequest): Answer {
  const refusal = dialect.refuses?.(body);
  if (refusal) {
    return {
      status: dialect.status ?? 400,
      headers: { "content-type": "application/json" },
      body: refusal.startsWith("{")
        ? refusal
        : JSON.stringify({ error: { message: refusal, type: "invalid_request_error" } }),
    };
  }
  const said = (
    ...texts: string[]
  ) => [
    chunk({ role: "assistant", content: "" }),
    ...texts.map((content) => chunk({ content })),
    chunk({}, "stop"),
  ];
  const results = body.messages.filter((message: Body) => message.role === "tool");
  const chunks = !body.tools
    ? said("A title")
    : results.length
    ? dialect.answer ?? said("All ", "good.")
    : dialect.call;
  const usage = dialect.noUsage || !body.stream_options?.include_usage ? [] : [{ choices: [], usage: USAGE }];
  return { body: (dialect.prelude ?? "") + sse(...chunks, ...usage) };
}
