import assert from "node:assert/strict";
import { type SseDecoder, sseDecoder, type SseEvent } from "../../src/models/sse_decoder.ts";

const encoder = new TextEncoder();

/** Feeds text in pieces of at most `size` bytes. */
function push(decoder: SseDecoder, text: string, size = 65_536): SseEvent[] {
  const bytes = encoder.encode(text);
  const events: SseEvent[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    events.push(...decoder.push(bytes.subarray(at, at + size)));
  }
  return events;
}

/** How many characters are given to `JSON.parse` while `work` runs. */
function parsed(work: () => void): number {
  const original = JSON.parse;
  let characters = 0;
  JSON.parse = (text: string, ...more: []) => {
    characters += text.length;
    return original(text, ...more);
  };
  try {
    work();
  } finally {
    JSON.parse = original;
  }
  return characters;
}

const VALUE = { text: 'a "quoted" } and \\" ] line', list: [{ deep: [1, [2]] }, "{[", "\\"], empty: {} };

for (const size of [1, 7, 65_536]) {
  Deno.test(`sseDecoder puts JSON together that is spread over many data lines, ${size} bytes at a time`, () => {
    const decoder = sseDecoder();
    const lines = JSON.stringify(VALUE, null, 1).split("\n").map((line) => `data: ${line}\n`).join("");
    const events = push(decoder, `event: one\n${lines}\n${lines}data: {"next": 1}\n\ndata: [DONE]\n\n`, size);
    assert.deepEqual(events, [
      { data: VALUE, name: "one" },
      { data: VALUE, name: "" },
      { data: { next: 1 }, name: "" },
    ]);
    assert.equal(decoder.done, true);
    assert.equal(decoder.malformed, undefined);
  });
}

Deno.test("sseDecoder parses an event of very many lines once, and not once a line", () => {
  const lines = `data: [\n${"data: 1,\n".repeat(20_000)}data: 1]\n\n`;
  const decoder = sseDecoder();
  let events: SseEvent[] = [];
  const characters = parsed(() => events = push(decoder, lines));
  assert.equal((events[0]!.data as number[]).length, 20_001);
  assert.ok(characters < 2 * lines.length, `${characters} characters were parsed of ${lines.length}`);
});

for (
  const [name, lines] of Object.entries({
    "text": "data: hello\n",
    "a bracket too many": 'data: {"a": 1}}\n',
    "a broken string": 'data: {"a": "b\n',
    "an event that is cut off": 'data: {"a":\n',
  })
) {
  Deno.test(`sseDecoder gives up on ${name} at the event's end, whatever many lines follow`, () => {
    const decoder = sseDecoder();
    const text = lines + "data: [1]\n".repeat(20_000);
    const characters = parsed(() => assert.deepEqual(push(decoder, text), []));
    assert.ok(characters < 2 * text.length, `${characters} characters were parsed`);
    assert.equal(decoder.malformed, undefined);
    assert.equal(decoder.incomplete, true);
    assert.deepEqual(push(decoder, '\ndata: {"late": 1}\n\n'), []);
    assert.equal(decoder.malformed, lines.slice(6, -1));
  });
}

Deno.test("sseDecoder takes 16 MB of one event, in one line or in many, and no more", () => {
  const megabyte = "x".repeat(1024 * 1024);
  const whole = sseDecoder();
  assert.equal(push(whole, `data: ["${megabyte.repeat(10)}"]\n\n`).length, 1);
  assert.equal(push(whole, `data: [\n${`data: "${megabyte}",\n`.repeat(10)}data: 1]\n\n`).length, 1);
  const line = sseDecoder();
  push(line, `data: ["${megabyte.repeat(17)}`);
  assert.match(line.malformed!, /^data: \["xxx/);
  const lines = sseDecoder();
  push(lines, `data: [\n${`data: "${megabyte}",\n`.repeat(17)}`);
  assert.equal(lines.malformed, "[");
  const short = sseDecoder();
  push(short, `data: [\n${"data:1\n".repeat(1_100_000)}`);
  assert.equal(short.malformed, "[");
});
