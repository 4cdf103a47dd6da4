// Recordings of real consoles: what was sent and what came, byte for byte. They are replayed one byte at a time.
import type { Transport } from "../../src/devices/transport.ts";

/** `<` came from the console, `>` was sent as data, `>!` was sent as a telnet command beside it. */
export interface Entry {
  kind: "<" | ">" | ">!";
  bytes: string;
}

// What TextDecoder calls latin1 is windows-1252, which differs from 0x80 to 0x9f.
const toText = (bytes: Uint8Array) => [...bytes].map((byte) => String.fromCharCode(byte)).join("");
const toBytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));

/** Passes everything through and writes it down; neighbouring entries of a kind become one. */
export function recorded(transport: Transport, log: Entry[]): Transport {
  const note = (kind: Entry["kind"], data: Uint8Array) => {
    const bytes = toText(data);
    const last = log.at(-1);
    if (last?.kind === kind) last.bytes += bytes;
    else log.push({ kind, bytes });
  };
  const writer = transport.writable.getWriter();
  return {
    readable: transport.readable.pipeThrough(
      new TransformStream({
        transform(bytes, controller) {
          note("<", bytes);
          controller.enqueue(bytes);
        },
      }),
    ),
    writable: new WritableStream({
      write(bytes) {
        note(">", bytes);
        return writer.write(bytes);
      },
    }),
    sendCommand(bytes) {
      note(">!", bytes);
      transport.sendCommand?.(bytes);
    },
    close: () => transport.close(),
  };
}

/** Lines of `# comment` and `< "JSON text"`; everything outside printable ASCII is escaped. */
export function format(header: string[], log: Entry[]): string {
  const quote = (text: string) =>
    JSON.stringify(text).replace(
      /[\x7f-\uffff]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  return [
    ...header.map((line) => `# ${line}`),
    ...log.map(({ kind, bytes }) => `${kind} ${quote(bytes)}`),
    "",
  ].join("\n");
}

export function parse(text: string): Entry[] {
  return text.split("\n").filter((line) => line && !line.startsWith("#")).map((line) => {
    const [, kind, bytes] = /^(<|>!|>) (".*")$/.exec(line)!;
    return { kind: kind as Entry["kind"], bytes: JSON.parse(bytes!) };
  });
}

export interface Replay extends Transport {
  /** What was sent otherwise than recorded; empty when all is as it was. */
  mismatches: string[];
  /** Entries that were not reached. */
  left(): number;
}

/** The console of a recording: prints what was printed once it has been sent what was sent, one byte at a time. */
export function replay(log: Entry[]): Replay {
  let at = 0;
  let sent = "";
  let commands = "";
  const mismatches: string[] = [];
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const readable = new ReadableStream<Uint8Array>({ start: (c) => void (controller = c) });
  const advance = () => {
    for (; at < log.length; at++) {
      const { kind, bytes } = log[at]!;
      if (kind === "<") { for (const byte of toBytes(bytes)) controller.enqueue(Uint8Array.of(byte)); }
      else if (kind === ">!") commands += bytes;
      else if (sent.startsWith(bytes)) sent = sent.slice(bytes.length);
      else {
        if (!bytes.startsWith(sent)) {
          mismatches.push(`${JSON.stringify(sent)} instead of ${JSON.stringify(bytes)}`);
        }
        return;
      }
    }
    if (sent) mismatches.push(`${JSON.stringify(sent)} after the end`);
  };
  let open = true;
  queueMicrotask(advance);
  return {
    readable,
    writable: new WritableStream({
      write(bytes) {
        sent += toText(bytes);
        advance();
      },
    }),
    sendCommand(bytes) {
      const text = toText(bytes);
      if (!commands.startsWith(text)) {
        mismatches.push(`telnet ${[...bytes]} instead of ${[...toBytes(commands)]}`);
      }
      commands = commands.slice(text.length);
    },
    close() {
      if (open) controller.close();
      open = false;
      return Promise.resolve();
    },
    mismatches,
    left: () => log.length - at,
  };
}
