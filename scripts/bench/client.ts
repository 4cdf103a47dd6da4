// A client that only measures one request at a time: it notes when things came.

/** Times in milliseconds since the request was sent. */
export interface Reading {
  /** When the first text had come; NaN when none has. */
  first: number;
  total: number;
  bytes: number;
}

/** What the first text looks like in a model's own stream, and in a copilot's. */
export const MARKERS = { model: '"content":"word', chat: '"type":"content"', peer: '"type": "content"' };

/** Posts `body` and reads the answer to its end. Throws for an answer that is not 2xx. */
export async function timed(
  url: string,
  body: unknown,
  headers: Record<string, string>,
  marker: string,
): Promise<Reading> {
  const began = performance.now();
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  const reading: Reading = { first: NaN, total: 0, bytes: 0 };
  const decoder = new TextDecoder();
  let start = "";
  for await (const chunk of response.body!) {
    reading.bytes += chunk.length;
    if (!Number.isNaN(reading.first)) continue;
    start += decoder.decode(chunk, { stream: true });
    if (start.includes(marker)) reading.first = performance.now() - began;
    else start = start.slice(-100);
  }
  reading.total = performance.now() - began;
  return reading;
}

/** A whole request without a stream; `body` becomes JSON. Throws for an answer that is not 2xx. */
export async function ask<T = unknown>(
  url: string,
  token: string,
  { method = "GET", body }: { method?: string; body?: unknown } = {},
): Promise<{ ms: number; bytes: number; value: T }> {
  const began = performance.now();
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { "content-type": "application/json" } : {}) },
    body: body ? JSON.stringify(body) : undefined,
  });
  const text = await response.text();
  const ms = performance.now() - began;
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return { ms, bytes: text.length, value: (text ? JSON.parse(text) : undefined) as T };
}
