// IPv4 arithmetic for the practice lab: addresses are unsigned 32-bit numbers, masks are prefix lengths.

/** The number behind a dotted address, or null when the text is not one. */
export function parseAddress(text: string): number | null {
  const parts = text.split(".");
  if (parts.length !== 4) return null;
  let value = 0;
  for (const part of parts) {
    if (!/^\d{1,3}$/.test(part) || Number(part) > 255) return null;
    value = value * 256 + Number(part);
  }
  return value;
}

/** The dotted text of an address. */
export function formatAddress(value: number): string {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".");
}

/** The mask of a prefix length, as a number. */
export function maskOf(bits: number): number {
  return bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;
}

/** The network an address belongs to. */
export function networkOf(address: number, bits: number): number {
  return (address & maskOf(bits)) >>> 0;
}

export function sameNetwork(a: number, b: number, bits: number): boolean {
  return networkOf(a, bits) === networkOf(b, bits);
}

/** The prefix length of a contiguous mask, or null. */
export function bitsOf(mask: number): number | null {
  for (let bits = 0; bits <= 32; bits++) if (maskOf(bits) === mask) return bits;
  return null;
}

/** A mask as people write it: `/26`, `26` or `255.255.255.192`; null when it is none of these. */
export function parseMask(text: string): number | null {
  const plain = /^\/?(\d{1,2})$/.exec(text);
  if (plain) return Number(plain[1]) <= 32 ? Number(plain[1]) : null;
  const mask = parseAddress(text);
  return mask === null ? null : bitsOf(mask);
}

/** True for an address that one host may have in this network: not its first and not its last. */
export function isHostAddress(address: number, bits: number): boolean {
  if (address >>> 24 === 0 || address >>> 24 >= 224) return false;
  if (bits >= 31) return true;
  const host = (address & ~maskOf(bits)) >>> 0;
  return host !== 0 && host !== (~maskOf(bits) >>> 0);
}

/** `10.0.1.0/24` */
export function formatPrefix(network: number, bits: number): string {
  return `${formatAddress(network)}/${bits}`;
}
