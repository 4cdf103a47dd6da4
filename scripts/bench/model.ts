// The bench's model, as a process of its own: an OpenAI-compatible endpoint on plain TCP that only plays what a tag in the
// user's message asks for. One clock for all paced answers and bytes that are made once, so that it is never the limit.
//
//   [[words=5000]]        that many words at once        [[args=20000]]  a tool call with that many bytes of arguments
//   [[words=200,ms=20]]   one word every 20 ms           [[wait=5]]      a call of the tool that waits 5 seconds
import { latin1, type Request, serveTcp } from "./tcp_server.ts";

const utf8 = new TextEncoder();
const TAG = /\[\[([a-z]+=\d+(?:,[a-z]+=\d+)*)\]\]/g;
/** As large as the pieces that a fast server writes. */
const BATCH = 16 * 1024;

const data = (choices: unknown, more: Record<string, unknown> = {}) =>
  `data: ${
    JSON.stringify({
      id: "chatcmpl-bench",
      object: "chat.completion.chunk",
      created: 1,
      model: "bench",
      choices,
      ...more,
    })
  }\n\n`;
const delta = (delta: Record<string, unknown>, finish: string | null = null) =>
  data([{ index: 0, delta, finish_reason: finish }]);
/** One HTTP chunk. */
const chunk = (text: string) => utf8.encode(`${utf8.encode(text).length.toString(16)}\r\n${text}\r\n`);

const HEAD = utf8.encode(
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n",
);
const BEGIN = delta({ role: "assistant", content: "" });
const WORD = delta({ content: "word " });
const WORD_CHUNK = chunk(WORD);
const last = new Map<string, string>();

function ending(words: number, finish = "stop"): Uint8Array {
  const usage = { prompt_tokens: 500, completion_tokens: words, total_tokens: 500 + words };
  return utf8.encode(
    `${
      new TextDecoder().decode(chunk(delta({}, finish) + data([], { usage }) + "data: [DONE]\n\n"))
    }0\r\n\r\n`,
  );
}

/** Paced answers wait in the slot of their next word, so that they stay as they began: spread over time. */
const SLOTS = 1024;
const wheel: (() => void)[][] = Array.from({ length: SLOTS }, () => []);
/** The slot that is next to be looked at, in milliseconds of the clock. */
let hand = 0;
let waiting = 0;
let ticking = false;

function tick(): void {
  const now = Math.floor(performance.now());
  while (hand <= now) {
    const slot = hand++ % SLOTS;
    const due = wheel[slot]!;
    if (!due.length) continue;
    wheel[slot] = [];
    waiting -= due.length;
    for (const act of due) act();
  }
  ticking = waiting > 0;
  if (ticking) setTimeout(tick, 1);
}

/** Calls `act` when the clock shows `time`, at most a second from now. */
function at(time: number, act: () => void): void {
  if (!ticking && waiting === 0) hand = Math.floor(performance.now());
  waiting++;
  wheel[Math.max(hand, Math.floor(time)) % SLOTS]!.push(act);
  if (ticking) return;
  ticking = true;
  setTimeout(tick, 1);
}

/** By the clock of the first word: a late one does not delay the others. */
function paced(words: number, ms: number, write: (bytes: Uint8Array) => void): Promise<void> {
  const began = performance.now();
  return new Promise((resolve) => {
    let sent = 0;
    const next = () => {
      write(WORD_CHUNK);
      if (++sent === words) resolve();
      else at(began + (sent + 1) * ms, next);
    };
    at(began + ms, next);
  });
}

function fast(words: number, write: (bytes: Uint8Array) => void): void {
  const perBatch = Math.max(1, Math.floor(BATCH / WORD.length));
  for (let sent = 0; sent < words; sent += perBatch) {
    write(chunk(WORD.repeat(Math.min(perBatch, words - sent))));
  }
}

/** `wait_seconds` is a tool that both we and the peer have; the peer's takes its arguments as one text. */
function toolCall(body: string, args: Record<string, unknown>, write: (bytes: Uint8Array) => void): void {
  const text = JSON.stringify(
    body.includes('"tool_input"') ? { tool_input: JSON.stringify(args) } : args,
  );
  const call = (fields: Record<string, unknown>) => delta({ tool_calls: [{ index: 0, ...fields }] });
  const id = `call_${crypto.randomUUID()}`;
  let out = call({ id, type: "function", function: { name: "wait_seconds", arguments: "" } });
  // About a token each, as models send them.
  for (let from = 0; from < text.length; from += 5) {
    out += call({ function: { arguments: text.slice(from, from + 5) } });
    if (out.length < BATCH) continue;
    write(chunk(out));
    out = "";
  }
  if (out) write(chunk(out));
}

async function answer({ body }: Request, write: (bytes: Uint8Array) => void): Promise<void> {
  const found = [...body.matchAll(TAG)].at(-1);
  const asked = new Map((found?.[1] ?? "").split(",").map((part) => part.split("=") as [string, string]));
  const number = (name: string) => Number(asked.get(name) ?? 0);
  const isTitle = !/"tools"\s*:/.test(body);
  const isResult = found !== undefined && /"role"\s*:\s*"tool"/.test(body.slice(found.index));
  if (found && !isTitle) last.set(found[1]!, body);
  write(HEAD);
  write(chunk(BEGIN));
  const plain = isTitle || isResult || !found;
  const words = plain ? 3 : number("words");
  if (!plain && asked.has("args")) toolCall(body, { seconds: 0, note: "x".repeat(number("args")) }, write);
  else if (!plain && asked.has("wait")) toolCall(body, { seconds: number("wait") }, write);
  else if (!plain && number("ms")) await paced(words, number("ms"), write);
  else fast(words, write);
  write(ending(words, plain || words ? "stop" : "tool_calls"));
}

const url = serveTcp(Number(Deno.args[0] ?? 0), async (request, write) => {
  if (request.method === "POST") return await answer(request, write);
  // The bench reads the very request that a server made, to send the same one itself.
  const tag = decodeURIComponent(request.path.split("?tag=")[1] ?? "");
  const text = last.get(tag) ?? "null";
  write(latin1.encode(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  ));
});
console.log(JSON.stringify({ model: `${url}/v1`, control: `${url}/last` }));
