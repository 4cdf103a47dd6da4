// The server's side of a WebSocket (RFC 6455) on a raw connection, so that a practice server can also drop one
// without a close frame, as GNS3 does to a caller without the right.
import type { Exchange, RawConnection } from "./http1.ts";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10;

export interface ServerSocket {
  /** Sends one binary message. */
  send(bytes: Uint8Array): Promise<void>;
  /** Sends one text message. */
  sendText(text: string): Promise<void>;
  /** The client's messages, text as UTF-8 bytes, until it closes. */
  messages(): AsyncGenerator<Uint8Array>;
  /** Closes with a close frame. */
  close(code?: number): Promise<void>;
  /** Cuts the connection without one. */
  drop(): void;
}

export function isUpgrade(headers: Headers): boolean {
  return headers.get("upgrade")?.toLowerCase() === "websocket" && headers.has("sec-websocket-key");
}

/** Completes the handshake. */
export async function acceptWebSocket(exchange: Exchange): Promise<ServerSocket> {
  const key = exchange.headers.get("sec-websocket-key") ?? "";
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(key + GUID));
  const accept = btoa(String.fromCharCode(...new Uint8Array(digest)));
  const raw = exchange.hijack();
  await raw.write(
    new TextEncoder().encode(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
    ),
  );
  return new Socket(raw);
}

class Socket implements ServerSocket {
  #sending: Promise<void> = Promise.resolve();
  #buffer = new Uint8Array(0);
  readonly #raw: RawConnection;

  constructor(raw: RawConnection) {
    this.#raw = raw;
  }

  send(bytes: Uint8Array): Promise<void> {
    return this.#frame(BINARY, bytes);
  }

  sendText(text: string): Promise<void> {
    return this.#frame(TEXT, new TextEncoder().encode(text));
  }

  async close(code = 1000): Promise<void> {
    await this.#frame(CLOSE, Uint8Array.of(code >> 8, code & 255)).catch(() => {});
    this.#raw.close();
  }

  drop(): void {
    this.#raw.close();
  }

  #frame(opcode: number, payload: Uint8Array): Promise<void> {
    const { length } = payload;
    const header = length < 126
      ? [0x80 | opcode, length]
      : length < 65536
      ? [0x80 | opcode, 126, length >> 8, length & 255]
      : [
        0x80 | opcode,
        127,
        0,
        0,
        0,
        0,
        (length >>> 24) & 255,
        (length >>> 16) & 255,
        (length >>> 8) & 255,
        length & 255,
      ];
    const frame = new Uint8Array(header.length + length);
    frame.set(header);
    frame.set(payload, header.length);
    // One frame after the other, whoever sends.
    this.#sending = this.#sending.catch(() => {}).then(() => this.#raw.write(frame));
    return this.#sending;
  }

  async #exactly(count: number): Promise<Uint8Array | null> {
    while (this.#buffer.length < count) {
      const more = await this.#raw.read();
      if (!more) return null;
      const joined = new Uint8Array(this.#buffer.length + more.length);
      joined.set(this.#buffer);
      joined.set(more, this.#buffer.length);
      this.#buffer = joined;
    }
    const taken = this.#buffer.slice(0, count);
    this.#buffer = this.#buffer.slice(count);
    return taken;
  }

  async #readFrame(): Promise<{ final: boolean; opcode: number; payload: Uint8Array } | null> {
    const head = await this.#exactly(2);
    if (!head) return null;
    let length = head[1]! & 127;
    if (length >= 126) {
      const wide = await this.#exactly(length === 126 ? 2 : 8);
      if (!wide) return null;
      length = wide.reduce((sum, byte) => sum * 256 + byte, 0);
    }
    const mask = await this.#exactly(4);
    const payload = mask && await this.#exactly(length);
    // A client must mask what it sends.
    if (!payload || (head[1]! & 128) === 0) return null;
    for (let i = 0; i < length; i++) payload[i]! ^= mask[i % 4]!;
    return { final: (head[0]! & 128) !== 0, opcode: head[0]! & 15, payload };
  }

  async *messages(): AsyncGenerator<Uint8Array> {
    let parts: Uint8Array[] = [];
    for (;;) {
      const frame = await this.#readFrame();
      if (!frame) return;
      if (frame.opcode === PING) await this.#frame(PONG, frame.payload);
      else if (frame.opcode === CLOSE) return await this.close(1000);
      else if (frame.opcode !== PONG) {
        parts.push(frame.payload);
        if (!frame.final) continue;
        yield new Uint8Array(await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer());
        parts = [];
      }
    }
  }
}
