// Waiting for something on a console.
import assert from "node:assert/strict";
import { Channel, ChannelClosed, ChannelTimeout } from "../../src/devices/channel.ts";
import type { Transport } from "../../src/devices/transport.ts";

function console_() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const sent: string[] = [];
  let open = true;
  const end = () => {
    if (open) controller.close();
    open = false;
  };
  const transport: Transport = {
    readable: new ReadableStream({ start: (c) => void (controller = c) }),
    writable: new WritableStream({ write: (bytes) => void sent.push(new TextDecoder().decode(bytes)) }),
    close: () => Promise.resolve(end()),
  };
  const give = (bytes: Uint8Array | string) =>
    controller.enqueue(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
  return { channel: new Channel(transport), give, end, sent };
}

const prompt = (quietMs: number) => (tail: string) =>
  tail.endsWith("> ") ? { value: tail, quietMs } : undefined;

Deno.test("Channel.settle takes what it looks for only after silence", async () => {
  const { channel, give } = console_();
  const found = channel.settle(prompt(60), { limitMs: 2_000 });
  give("a> ");
  await new Promise((resolve) => setTimeout(resolve, 20));
  give("b\r\nPC1> ");
  assert.equal(await found, "a> b\r\nPC1> ");
  assert.equal(channel.take(), "a> b\r\nPC1> ");
  assert.equal(channel.size, 0);
  await channel.close();
});

Deno.test("Channel.settle times out, and tells a closed connection and an abort apart", async () => {
  const { channel, end } = console_();
  await assert.rejects(channel.settle(prompt(10), { limitMs: 30 }), ChannelTimeout);
  const stop = new AbortController();
  const waiting = channel.settle(prompt(10), { limitMs: 5_000, signal: stop.signal });
  stop.abort(new Error("enough"));
  await assert.rejects(waiting, { message: "enough" });
  const closing = channel.settle(prompt(10), { limitMs: 5_000 });
  end();
  await assert.rejects(closing, ChannelClosed);
  await assert.rejects(channel.send("x"), ChannelClosed);
  await channel.close();
});

Deno.test("Channel keeps characters whole that are cut between reads", async () => {
  const { channel, give } = console_();
  for (const byte of new TextEncoder().encode("上联> ")) give(Uint8Array.of(byte));
  assert.equal(await channel.settle(prompt(10), { limitMs: 2_000 }), "上联> ");
  await channel.close();
});

Deno.test("Channel keeps the end of what nobody takes, and counts all of it", async () => {
  const { channel, give } = console_();
  const screenful = "x".repeat(1_000_000);
  for (let i = 0; i < 20; i++) give(screenful);
  give("PC1> ");
  await channel.settle(prompt(10), { limitMs: 5_000 });
  assert.equal(channel.size, 20_000_005);
  const kept = channel.take();
  assert.ok(kept.length >= 8_000_000 && kept.length <= 16_000_000, `${kept.length} characters`);
  assert.ok(kept.endsWith("xPC1> "));
  assert.equal(channel.size, 0);
  await channel.close();
});

Deno.test("Channel.settle looks at the end only, however much came before", async () => {
  const { channel, give } = console_();
  const much = "x".repeat(100) + "\r\n";
  for (let i = 0; i < 5_000; i++) give(much);
  give("PC1> ");
  const tail = await channel.settle(prompt(10), { limitMs: 5_000 });
  assert.ok(tail.length <= 4_096);
  assert.equal(channel.take().length, 5_000 * much.length + 5);
  await channel.close();
});

Deno.test("Channel.quiet tells silence from a console that goes on printing", async () => {
  const { channel, give } = console_();
  assert.equal(await channel.quiet(20, { limitMs: 1_000 }), true);
  const timer = setInterval(() => give("x"), 5);
  assert.equal(await channel.quiet(50, { limitMs: 200 }), false);
  clearInterval(timer);
  await channel.close();
});
