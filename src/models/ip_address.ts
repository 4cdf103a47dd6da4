// IP addresses as text, in the spelling of `URL` and of the resolver: which IPv4 address one of version 6 stands for.

/** An IPv4 address that is written inside an IPv6 one, as IPv4; any other host as it is, in lower case, without scope. */
export function plainAddress(host: string): string {
  const address = host.toLowerCase().replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  if (!address.includes(":")) return address;
  const groups = groupsOf(address);
  if (!groups) return address;
  const starts = (...prefix: number[]) => prefix.every((group, at) => groups[at] === group);
  const v4 = (
    at: number,
  ) => [groups[at]! >> 8, groups[at]! & 255, groups[at + 1]! >> 8, groups[at + 1]! & 255];
  // Mapped and translated (RFC 4291 section 2.5.5, RFC 6052), then 6to4 (RFC 3056).
  if (starts(0, 0, 0, 0, 0, 0xffff) || starts(0x64, 0xff9b, 0, 0, 0, 0)) return v4(6).join(".");
  if (starts(0, 0, 0, 0, 0, 0) && groups[6] !== 0) return v4(6).join(".");
  if (starts(0x2002)) return v4(1).join(".");
  return address;
}

/** The eight groups of an IPv6 address, its last two also as IPv4; undefined for what is none. */
function groupsOf(address: string): number[] | undefined {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const hex = (high: string, low: string) => ((Number(high) << 8) + Number(low)).toString(16);
  const text = dotted ? `${dotted[1]}${hex(dotted[2]!, dotted[3]!)}:${hex(dotted[4]!, dotted[5]!)}` : address;
  const [head = "", tail] = text.split("::");
  const numbers = (part: string) => part === "" ? [] : part.split(":").map((group) => parseInt(group, 16));
  const start = numbers(head);
  const end = numbers(tail ?? "");
  const missing = 8 - start.length - end.length;
  if (missing < 0 || (tail === undefined && missing > 0)) return undefined;
  return [...start, ...Array.from({ length: missing }, () => 0), ...end];
}

/** All addresses that mean "this machine" wherever they are used. */
export function isLoopback(host: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|0\.0\.0\.0|::1?|localhost|.*\.localhost)$/.test(host);
}
