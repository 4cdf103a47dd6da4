// What a scripted answer of the practice model is made of, and helpers that build such answers for tests.

/** One thing that a scripted answer does. */
export type Action =
  /** A chunk with this delta; `finish` becomes its finish_reason. "@N@" in it becomes the request's number. */
  | { delta: Record<string, unknown>; finish?: string }
  /** A chunk with exactly these choices; for what a well-behaved server would not send. */
  | { choices: unknown }
  /** A chunk with only usage, when the request asked for it; `force` sends it anyway. */
  | { usage: Record<string, unknown>; force?: boolean }
  /** These bytes as they are, on the wire at once. */
  | { bytes: Uint8Array | string }
  /** That many short words, one chunk each, `ms` milliseconds apart by the clock, so that the pace does not drift. */
  | { words: number; ms?: number }
  /** Milliseconds of silence. */
  | { sleep: number }
  /** Silence until the client leaves. */
  | { hang: true }
  /** Cuts the TCP connection. */
  | { cut: true }
  /** An answer that is not a stream. */
  | { status: number; headers?: Record<string, string>; body?: string | Record<string, unknown> }
  /** Writes `data: [DONE]` now; without it, it comes at the end. */
  | { done: true }
  /** Ends without `data: [DONE]`. */
  | { noDone: true };

export type Step = Action[];

/** The request body as a chat completion has it, as far as anybody here looks at it. */
export interface ChatBody {
  model: string;
  messages: ChatBodyMessage[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  tools?: { type: "function"; function: { name: string; description?: string; parameters?: unknown } }[];
  tool_choice?: unknown;
  [field: string]: unknown;
}

export interface ChatBodyMessage {
  role: string;
  content?: string | { type?: string; text?: string }[] | null;
  tool_calls?: { id: string; type?: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  name?: string;
}

/** A tool call to be made; the id is invented unless given. */
export interface Call {
  name: string;
  /** An object, or the text of the arguments as it is. */
  args?: unknown;
  id?: string;
}

const USAGE = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };

/** The text of a message, whatever form its content has. */
export function contentOf(message: ChatBodyMessage | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}

/** Usage by its two numbers. */
export function usage(input: number, output: number): Action {
  return { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } };
}

/** A streamed answer, one chunk a piece. `ms` is the pause before each piece; `use` null sends no usage. */
export function text(
  pieces: string | string[],
  options: { finish?: string; ms?: number; use?: [number, number] | null } = {},
): Step {
  const step: Step = [{ delta: { role: "assistant", content: "" } }];
  for (const piece of typeof pieces === "string" ? [pieces] : pieces) {
    if (options.ms) step.push({ sleep: options.ms });
    step.push({ delta: { content: piece } });
  }
  step.push({ delta: {}, finish: options.finish ?? "stop" });
  return withUsage(step, options.use);
}

/** An answer of many words with a pause before each. */
export function slow(words: number, ms: number): Step {
  return withUsage([{ delta: { role: "assistant", content: "" } }, { words, ms }, {
    delta: {},
    finish: "stop",
  }], undefined);
}

function withUsage(step: Step, use: [number, number] | null | undefined): Step {
  if (use === null) return step;
  return [...step, use ? usage(...use) : { usage: USAGE }];
}

/** Cuts text into pieces of at most `size` characters; at least one. */
export function fragments(content: string, size: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < content.length; at += size) pieces.push(content.slice(at, at + size));
  return pieces.length ? pieces : [""];
}

let invented = 0;

/**
 * A streamed message with tool calls, in the fragments that an OpenAI-compatible server sends. `interleaved` mixes the
 * fragments of parallel calls; `omitIds` and `omitIndex` leave those fields out; `before` is text in front of the calls.
 */
export function toolCalls(
  calls: Call[],
  options: {
    order?: "sequential" | "interleaved";
    omitIds?: boolean;
    omitIndex?: boolean;
    fragment?: number;
    before?: string;
    ms?: number;
    finish?: string;
    use?: [number, number] | null;
  } = {},
): Step {
  const step: Step = [{ delta: { role: "assistant", content: null } }];
  if (options.before) step.push({ delta: { content: options.before } });
  const index = (i: number) => options.omitIndex ? {} : { index: i };
  const start = (i: number): Action => {
    const call = calls[i]!;
    const id = options.omitIds ? {} : { id: call.id ?? `call_${++invented}_@N@` };
    return {
      delta: {
        tool_calls: [{ ...index(i), ...id, type: "function", function: { name: call.name, arguments: "" } }],
      },
    };
  };
  const part = (i: number, piece: string): Action => ({
    delta: { tool_calls: [{ ...index(i), function: { arguments: piece } }] },
  });
  const pieces = calls.map(({ args }) =>
    fragments(typeof args === "string" ? args : JSON.stringify(args ?? {}), options.fragment ?? 7)
  );
  const put = (action: Action) => step.push(...(options.ms ? [{ sleep: options.ms }] : []), action);
  if (options.order === "interleaved") {
    calls.forEach((_, i) => step.push(start(i)));
    const longest = Math.max(...pieces.map((list) => list.length));
    for (let row = 0; row < longest; row++) {
      pieces.forEach((list, i) => list[row] !== undefined && put(part(i, list[row]!)));
    }
  } else {
    pieces.forEach((list, i) => {
      step.push(start(i));
      for (const piece of list) put(part(i, piece));
    });
  }
  step.push({ delta: {}, finish: options.finish ?? "tool_calls" });
  return withUsage(step, options.use);
}

/** An answer with a status and, unless given, OpenAI's error body. */
export function status(
  code: number,
  body?: string | Record<string, unknown>,
  headers?: Record<string, string>,
): Step {
  return [{
    status: code,
    body: body ?? { error: { message: `scripted error ${code}`, type: "error", code: null } },
    headers,
  }];
}
