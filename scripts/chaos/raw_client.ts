// A client that has nothing between itself and the wire.
import { connect, type Socket } from "node:net";
import type { Chat } from "../../tests/fakes/chat.ts";

const JSON_TYPE = "content-type: application/json\r\n";

export class RawClient {
  readonly socket: Socket;
  received = "";
  bytes = 0;
  ended = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    const decoder = new TextDecoder();
    socket.on("data", (bytes: Uint8Array) => {
      this.bytes += bytes.length;
      this.received += decoder.decode(bytes, { stream: true });
    });
    socket.on("error", () => {});
    socket.on("close", () => this.ended = true);
    socket.on("end", () => this.ended = true);
  }

  static async to(url: string): Promise<RawClient> {
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
    socket.setNoDelay(true);
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new RawClient(socket);
  }

  send(data: string | Uint8Array): void {
    this.socket.write(data);
  }

  /** The request that follows a session. */
  static follow(chat: Chat, sessionId: string): string {
    const { pathname } = new URL(chat.prefix);
    return `GET ${pathname}/sessions/${sessionId}/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${chat.token}\r\n\r\n`;
  }

  /** The head of a request for a turn, and its body. */
  static turn(chat: Chat, body: unknown): [head: string, body: string] {
    const json = JSON.stringify(body);
    const { pathname } = new URL(chat.prefix);
    const length = new TextEncoder().encode(json).length;
    return [
      `POST ${pathname}/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${chat.token}\r\n${JSON_TYPE}` +
      `content-length: ${length}\r\n\r\n`,
      json,
    ];
  }
}

/** The text in the events of a chunked answer. */
export function textIn(received: string): string {
  const body = received.slice(received.indexOf("\r\n\r\n") + 4);
  let text = "";
  for (let at = 0;;) {
    const line = body.indexOf("\r\n", at);
    const size = parseInt(body.slice(at, line), 16);
    if (line < 0 || !(size > 0)) break;
    text += body.slice(line + 2, line + 2 + size);
    at = line + 4 + size;
  }
  return text.split("\n").filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)))
    .filter(({ type }) => type === "content").map(({ content }) => content).join("");
}
