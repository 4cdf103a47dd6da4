// A little Messages API, as Anthropic documents it: it streams what a test scripts, and refuses what the real one refuses.

export type Block =
  | { text: string[] }
  | { thinking: string[]; signature: string }
  | { redacted: string }
  | { call: string; id: string; input: string[] };

export interface Reply {
  blocks?: Block[];
  stop?: string;
  usage?: Record<string, unknown>;
  /** Refuses the request. */
  refuse?: { status: number; type: string; message: string; headers?: Record<string, string> };
  /** Ends the stream with an error after the blocks. */
  error?: { type: string; message: string };
  /** Ends the body after the blocks, without an end of the message. */
  cut?: boolean;
  /** Keeps the connection open after the end of the message. */
  lingers?: boolean;
}

export interface MessagesRequest {
  headers: Headers;
  // deno-lint-ignore no-explicit-any -- tests look into any field of the body
  body: any;
}

export interface MessagesApi extends AsyncDisposable {
  url: string;
  requests: MessagesRequest[];
}

type Json = Record<string, unknown>;
interface Turn {
  role: string;
  content: string | Json[];
}

const FIELDS = ["model", "max_tokens", "messages", "system", "tools", "tool_choice", "temperature", "stream"];
const ID = /^[a-zA-Z0-9_-]+$/;

/** Starts it; `reply` decides about each request that is as the API wants it. */
export function messagesApi(
  key: string,
  reply: (request: MessagesRequest, at: number) => Reply,
): MessagesApi {
  const requests: MessagesRequest[] = [];
  const thoughts = new Map<string, string>();
  const leaving = new AbortController();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const url = new URL(request.url);
    const text = await request.text();
    if (request.method !== "POST" || url.pathname !== "/v1/messages") {
      return refusal(404, "not_found_error", "Not found");
    }
    if (request.headers.get("x-api-key") !== key) {
      return refusal(401, "authentication_error", "invalid x-api-key");
    }
    if (!request.headers.get("anthropic-version")) {
      return refusal(400, "invalid_request_error", "anthropic-version: header is required");
    }
    const seen = { headers: request.headers, body: JSON.parse(text) };
    const wrong = fault(seen.body, thoughts);
    if (wrong) return refusal(400, "invalid_request_error", wrong);
    const given = reply(seen, requests.push(seen) - 1);
    if (given.refuse) {
      return refusal(given.refuse.status, given.refuse.type, given.refuse.message, given.refuse.headers);
    }
    return streamed(given, thoughts, leaving.signal);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await server.shutdown();
    },
  };
}

function refusal(
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ type: "error", error: { type, message }, request_id: "req_1" }, { status, headers });
}

function streamed(reply: Reply, thoughts: Map<string, string>, leaving: AbortSignal): Response {
  const events = eventsOf(reply, thoughts).map(({ type, ...data }) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
  );
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const event of events) controller.enqueue(new TextEncoder().encode(event));
      if (reply.lingers && !leaving.aborted) {
        await new Promise((resolve) => leaving.addEventListener("abort", resolve, { once: true }));
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

function eventsOf({ blocks = [], stop, usage, error, cut }: Reply, thoughts: Map<string, string>): Json[] {
  const counted = { input_tokens: 900, output_tokens: 1, ...usage };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [],
    stop_reason: null,
    usage: counted,
  };
  const events: Json[] = [{ type: "message_start", message }, { type: "ping" }];
  for (const [index, block] of blocks.entries()) {
    const [content_block, deltas] = parts(block, thoughts);
    events.push({ type: "content_block_start", index, content_block });
    for (const delta of deltas) events.push({ type: "content_block_delta", index, delta }, { type: "ping" });
    events.push({ type: "content_block_stop", index });
  }
  if (error) return [...events, { type: "error", error }];
  if (cut) return events;
  const stop_reason = stop ?? (blocks.some((block) => "call" in block) ? "tool_use" : "end_turn");
  return [
    ...events,
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 12 } },
    { type: "message_stop" },
  ];
}

function parts(block: Block, thoughts: Map<string, string>): [Json, Json[]] {
  if ("text" in block) {
    return [{ type: "text", text: "" }, block.text.map((text) => ({ type: "text_delta", text }))];
  }
  if ("redacted" in block) return [{ type: "redacted_thinking", data: block.redacted }, []];
  if ("call" in block) {
    const deltas = block.input.map((partial_json) => ({ type: "input_json_delta", partial_json }));
    return [{ type: "tool_use", id: block.id, name: block.call, input: {} }, deltas];
  }
  thoughts.set(block.signature, block.thinking.join(""));
  const deltas = block.thinking.map((thinking) => ({ type: "thinking_delta", thinking }));
  return [
    { type: "thinking", thinking: "", signature: "" },
    [...deltas, { type: "signature_delta", signature: block.signature }],
  ];
}

/** What the API finds wrong with a request. */
function fault(body: Json, thoughts: Map<string, string>): string | undefined {
  const extra = Object.keys(body).find((field) => !FIELDS.includes(field));
  if (extra) return `${extra}: Extra inputs are not permitted`;
  if (!Number.isInteger(body.max_tokens) || Number(body.max_tokens) < 1) return "max_tokens: Field required";
  if (typeof body.model !== "string") return "model: Field required";
  const temperature = Number(body.temperature ?? 1);
  if (!(temperature >= 0 && temperature <= 1)) return "temperature: range: 0..1";
  for (const tool of (body.tools ?? []) as Json[]) {
    if ((tool.input_schema as Json | undefined)?.type !== "object") {
      return "tools.0.input_schema.type: Field required";
    }
  }
  const turns = body.messages as Turn[];
  if (turns[0]?.role !== "user") return "messages: first message must use the user role";
  for (const [at, turn] of turns.entries()) {
    const wrong = turnFault(turn, at, turns, thoughts);
    if (wrong) return `messages.${at}: ${wrong}`;
  }
}

function turnFault(turn: Turn, at: number, turns: Turn[], thoughts: Map<string, string>): string | undefined {
  if (!["user", "assistant"].includes(turn.role)) return `role: ${turn.role}`;
  if (turns[at - 1]?.role === turn.role) return "roles must alternate";
  const blocks = blocksOf(turn);
  if (blocks.length === 0) return "content must not be empty";
  if (blocks.some(({ type, text }) => type === "text" && !String(text).trim())) {
    return "text content blocks must contain non-whitespace text";
  }
  for (const { type, thinking, signature } of blocks) {
    if (type === "thinking" && thoughts.get(String(signature)) !== thinking) {
      return "Invalid `signature` in `thinking` block";
    }
  }
  const ids = (list: Json[], type: string, id: string) =>
    list.filter((block) => block.type === type).map((block) => block[id]);
  const used = ids(blocks, "tool_use", "id");
  if (used.some((id) => !ID.test(String(id)))) return "tool_use.id: String should match pattern";
  const answered = at + 1 < turns.length ? ids(blocksOf(turns[at + 1]!), "tool_result", "tool_use_id") : [];
  if (used.some((id) => !answered.includes(id))) {
    return "`tool_use` ids were found without `tool_result` blocks";
  }
  const asked = at > 0 ? ids(blocksOf(turns[at - 1]!), "tool_use", "id") : [];
  const results = ids(blocks, "tool_result", "tool_use_id");
  if (results.some((id) => !asked.includes(id))) {
    return "unexpected `tool_use_id` found in `tool_result` blocks";
  }
  const first = blocks.findIndex(({ type }) => type !== "tool_result");
  if (first >= 0 && first < results.length) return "tool_result blocks must come first";
}

function blocksOf({ content }: Turn): Json[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
