// Which headers a proxy passes on, and which it adds (RFC 9110, section 7.6).

/** Headers that mean one connection only; what `Connection` names is added to them. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  // Answered by this server itself before it reads a body.
  "expect",
];

/** Where a request came from. */
export interface Origin {
  /** The client's address, as this server sees it. */
  address: string;
  /** `http` or `https`, as the client called this server. */
  protocol: string;
  host: string;
}

/** The headers of a request for GNS3: the client's own, and where it came from. `Host` stays as the client sent it. */
export function requestHeaders(
  headers: Headers,
  { address, protocol, host }: Origin,
): Record<string, string> {
  const passed: Record<string, string> = {};
  const left = endToEnd(headers.get("connection"));
  headers.forEach((value, name) => {
    if (left(name)) passed[name] = value;
  });
  const before = headers.get("x-forwarded-for");
  return {
    ...passed,
    host,
    "x-forwarded-for": before ? `${before}, ${address}` : address,
    // A proxy in front of this one knows better how the client called.
    "x-forwarded-proto": headers.get("x-forwarded-proto") ?? protocol,
    "x-forwarded-host": headers.get("x-forwarded-host") ?? host,
  };
}

/** GNS3's headers for the client; `raw` is name, value, name, value, … as they came, repeated ones included. */
export function responseHeaders(raw: readonly string[]): Headers {
  const headers = new Headers();
  const pairs = raw.flatMap((name, i) => i % 2 ? [] : [[name.toLowerCase(), raw[i + 1] ?? ""] as const]);
  const left = endToEnd(pairs.find(([name]) => name === "connection")?.[1] ?? null);
  for (const [name, value] of pairs) if (left(name)) headers.append(name, value);
  return headers;
}

function endToEnd(connection: string | null): (name: string) => boolean {
  const named = (connection ?? "").toLowerCase().split(",").map((name) => name.trim());
  const ends = new Set([...HOP_BY_HOP, ...named]);
  return (name) => !ends.has(name);
}
