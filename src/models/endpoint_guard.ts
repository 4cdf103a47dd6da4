// Which addresses a user's model configuration may make this server call: never those that only the server itself can
// reach and that give away secrets or rights, and only listed hosts when an administrator has listed some.
import { AppError } from "../domain/error.ts";
import type { Endpoint } from "./endpoint.ts";

export interface EndpointRules {
  /** Allowed hosts: `name`, `name:port` or `*.domain`; an empty list allows all. */
  hosts: readonly string[];
  /** Addresses of the GNS3 server and of this server. */
  own: readonly string[];
}

/** Names and addresses under which clouds hand out credentials to whoever asks from inside. */
const METADATA = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
  "100.100.100.200",
  "168.63.129.16",
  "fd00:ec2::254",
]);

/**
 * Throws `AppError` `forbidden` when an endpoint may not be called. Looks at the address as written: a name that
 * resolves to a forbidden address is not noticed.
 */
export function guardEndpoint(endpoint: Pick<Endpoint, "baseUrl">, rules: EndpointRules): void {
  const url = new URL(endpoint.baseUrl);
  const host = hostOf(url);
  if (METADATA.has(host) || /^169\.254\./.test(host) || /^fe[89ab][0-9a-f]:/.test(host)) {
    throw new AppError("forbidden", `base_url may not point at ${url.host}: that address is internal.`);
  }
  if (rules.own.some((own) => isSame(url, new URL(own)))) {
    throw new AppError("forbidden", "base_url may not point at the GNS3 server or at this server.");
  }
  if (rules.hosts.length > 0 && !rules.hosts.some((allowed) => matches(url, allowed.toLowerCase()))) {
    throw new AppError(
      "forbidden",
      `base_url may not point at ${url.host}: the administrator allows only ${rules.hosts.join(", ")}.`,
    );
  }
}

/** The host without brackets and final dot; an IPv4 address inside an IPv6 one as IPv4. */
function hostOf(url: URL): string {
  const host = url.hostname.toLowerCase().replace(/\.$/, "").replace(/^\[|\]$/g, "");
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host);
  if (!mapped) return host;
  const [high, low] = [parseInt(mapped[1]!, 16), parseInt(mapped[2]!, 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

function isSame(a: URL, b: URL): boolean {
  return portOf(a) === portOf(b) && localName(hostOf(a)) === localName(hostOf(b));
}

/** All names of the machine itself are one. */
function localName(host: string): string {
  return /^(127\.\d+\.\d+\.\d+|0\.0\.0\.0|::1?|localhost|.*\.localhost)$/.test(host) ? "localhost" : host;
}

function portOf(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}

function matches(url: URL, allowed: string): boolean {
  const host = hostOf(url);
  if (allowed.startsWith("*.")) return host.endsWith(allowed.slice(1));
  return host === allowed || `${host}:${portOf(url)}` === allowed || url.host === allowed;
}
