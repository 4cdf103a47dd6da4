// What `available_filters` of a link answers: the filters that the simulation honours, in GNS3's form.

const percent = { name: "Chance", type: "int", minimum: 0, maximum: 100, unit: "%" };

export const FILTER_CATALOGUE = [
  {
    type: "frequency_drop",
    name: "Frequency drop",
    description: "Drops everything (-1), every Nth packet (N), or nothing (0).",
    parameters: [{ name: "Frequency", type: "int", minimum: -1, maximum: 32767, unit: "th packet" }],
  },
  {
    type: "packet_loss",
    name: "Packet loss",
    description: "The chance that a packet is lost.",
    parameters: [percent],
  },
  {
    type: "delay",
    name: "Delay",
    description: "Delays packets, by more or less as the jitter says.",
    parameters: [
      { name: "Latency", type: "int", minimum: 1, maximum: 32767, unit: "ms" },
      { name: "Jitter (-/+)", type: "int", minimum: 0, maximum: 32767, unit: "ms" },
    ],
  },
  {
    type: "corrupt",
    name: "Corrupt",
    description: "The chance that a packet is damaged.",
    parameters: [percent],
  },
  {
    type: "bpf",
    name: "Berkeley Packet Filter (BPF)",
    description:
      "Drops what an expression matches. The practice lab understands arp, icmp, udp, ip and ospf.",
    parameters: [{ name: "Filters", type: "text" }],
  },
];
