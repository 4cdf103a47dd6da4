// Ethernet frames of the simulated packets, for captures: ARP (RFC 826), IPv4 with ICMP (RFC 792) or UDP, and the
// pcap file format around them.
import type { PacketKind } from "./filters.ts";

/** What is on the wire. `icmp` says which message it is; echo sequence numbers are the simulation's count. */
export interface FrameInfo {
  sourceMac: string;
  targetMac: string;
  source: number;
  destination: number;
  ttl: number;
  kind: PacketKind;
  icmp: { type: number; code: number };
  id: number;
}

const BROADCAST = "ff:ff:ff:ff:ff:ff";

function macBytes(mac: string): number[] {
  return mac.split(":").map((part) => parseInt(part, 16));
}

const u16 = (value: number) => [(value >>> 8) & 255, value & 255];
const u32 = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];

/** The Internet checksum (RFC 1071). */
function checksum(bytes: number[]): number {
  let sum = 0;
  for (let i = 0; i < bytes.length; i += 2) sum += (bytes[i]! << 8) + (bytes[i + 1] ?? 0);
  while (sum >>> 16) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** An ARP request, or the answer to one. */
export function arpFrame(
  operation: 1 | 2,
  sender: { mac: string; address: number },
  target: { mac: string; address: number },
): Uint8Array {
  const to = operation === 1 ? BROADCAST : target.mac;
  const known = operation === 1 ? [0, 0, 0, 0, 0, 0] : macBytes(target.mac);
  return Uint8Array.from([
    ...macBytes(to),
    ...macBytes(sender.mac),
    ...u16(0x0806),
    ...[0, 1, 8, 0, 6, 4],
    ...u16(operation),
    ...macBytes(sender.mac),
    ...u32(sender.address),
    ...known,
    ...u32(target.address),
  ]);
}

/** A frame with an IPv4 packet. */
export function ipFrame(info: FrameInfo): Uint8Array {
  const payload = info.kind === "udp" ? udp(info.id) : icmp(info);
  const header = [
    0x45,
    0,
    ...u16(20 + payload.length),
    ...u16(info.id),
    0,
    0,
    info.ttl,
    info.kind === "udp" ? 17 : 1,
    0,
    0,
  ];
  const ip = [...header, ...u32(info.source), ...u32(info.destination)];
  ip.splice(10, 2, ...u16(checksum(ip)));
  return Uint8Array.from([
    ...macBytes(info.targetMac),
    ...macBytes(info.sourceMac),
    ...u16(0x0800),
    ...ip,
    ...payload,
  ]);
}

function icmp({ icmp: { type, code }, id }: FrameInfo): number[] {
  const data = Array.from({ length: type === 0 || type === 8 ? 56 : 28 }, (_, i) => i & 255);
  const rest = type === 0 || type === 8 ? [...u16(1), ...u16(id)] : [0, 0, 0, 0];
  const message = [type, code, 0, 0, ...rest, ...data];
  message.splice(2, 2, ...u16(checksum(message)));
  return message;
}

function udp(id: number): number[] {
  // 33434 and up are traceroute's ports; a checksum of zero means that there is none.
  return [...u16(49152), ...u16(33434 + (id % 100)), ...u16(8 + 4), 0, 0, 0, 0, 0, 0];
}

/** The head of a pcap file with Ethernet frames. */
export function pcapHeader(): Uint8Array {
  const view = new DataView(new ArrayBuffer(24));
  view.setUint32(0, 0xa1b2c3d4, true);
  view.setUint16(4, 2, true);
  view.setUint16(6, 4, true);
  view.setUint32(16, 65535, true);
  view.setUint32(20, 1, true);
  return new Uint8Array(view.buffer);
}

/** One packet of a pcap file; `ms` is its time since 1970. */
export function pcapPacket(frame: Uint8Array, ms: number): Uint8Array {
  const record = new Uint8Array(16 + frame.length);
  const view = new DataView(record.buffer);
  view.setUint32(0, Math.floor(ms / 1000), true);
  view.setUint32(4, Math.floor(ms % 1000) * 1000, true);
  view.setUint32(8, frame.length, true);
  view.setUint32(12, frame.length, true);
  record.set(frame, 16);
  return record;
}
