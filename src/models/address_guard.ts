// What `endpoint_guard.ts` cannot see in an address as written: which machine it leads to. Names are looked up as `fetch`
// will look them up. Not noticed: a name that changes between this look and the call, and what a proxy makes of it.
import { lookup } from "node:dns";
import type { ModelConfig } from "../domain/model_config.ts";
import { endpointOf } from "./endpoint.ts";
import {
  type EndpointRules,
  guardEndpoint,
  hostOf,
  internal,
  isInternal,
  ourselves,
  portOf,
} from "./endpoint_guard.ts";
import { isLoopback, plainAddress } from "./ip_address.ts";

/** A name that is not found within this time is left to the call itself, which fails with a better sentence. */
const LOOKUP_MS = 2_000;

/** All addresses of a host name; none when it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface GuardOptions {
  hosts: EndpointRules["hosts"];
  /** Asked at each call: the port of this server is known only when it listens. */
  own(): EndpointRules["own"];
  resolve?: Resolve;
}

/** A check of a stored configuration's endpoint: throws `AppError` `forbidden`, or `bad_request` for an unusable URL. */
export function addressGuard(
  { hosts, own, resolve = resolveName }: GuardOptions,
): (config: Pick<ModelConfig, "provider" | "base_url">) => Promise<void> {
  return async (config) => {
    const endpoint = endpointOf(config);
    const rules = { hosts, own: own() };
    guardEndpoint(endpoint, rules);
    const url = new URL(endpoint.baseUrl);
    const addresses = await addressesOf(url, resolve);
    if (addresses.some(isInternal)) throw internal(url);
    for (const ours of rules.own.map((address) => new URL(address))) {
      if (portOf(ours) !== portOf(url)) continue;
      const known = await addressesOf(ours, resolve);
      const local = known.some(isThisMachine);
      if (addresses.some((address) => known.includes(address) || (local && isThisMachine(address)))) {
        throw ourselves();
      }
    }
  };
}

async function addressesOf(url: URL, resolve: Resolve): Promise<string[]> {
  const host = hostOf(url);
  const written = host.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
  return written ? [host] : (await resolve(host)).map(plainAddress);
}

function resolveName(host: string): Promise<string[]> {
  return new Promise((done) => {
    const timer = setTimeout(() => done([]), LOOKUP_MS);
    lookup(host, { all: true }, (error, found) => {
      clearTimeout(timer);
      done(error ? [] : found.map(({ address }) => address));
    });
  });
}

/** Whether an address is one of this machine's: only on those can it listen. (Interfaces may not be listed from here.) */
function isThisMachine(address: string): boolean {
  if (isLoopback(address)) return true;
  try {
    Deno.listen({ hostname: address, port: 0 }).close();
    return true;
  } catch {
    return false;
  }
}
