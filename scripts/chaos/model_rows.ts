// Faults between the server and the model's endpoint.
import { type Action, slow, type Step, text, toolCalls } from "../../src/practice/model_script.ts";
import { assertTurn } from "../../tests/fakes/grammar.ts";
import type { Fault } from "./fault_proxy.ts";
import { assertGoesOn, judge, type Row, script, type TurnUnderFault, turnUnderFault } from "./row.ts";

const CHAT = /^POST \/v1\/chat/;
const SPOKEN: Step = slow(30, 5);
const BROKE = /broke before the answer was complete/;
const SILENT = /sent nothing/;

/** Bytes of which no protocol knows anything; the same in every run. */
export function rubbish(length: number): Uint8Array {
  let state = 12345;
  return Uint8Array.from({ length }, () => (state = (state * 1103515245 + 12345) & 0x7fffffff) >> 16);
}

const row = (
  fault: string,
  rule: { fault: Fault; after?: string | number; times?: number },
  expected: TurnUnderFault["expected"],
  more: Partial<TurnUnderFault> = {},
) =>
  turnUnderFault({
    where: "model",
    fault,
    rule: { match: CHAT, ...rule },
    steps: [SPOKEN],
    expected,
    ...more,
  });

const FULL = /^alpha beta gamma .*bgp$/s;
const BEGUN = /^alpha beta gamma/;
const whole = { end: "done stop", text: FULL };
const broken = (says: RegExp, text?: RegExp) => ({
  end: "error model_error",
  says,
  ...(text ? { text } : {}),
});
const MANY_LANGUAGES = ["Grüße, ", "路由器", " 🛰️ ", "\u2028 ", "e\u0301nd"];

/** The answer's bytes come through the script, inside the HTTP framing. */
const inside = (fault: string, bytes: Action[], expected: TurnUnderFault["expected"]): Row => ({
  where: "model",
  fault,
  async play(stage) {
    const { message } = script(stage, [[...SPOKEN.slice(0, 1), { delta: { content: "alpha" } }, ...bytes]]);
    const stream = await stage.chat("alice").start(message);
    await stream.end();
    const outcome = await judge(stage, stream, expected);
    await assertGoesOn(stage, stream.sessionId);
    return outcome;
  },
});

const MB = new TextEncoder().encode("x".repeat(1024 * 1024));
const COMMENTS = new TextEncoder().encode(": nothing to see here\n".repeat(50_000));

export const MODEL_ROWS: Row[] = [
  row("every piece 300 ms late", { fault: { kind: "delay", ms: 300 } }, whole),
  row("byte by byte, in many scripts", { fault: { kind: "split" } }, {
    end: "done stop",
    text: new RegExp(`^${MANY_LANGUAGES.join("")}$`, "u"),
  }, { steps: [text(MANY_LANGUAGES)] }),
  row("byte by byte, a tool call", { fault: { kind: "split" } }, {
    end: "done stop",
    text: /^ok$/,
    tools: [/^success/],
  }, {
    steps: [toolCalls([{ name: "wait_seconds", args: { seconds: 1 } }]), text("ok")],
  }),
  row("hangs up once, then answers", { fault: { kind: "hang-up" }, times: 1 }, whole),
  row("hangs up every time", { fault: { kind: "hang-up" } }, broken(/Could not connect to .*closed|reset/)),
  row("503 twice, then answers", { fault: { kind: "status", status: 503 }, times: 2 }, whole),
  row(
    "500 with a web page, every time",
    { fault: { kind: "status", status: 500 } },
    broken(/overloaded \(500\)/),
  ),
  row(
    "ends (FIN) in the head",
    { fault: { kind: "fin" }, after: "HTTP/1.1" },
    broken(/Could not connect to|broke/),
    { long: true },
  ),
  row("ends (FIN) in the text", { fault: { kind: "fin" }, after: " delta" }, broken(BROKE, BEGUN)),
  row("is reset (RST) in the text", { fault: { kind: "reset" }, after: " delta" }, broken(BROKE, BEGUN)),
  row("silent before the head", { fault: { kind: "stall" } }, broken(SILENT)),
  row("silent in the text", { fault: { kind: "stall" }, after: " delta" }, broken(SILENT, BEGUN)),
  row(
    "gone unheard (half-open) in the text",
    { fault: { kind: "half-open" }, after: " delta" },
    broken(SILENT, BEGUN),
    { long: true },
  ),
  row(
    "rubbish in the text",
    { fault: { kind: "insert", bytes: rubbish(300) }, after: " gamma" },
    broken(BROKE, /^alpha beta/),
  ),
  row(
    "rubbish instead of a head",
    { fault: { kind: "insert", bytes: rubbish(300) } },
    broken(/Could not connect to|broke/),
    { long: true },
  ),
  row(
    "ends (FIN) in a tool call's arguments",
    { fault: { kind: "fin" }, after: '"function":{"arguments":' },
    {
      ...broken(BROKE),
      tools: [],
    },
    { steps: [toolCalls([{ name: "wait_seconds", args: { seconds: 1 } }])] },
  ),
  row("is reset (RST) after a tool has run", { fault: { kind: "reset" }, after: " delta" }, {
    ...broken(BROKE, BEGUN),
    tools: [/^success/],
  }, { steps: [toolCalls([{ name: "wait_seconds", args: { seconds: 1 } }]), SPOKEN] }),
  inside("30 MB in one line", [...Array(30).fill({ bytes: MB })], broken(/./, /^alpha$/)),
  inside("50 MB of comments, then goes on", [
    ...Array(50).fill({ bytes: COMMENTS }),
    { delta: { content: " beta" }, finish: "stop" },
  ], { end: "done stop", text: /^alpha beta$/ }),
  inside(
    "broken JSON in the text",
    [{ bytes: 'data: {"choices": [}\n\n' }],
    broken(/not valid JSON/, /^alpha$/),
  ),
  {
    where: "model",
    fault: "silent while the title is made",
    async play(stage) {
      const { message } = script(stage, [SPOKEN], { title: [{ hang: true }] });
      const stream = await stage.chat("alice").send(`${message} what is this`);
      const outcome = await judge(stage, stream, whole);
      await assertGoesOn(stage, stream.sessionId);
      return outcome;
    },
  },
  {
    where: "model",
    fault: "is reset (RST) while the title is made",
    async play(stage) {
      const { message } = script(stage, [SPOKEN], {
        title: [{ delta: { content: "Half a" } }, { cut: true }],
      });
      const stream = await stage.chat("alice").send(message);
      assertTurn(stream.events);
      const outcome = await judge(stage, stream, whole);
      await assertGoesOn(stage, stream.sessionId);
      return outcome;
    },
  },
];
