// Packet filters of a link as GNS3 has them: loss, delay, corruption, "every Nth" and a little of BPF.

/** GNS3's form: `{"delay": [200, 10], "packet_loss": [5], "frequency_drop": [-1], "bpf": ["icmp"]}`. */
export type Filters = Record<string, (number | string)[]>;
export type PacketKind = "arp" | "icmp" | "udp" | "ospf";

const BPF: Record<string, readonly PacketKind[]> = {
  arp: ["arp"],
  icmp: ["icmp"],
  udp: ["udp"],
  ip: ["icmp", "udp", "ospf"],
  ospf: ["ospf"],
  "proto ospf": ["ospf"],
  "ip proto 89": ["ospf"],
  "proto 89": ["ospf"],
  "ip proto 1": ["icmp"],
  "greater 65535": [],
  "": [],
};

/** The reason why these filters cannot be taken, or null. */
export function filterProblem(filters: Filters): string | null {
  for (const [name, values] of Object.entries(filters)) {
    if (!["frequency_drop", "packet_loss", "delay", "corrupt", "bpf"].includes(name)) {
      return `Unknown packet filter '${name}'`;
    }
    if (!Array.isArray(values)) return `The values of packet filter '${name}' must be a list`;
    if (name === "bpf") {
      for (const line of expressions(values)) {
        if (!(line in BPF)) {
          return `The practice lab understands only these BPF expressions: ${
            Object.keys(BPF).filter(Boolean).join(", ")
          }`;
        }
      }
    } else if (values.some((value, i) => i < 2 && !Number.isInteger(Number(value)))) {
      return `The values of packet filter '${name}' must be whole numbers`;
    }
  }
  return null;
}

function expressions(values: (number | string)[]): string[] {
  return values.flatMap((value) => String(value).split("\n")).map((line) => line.trim().toLowerCase());
}

function matchesBpf(filters: Filters, kind: PacketKind): boolean {
  return expressions(filters.bpf ?? []).some((line) => BPF[line]?.includes(kind));
}

/** True when the filters never let this kind of packet through. */
export function blocksAll(filters: Filters, kind: PacketKind): boolean {
  return Number(filters.frequency_drop?.[0] ?? 0) === -1 || Number(filters.packet_loss?.[0] ?? 0) >= 100 ||
    Number(filters.corrupt?.[0] ?? 0) >= 100 || matchesBpf(filters, kind);
}

/** One packet at the filters: null when it is lost, else the delay in milliseconds that they add. */
export function passFilters(
  filters: Filters,
  kind: PacketKind,
  count: number,
  random: () => number,
): number | null {
  if (blocksAll(filters, kind)) return null;
  const every = Number(filters.frequency_drop?.[0] ?? 0);
  if (every > 0 && count % every === 0) return null;
  // A corrupted packet fails its checksum at the receiver, which is a loss as far as a ping can tell.
  for (const name of ["packet_loss", "corrupt"]) {
    const chance = Number(filters[name]?.[0] ?? 0);
    if (chance > 0 && random() * 100 < chance) return null;
  }
  const [latency = 0, jitter = 0] = (filters.delay ?? []).map(Number);
  return Math.max(0, latency + (jitter ? (random() * 2 - 1) * jitter : 0));
}
