// A client that only measures: reads a stream, ours or the model's own, and notes when things came.

/** Times in milliseconds since the request was sent. */
export interface Reading {
  first: number;
  total: number;
  /** Between two reads. */
  gaps: number[];
  bytes: number;
}

const JSON_TYPE = { "content-type": "application/json" };

/** Sends `body` and reads the answer to its end; `first` is when the bytes of the first text had come. */
async function timed(
  url: string,
  body: unknown,
  headers: Record<string, string>,
  isText: (chunk: string) => boolean,
): Promise<Reading> {
  const began = performance.now();
  const response = await fetch(url, {
    method: "POST",
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  const reading: Reading = { first: NaN, total: 0, gaps: [], bytes: 0 };
  const decoder = new TextDecoder();
  let last = performance.now();
  for await (const chunk of response.body!) {
    const now = performance.now();
    reading.gaps.push(now - last);
    last = now;
    reading.bytes += chunk.length;
    if (Number.isNaN(reading.first) && isText(decoder.decode(chunk, { stream: true }))) {
      reading.first = now - began;
    }
  }
  reading.total = performance.now() - began;
  return reading;
}

/** Asks the model itself, with the very request that our server would make. */
export function direct(model: string, request: unknown): Promise<Reading> {
  return timed(`${model}/chat/completions`, request, {}, (chunk) => /"content":"[^"]/.test(chunk));
}

/** Sends a message to our server. */
export function ours(chat: string, token: string, message: string, sessionId?: string): Promise<Reading> {
  const body = { message, ...(sessionId ? { session_id: sessionId } : {}) };
  return timed(
    `${chat}/stream`,
    body,
    { authorization: `Bearer ${token}` },
    (chunk) => chunk.includes('"type":"content"'),
  );
}

export async function get(url: string, token: string): Promise<{ ms: number; bytes: number }> {
  const began = performance.now();
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return { ms: performance.now() - began, bytes: text.length };
}
