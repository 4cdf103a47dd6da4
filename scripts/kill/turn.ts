// One turn as a client sees it, up to its end or to the moment the server dies.

export interface SeenTurn {
  sessionId: string;
  message: string;
  /** The text so far; all of it once `end` is set. */
  text: string;
  /** The type of the last event, "" before the first. */
  last: string;
  /** `stop` and the like when the client saw the turn's end. */
  end?: string;
}

export interface Client {
  /** The chat prefix of the project. */
  url: string;
  token: string;
}

/** Starts a turn; `seen` grows while it runs. `over` resolves when the stream is at its end, in whatever way. */
export function startTurn(
  client: Client,
  message: string,
  sessionId: string,
): { seen: SeenTurn; over: Promise<void> } {
  const seen: SeenTurn = { sessionId, message, text: "", last: "" };
  return { seen, over: follow(client, seen).catch(() => {}) };
}

/** Asks for JSON below the chat prefix. Throws with the answer when that is no success. */
// deno-lint-ignore no-explicit-any
export async function ask(client: Client, path: string): Promise<any> {
  const answer = await fetch(client.url + path, { headers: { authorization: `Bearer ${client.token}` } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

async function follow({ url, token }: Client, seen: SeenTurn): Promise<void> {
  const response = await fetch(`${url}/stream`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ message: seen.message, session_id: seen.sessionId }),
  });
  let rest = "";
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) if (line.startsWith("data: ")) note(seen, JSON.parse(line.slice(6)));
  }
}

function note(
  seen: SeenTurn,
  event: { type: string; content?: string; finish_reason?: string; error?: string },
): void {
  seen.last = event.type;
  if (event.type === "content") seen.text += event.content;
  if (event.type === "done") seen.end = event.finish_reason;
  if (event.type === "error") seen.end = `error: ${event.error}`;
}
