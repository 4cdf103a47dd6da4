// Telnet's commands in the data, cut anywhere (RFC 854, 855).
import assert from "node:assert/strict";
import { connectTelnet, overTelnet, TelnetFilter } from "../../src/devices/telnet.ts";
import type { Transport } from "../../src/devices/transport.ts";

const IAC = 255, DONT = 254, DO = 253, WONT = 252, WILL = 251, SB = 250, SE = 240, NOP = 241;
const TTYPE = 24, NAWS = 31, ECHO = 1, SGA = 3, BINARY = 0;
const text = (value: string) => [...new TextEncoder().encode(value)];

/** Feeds `bytes` in the given pieces. */
function fed(pieces: number[][]): { data: number[]; reply: number[] } {
  const filter = new TelnetFilter();
  const out = { data: [] as number[], reply: [] as number[] };
  for (const piece of pieces) {
    const { data, reply } = filter.feed(Uint8Array.from(piece));
    out.data.push(...data);
    out.reply.push(...reply);
  }
  return out;
}

const MIXED = [
  ...text("ab"),
  ...[IAC, DO, TTYPE],
  ...text("c"),
  ...[IAC, IAC],
  ...[IAC, SB, TTYPE, 1, IAC, IAC, 9, IAC, SE],
  ...[IAC, WILL, ECHO, IAC, WILL, SGA],
  ...[IAC, NOP],
  ...text("d"),
];

Deno.test("TelnetFilter gives the same data and answers wherever the bytes are cut", () => {
  const whole = fed([MIXED]);
  assert.deepEqual(whole.data, [...text("abc"), 255, ...text("d")]);
  assert.deepEqual(whole.reply, [IAC, WONT, TTYPE, IAC, DO, ECHO, IAC, DO, SGA]);
  for (let cut = 0; cut <= MIXED.length; cut++) {
    assert.deepEqual(fed([MIXED.slice(0, cut), MIXED.slice(cut)]), whole, `cut at ${cut}`);
  }
  assert.deepEqual(fed(MIXED.map((byte) => [byte])), whole);
});

Deno.test("TelnetFilter refuses what it does not do, agrees to echo, go-ahead and 8 bits", () => {
  const answers: [number[], number[]][] = [
    [[IAC, DO, TTYPE], [IAC, WONT, TTYPE]],
    [[IAC, DO, NAWS], [IAC, WONT, NAWS]],
    [[IAC, DO, BINARY], [IAC, WILL, BINARY]],
    [[IAC, DO, SGA], [IAC, WILL, SGA]],
    [[IAC, WILL, ECHO], [IAC, DO, ECHO]],
    [[IAC, WILL, BINARY], [IAC, DO, BINARY]],
    [[IAC, WILL, 39], [IAC, DONT, 39]],
    [[IAC, DONT, NAWS], []],
    [[IAC, WONT, ECHO], []],
  ];
  for (const [asked, answer] of answers) assert.deepEqual(fed([asked]).reply, answer, String(asked));
});

Deno.test("TelnetFilter answers a repeated request once, and a withdrawn one again", () => {
  assert.deepEqual(fed([[IAC, WILL, ECHO], [IAC, WILL, ECHO]]).reply, [IAC, DO, ECHO]);
  assert.deepEqual(fed([[IAC, WILL, ECHO, IAC, WONT, ECHO]]).reply, [IAC, DO, ECHO, IAC, DONT, ECHO]);
});

function pipe(
  withCommands: boolean,
): { transport: Transport; sent: number[]; commands: number[]; give(b: number[]): void } {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const [sent, commands]: [number[], number[]] = [[], []];
  const transport: Transport = {
    readable: new ReadableStream({ start: (c) => void (controller = c) }),
    writable: new WritableStream({ write: (bytes) => void sent.push(...bytes) }),
    ...(withCommands ? { sendCommand: (bytes: Uint8Array) => void commands.push(...bytes) } : {}),
    close: () => Promise.resolve(controller.close()),
  };
  return { transport, sent, commands, give: (bytes) => controller.enqueue(Uint8Array.from(bytes)) };
}

Deno.test("overTelnet answers in the data stream or, where there is one, in the way for commands", async () => {
  for (const apart of [false, true]) {
    const { transport, sent, commands, give } = pipe(apart);
    const telnet = overTelnet(transport);
    const reader = telnet.readable.getReader();
    give([IAC, DO, TTYPE, ...text("x")]);
    assert.deepEqual([...(await reader.read()).value!], text("x"));
    assert.deepEqual(apart ? commands : sent, [IAC, WONT, TTYPE]);
    const writer = telnet.writable.getWriter();
    await writer.write(Uint8Array.of(65, 255));
    assert.deepEqual(sent.slice(apart ? 0 : 3), apart ? [65, 255] : [65, 255, 255]);
    await telnet.close();
    assert.equal((await reader.read()).done, true);
  }
});

Deno.test("connectTelnet speaks to a real port, and its stream ends when either side closes", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  const options = { signal: new AbortController().signal, limitMs: 2_000 };
  const transport = await connectTelnet("127.0.0.1", listener.addr.port, options);
  const server = await accepted;
  await server.write(Uint8Array.of(72, 105));
  const reader = transport.readable.getReader();
  assert.deepEqual([...(await reader.read()).value!], [72, 105]);
  server.close();
  assert.equal((await reader.read()).done, true);
  await transport.close();
  await transport.close();
  listener.close();
});

Deno.test("connectTelnet fails on a closed port and on an aborted signal", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const { signal } = new AbortController();
  await assert.rejects(connectTelnet("127.0.0.1", port, { signal, limitMs: 2_000 }));
  const stopped = AbortSignal.abort(new Error("enough"));
  await assert.rejects(connectTelnet("127.0.0.1", port, { signal: stopped, limitMs: 1 }), {
    message: "enough",
  });
});
