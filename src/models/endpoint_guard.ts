// Which addresses a user's model configuration may make this server call: never those that only the server itself can
// reach and that give away secrets or rights, and only listed hosts when an administrator has listed some.
import { AppError } from "../domain/error.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { isLoopback, plainAddress } from "./ip_address.ts";

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
  "192.0.0.192",
  "fd00:ec2::254",
]);

/**
 * Throws `AppError` `forbidden` when an endpoint may not be called. Looks at the address as written: what a name resolves
 * to is for `address_guard.ts`.
 */
export function guardEndpoint(endpoint: Pick<Endpoint, "baseUrl">, rules: EndpointRules): void {
  const url = new URL(endpoint.baseUrl);
  if (isInternal(hostOf(url))) throw internal(url);
  if (rules.own.some((own) => isSame(url, new URL(own)))) throw ourselves();
  if (rules.hosts.length > 0 && !rules.hosts.some((allowed) => matches(url, allowed.toLowerCase()))) {
    throw new AppError(
      "forbidden",
      `base_url may not point at ${url.host}: the administrator allows only ${rules.hosts.join(", ")}.`,
    );
  }
}

/** Whether a host is link-local or hands out a cloud's credentials. */
export function isInternal(host: string): boolean {
  return METADATA.has(host) || /^169\.254\./.test(host) || /^fe[89ab][0-9a-f]:/.test(host);
}

export function internal(url: URL): AppError {
  return new AppError("forbidden", `base_url may not point at ${url.host}: that address is internal.`);
}

export function ourselves(): AppError {
  return new AppError("forbidden", "base_url may not point at the GNS3 server or at this server.");
}

/** The host without brackets and final dot; an IPv4 address inside an IPv6 one as IPv4. */
export function hostOf(url: URL): string {
  return plainAddress(url.hostname.replace(/\.$/, ""));
}

/** The port, also where it is the scheme's own. */
export function portOf(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}

function isSame(a: URL, b: URL): boolean {
  return portOf(a) === portOf(b) && localName(hostOf(a)) === localName(hostOf(b));
}

/** All names of the machine itself are one. */
function localName(host: string): string {
  return isLoopback(host) ? "localhost" : host;
}

function matches(url: URL, allowed: string): boolean {
  const host = hostOf(url);
  if (allowed.startsWith("*.")) return host.endsWith(allowed.slice(1));
  return host === allowed || `${host}:${portOf(url)}` === allowed || url.host === allowed;
}
