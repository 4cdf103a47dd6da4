// Names of router interfaces: `f0/0`, `fa 0/0` and `FastEthernet0/0` are the same.
import type { Router, RouterInterface } from "./device.ts";

const KINDS = ["FastEthernet", "Loopback"];

/** The full spelling of an interface name, or null when it is none. */
export function fullName(text: string): string | null {
  const parts = /^([a-z]+)(\d+(?:\/\d+)*)$/i.exec(text);
  if (!parts) return null;
  const kind = KINDS.find((name) => name.toLowerCase().startsWith(parts[1]!.toLowerCase()));
  return kind ? `${kind}${parts[2]}` : null;
}

/** The interface of that name in any spelling. */
export function findInterface(router: Router, text: string): RouterInterface | undefined {
  const name = fullName(text);
  return router.interfaces.find((iface) => iface.name === name);
}
