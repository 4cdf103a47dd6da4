import assert from "node:assert/strict";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { getEncoding } from "js-tiktoken";
import { assistantMessage } from "../../src/agent/messages.ts";
import {
  countMessage,
  countText,
  countTokens,
  countToolTokens,
  isWarm,
  knownCount,
  messageBytes,
  warmUp,
} from "../../src/agent/tokens.ts";

const STAMP = { id: "1", createdAt: "2026-01-01T00:00:00.000Z" };

Deno.test("countTokens refuses to count before warmUp, which loads the vocabulary once", async () => {
  // E7
  assert.equal(isWarm(), false);
  assert.throws(() => countTokens("x"), /before warmUp/);
  assert.equal(warmUp(), warmUp());
  await warmUp();
  assert.equal(countTokens("hello world"), 2);
  assert.equal(countTokens(""), 0);
});

const ORDINARY: Record<string, string> = {
  english: "The quick brown fox jumps over the lazy dog. It's 3.14159, isn't it? I'LL see, YOU'RE right.",
  chinese: "路由器之间的链路已经建立，请检查 OSPF 邻居状态。然后保存配置。",
  russian: "Маршрутизатор R1 не отвечает на запросы.",
  emoji: "ok 👍🏽 done 👨‍👩‍👧‍👦 🚀🚀",
  code: 'function f(a: number[]) {\n\treturn a.map((x) => x ** 2);\r\n}\n\n\n  // "ok"',
  json: JSON.stringify(
    { nodes: [{ node_id: "c7a8d0c6-0b7a-4a50-9ad7-6ad0f9ad9b0e", name: "R1", x: -120, y: 44.5, tags: [] }] },
    null,
    2,
  ),
  config: "!\ninterface GigabitEthernet0/1\n ip address 10.0.0.1 255.255.255.252\n duplex auto\n!\nend\n",
  table: "Interface              IP-Address      OK? Method Status                Protocol\n" +
    "FastEthernet0/0        unassigned      YES unset  administratively down down    \n",
  ruler: `${"-".repeat(80)}\n${"=".repeat(100)}\n${"*".repeat(60)}`,
  blanks: `a${" ".repeat(100)}b\n\n\n\n   \n\t\t\tc   `,
  special: "<|endoftext|> and <|fim_prefix|> and <|im_start|>",
  halves: "a \ud83d b",
  empty: "",
};

for (const [name, text] of Object.entries(ORDINARY)) {
  Deno.test(`countTokens counts ${name} as js-tiktoken does`, async () => {
    await warmUp();
    const reference = getEncoding("cl100k_base");
    assert.equal(countTokens(text), reference.encode(text, [], []).length);
    assert.equal(countTokens(text.repeat(20)), reference.encode(text.repeat(20), [], []).length);
  });
}

Deno.test("countTokens counts special-token text as the plain text it is", async () => {
  // E1
  await warmUp();
  assert.equal(countTokens("<|endoftext|>"), 7);
  assert.equal(countMessage(new ToolMessage({ tool_call_id: "1", content: "<|endoftext|>" })), 4 + 7);
  const parameters = { type: "object", properties: {} };
  assert.ok(countToolTokens([{ name: "f", description: "<|fim_prefix|>", parameters }]) > 10);
});

function random(length: number, character: (n: number) => string): string {
  let seed = 7;
  let text = "";
  while (text.length < length) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    text += character(seed);
  }
  return text.slice(0, length);
}

Deno.test("countTokens is within 30 % of js-tiktoken where a run is too long to be merged as a whole", async () => {
  // E2: the reference is taken of a length that it can bear, and scaled up.
  await warmUp();
  const reference = getEncoding("cl100k_base");
  const cases: [string, string][] = [
    ["!", "!".repeat(50_000)],
    ["=", "=".repeat(50_000)],
    ["x", "x".repeat(50_000)],
    ["CJK", random(20_000, (n) => String.fromCharCode(0x4e00 + n % 3000))],
    ["base64", btoa(random(75_000, (n) => String.fromCharCode((n >> 8) % 256)))],
    ["letters", random(300_000, (n) => String.fromCharCode(97 + (n >> 8) % 26))],
  ];
  for (const [name, text] of cases) {
    const sample = 500;
    const expected = reference.encode(text.slice(0, sample), [], []).length * (text.length / sample);
    const counted = countTokens(text);
    assert.ok(
      Math.abs(counted - expected) <= 0.3 * expected,
      `${name}: ${counted}, expected about ${expected}`,
    );
  }
});

Deno.test("countTokens comes to an end on a megabyte of anything", async () => {
  // E2: with a vocabulary search that is quadratic in a run this would take minutes.
  await warmUp();
  for (const character of [" ", "\n", "a", "!", "\0", "字", "😀"]) {
    const text = character.repeat(1_000_000 / character.length);
    assert.ok(countTokens(text) > 0);
    assert.ok(countTokens(text) <= new TextEncoder().encode(text).length);
  }
});

Deno.test("countMessage counts content, name, calls and overhead", async () => {
  await warmUp();
  assert.equal(countMessage(new HumanMessage("hello world")), 4 + 2);
  assert.equal(
    countMessage(new HumanMessage({ content: "hello world", name: "bob" })),
    4 + 2 + 1 + countTokens("bob"),
  );
  const argumentsText = '{ "device_name": "R1" }';
  const call = assistantMessage({ text: "", calls: [{ id: "a", name: "show", argumentsText }] }, STAMP);
  assert.equal(countMessage(call), 4 + 6 + countTokens("show") + countTokens(argumentsText));
  const broken = assistantMessage(
    { text: "", calls: [{ id: "a", name: "show", argumentsText: '{"x":' }] },
    STAMP,
  );
  assert.equal(countMessage(broken), 4 + 6 + countTokens("show") + countTokens('{"x":'));
});

Deno.test("countMessage counts an image as an image, not as the text of its bytes", async () => {
  await warmUp();
  const url = `data:image/png;base64,${"A".repeat(100_000)}`;
  const message = new HumanMessage({
    content: [{ type: "text", text: "hello world" }, { type: "image_url", image_url: { url } }],
  });
  assert.equal(countMessage(message), 4 + 2 + 800);
});

Deno.test("countMessage remembers a message until its content changes", async () => {
  await warmUp();
  const message = new AIMessage("hello world");
  assert.equal(knownCount(message), undefined);
  countMessage(message);
  assert.equal(knownCount(message), 6);
  message.content = "hello";
  assert.equal(knownCount(message), undefined);
  assert.equal(countMessage(message), 5);
});

Deno.test("messageBytes bounds what a message can count", async () => {
  await warmUp();
  for (const text of Object.values(ORDINARY)) {
    const message = new HumanMessage(text);
    assert.ok(countMessage(message) - 4 <= messageBytes(message));
  }
});

Deno.test("countToolTokens counts the definitions as JSON, and no tools as nothing", async () => {
  await warmUp();
  const tools = [{ name: "f", description: "does f", parameters: { type: "object" } }];
  assert.equal(
    countToolTokens(tools),
    countTokens(JSON.stringify([{ type: "function", function: tools[0] }])),
  );
  assert.equal(countToolTokens([]), 0);
  assert.equal(countText("hello world"), 2);
});

Deno.test("countToolTokens assumes 1,000 when the definitions cannot be counted", () => {
  const parameters: Record<string, unknown> = {};
  parameters.self = parameters;
  assert.equal(countToolTokens([{ name: "f", description: "", parameters }]), 1000);
});
