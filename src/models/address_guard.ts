// The check of a stored configuration's address, and what `endpoint_guard.ts` cannot see in it as written: which machine it
// leads to. Names are looked up as `fetch` will look them up. Not noticed: a name that changes between this look and the
// call, and what a proxy makes of it.
import { lookup } from "node:dns";
import type { ModelConfig } from "../domain/model_config.ts";
import { endpointOf } from "../domain/endpoint.ts";
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
/** How long a name's addresses count: a turn makes several calls in a row. */
const REMEMBER_MS = 10_000;
const MOST_NAMES = 1_000;

/** All addresses of a host name; none when it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface GuardOptions {
  hosts: EndpointRules["hosts"];
  /** Asked at each check: the port of this server is known only when it listens. */
  own(): EndpointRules["own"];
  resolve?: Resolve;
  now?: () => number;
}

type Address = Pick<ModelConfig, "provider" | "base_url">;

/** Both checks of a stored configuration's endpoint throw `AppError` `forbidden`, or `bad_request` for an unusable URL. */
export interface AddressGuard {
  /** Looks at the address as written: takes no time. */
  written(config: Address): void;
  /** Looks at where it leads, too. */
  lookedUp(config: Address): Promise<void>;
}

export function addressGuard(
  { hosts, own, resolve = resolveName, now = Date.now }: GuardOptions,
): AddressGuard {
  const find = remembering(resolve, now);
  const written = (config: Address) => {
    const endpoint = endpointOf(config);
    const rules = { hosts, own: own() };
    guardEndpoint(endpoint, rules);
    return { url: new URL(endpoint.baseUrl), rules };
  };
  return {
    written: (config) => void written(config),
    async lookedUp(config) {
      const { url, rules } = written(config);
      const addresses = await addressesOf(url, find);
      if (addresses.some(isInternal)) throw internal(url);
      for (const ours of rules.own.map((address) => new URL(address))) {
        if (portOf(ours) !== portOf(url)) continue;
        const known = await addressesOf(ours, find);
        const local = known.some(isThisMachine);
        if (addresses.some((address) => known.includes(address) || (local && isThisMachine(address)))) {
          throw ourselves();
        }
      }
    },
  };
}

async function addressesOf(url: URL, resolve: Resolve): Promise<string[]> {
  const host = hostOf(url);
  const written = host.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
  return written ? [host] : (await resolve(host)).map(plainAddress);
}

/** Asks once for many who ask at the same time or shortly after. That a name has no address is not remembered. */
function remembering(resolve: Resolve, now: () => number): Resolve {
  const names = new Map<string, { addresses: Promise<readonly string[]>; until: number }>();
  return async (host) => {
    const known = names.get(host);
    if (known && now() < known.until) return await known.addresses;
    const addresses = resolve(host);
    if (names.size >= MOST_NAMES) names.delete(names.keys().next().value!);
    names.set(host, { addresses, until: now() + REMEMBER_MS });
    const found = await addresses;
    if (found.length === 0) names.delete(host);
    return found;
  };
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
