// Small packet captures for tests, byte by byte.
import { Buffer } from "node:buffer";

const ETHERNET = Buffer.from("005079666801005079666800", "hex");

function frame(type: number, payload: Uint8Array): Buffer {
  return Buffer.concat([ETHERNET, Buffer.from([type >> 8, type & 0xff]), payload]);
}

function ip(protocol: number, payload: Uint8Array): Buffer {
  const head = Buffer.from("450000000001000040000000" + "0a000001" + "0a000002", "hex");
  head.writeUInt16BE(head.length + payload.length, 2);
  head[9] = protocol;
  return frame(0x0800, Buffer.concat([head, payload]));
}

function tcp(port: number, payload: Uint8Array): Buffer {
  const head = Buffer.from("c0000000" + "00000001" + "00000001" + "5018ffff00000000", "hex");
  head.writeUInt16BE(port, 2);
  return ip(6, Buffer.concat([head, payload]));
}

/** Who has 10.0.0.2? */
export const arp = frame(
  0x0806,
  Buffer.from("0001080006040001" + "005079666800" + "0a000001" + "000000000000" + "0a000002", "hex"),
);
/** An echo request from 10.0.0.1 to 10.0.0.2. */
export const ping = ip(1, Buffer.concat([Buffer.from("0800f7ff00010001", "hex"), Buffer.alloc(32, "a")]));
export const ospfHello = ip(
  89,
  Buffer.from(
    "0201002c0a00000100000000000000000000000000000000ffffff00000a120100000028" + "0a00000100000000",
    "hex",
  ),
);
/** TLS application data on port 443. */
export const tls = tcp(443, Buffer.concat([Buffer.from("1703030020", "hex"), Buffer.alloc(32, 7)]));
export const http = tcp(80, Buffer.from("GET / HTTP/1.1\r\nHost: pc2\r\n\r\n"));

/** A pcap file of Ethernet frames, one a second. */
export function pcap(frames: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [Buffer.from("d4c3b2a1020004000000000000000000ffff000001000000", "hex")];
  frames.forEach((bytes, i) => {
    const head = Buffer.alloc(16);
    head.writeUInt32LE(1_700_000_000 + i, 0);
    head.writeUInt32LE(bytes.length, 8);
    head.writeUInt32LE(bytes.length, 12);
    parts.push(head, bytes);
  });
  return new Uint8Array(Buffer.concat(parts));
}
