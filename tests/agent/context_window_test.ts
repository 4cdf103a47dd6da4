import assert from "node:assert/strict";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { type ContextInput, fitContext, windowWarning } from "../../src/agent/context_window.ts";
import { assistantMessage, INTERRUPTED, toolMessage, userMessage } from "../../src/agent/messages.ts";
import { countMessage, countTokens, warmUp } from "../../src/agent/tokens.ts";
import { toolCallsOf } from "../../src/models/tool_calls.ts";
import { wireMessages } from "../../src/models/wire_messages.ts";

await warmUp();

let ids = 0;
const stamp = () => ({ id: `m${++ids}`, createdAt: "2026-01-01T00:00:00.000Z" });
const user = (text: string) => userMessage(text, stamp());
const says = (text: string) => assistantMessage({ text }, stamp());
const calls = (...ids: string[]) =>
  assistantMessage({
    text: "",
    calls: ids.map((id) => ({ id, name: "show", argumentsText: '{"device": "R1"}' })),
  }, stamp());
const result = (callId: string, output = "ok") =>
  toolMessage({ callId, name: "show", output, status: "success" }, stamp());
const words = (count: number) => Array.from({ length: count }, (_, at) => ` word${at % 10}`).join("");

function fit(messages: BaseMessage[], more: Partial<ContextInput> = {}) {
  return fitContext({
    messages,
    systemPrompt: "You are a network assistant.",
    topology: null,
    toolsTokens: 0,
    config: { context_limit: 128, context_strategy: "balanced" },
    ...more,
  });
}

/** Tokens of the budget in which exactly `messages` fit beside the system prompt, as toolsTokens to subtract. */
function toolsFor(messages: BaseMessage[], spare = 0): number {
  const system = countTokens("You are a network assistant.") + 7;
  return 96_000 - system - messages.reduce((sum, message) => sum + countMessage(message), 0) - spare;
}

/** What a strict provider checks; throws when it would refuse. */
function assertSendable(messages: BaseMessage[]): void {
  const wire = wireMessages(messages, { limitField: "max_tokens" });
  assert.equal(wire[0]!.role, "system");
  const seen = new Set<string>();
  let open: string[] = [];
  for (const message of wire.slice(1)) {
    if (message.role === "tool") {
      assert.equal(message.tool_call_id, open.shift(), "a result stands in the order of its call");
      continue;
    }
    assert.deepEqual(open, [], "every call is answered before the next message");
    for (const call of message.tool_calls ?? []) {
      assert.ok(!seen.has(call.id), `id ${call.id} is used twice`);
      seen.add(call.id);
      assert.equal(typeof JSON.parse(call.function.arguments), "object");
    }
    open = (message.tool_calls ?? []).map((call) => call.id);
    if (message.role === "assistant") {
      assert.ok(message.content || open.length > 0, "an assistant's message says something");
    }
  }
  assert.deepEqual(open, []);
}

Deno.test("fitContext sends everything that fits, system message first", () => {
  const messages = [user("hi"), calls("1", "2"), result("1"), result("2"), says("done"), user("more")];
  const fitted = fit(messages);
  assert.equal(fitted.messages[0]!.getType(), "system");
  assert.equal(fitted.messages[0]!.content, "You are a network assistant.");
  assert.deepEqual(fitted.messages.slice(1), messages);
  assert.equal(
    fitted.tokens,
    countTokens("You are a network assistant.") + 7 +
      messages.reduce((sum, message) => sum + countMessage(message), 0),
  );
  assert.deepEqual([fitted.warnings, fitted.errors, fitted.advice], [[], [], undefined]);
  assertSendable(fitted.messages);
});

Deno.test("fitContext writes the seed's log line", () => {
  const { info, tokens } = fit([user("hi")], {
    toolsTokens: 1725,
    config: { context_limit: 128, context_strategy: "conservative" },
  });
  const total = tokens + 1725;
  assert.equal(
    info,
    `Context ready: 2 msgs, ~${tokens} tokens + 1725 tools = ${total} / 128K (${
      (total / 1280).toFixed(1)
    }%), strategy=conservative`,
  );
  assert.match(info, /\(1\.4%\)/);
});

Deno.test("fitContext takes the strategy's share of the window: 60, 75 (also without a strategy) or 85 percent", () => {
  const message = user(words(1000));
  const size = countMessage(message) + countTokens("You are a network assistant.") + 7;
  for (
    const [strategy, budget] of [["conservative", 6000], ["balanced", 7500], [undefined, 7500], [
      "aggressive",
      8500,
    ]] as const
  ) {
    const kept = (tools: number) =>
      fit([says("old"), message, says("a"), user("b")], {
        toolsTokens: tools,
        config: { context_limit: 10, context_strategy: strategy },
      }).messages.length;
    const rest = countMessage(says("a")) + countMessage(user("b"));
    assert.equal(kept(budget - size - rest), 4, `${strategy}: fits exactly without the oldest`);
    assert.equal(kept(budget - size - rest + 1), 2, `${strategy}: one token too many`);
  }
});

Deno.test("fitContext replaces {{topology_info}} by the topology as it is, or by the seed's words", () => {
  const systemPrompt = "### CURRENT TOPOLOGY\n{{topology_info}}\nEnd {{topology_info}}";
  const content = (topology: string | null) =>
    fit([user("hi")], { systemPrompt, topology }).messages[0]!.content;
  assert.equal(content("R1 $& R2 $1"), "### CURRENT TOPOLOGY\nR1 $& R2 $1\nEnd R1 $& R2 $1");
  assert.equal(
    content(null),
    "### CURRENT TOPOLOGY\n(No topology information available)\nEnd (No topology information available)",
  );
  assert.deepEqual(fit([user("hi")], { systemPrompt, topology: null }).warnings, [
    "✗ Topology data is None, injecting placeholder",
  ]);
});

Deno.test("fitContext gives a topology that takes more than a quarter of the budget in outline", () => {
  const input = {
    systemPrompt: "{{topology_info}}",
    config: { context_limit: 4, context_strategy: "balanced" as const },
  };
  const fits = words(375);
  assert.ok(countTokens(fits) <= 750);
  assert.equal(
    fit([user("hi")], { ...input, topology: fits, topologyOutline: "R1" }).messages[0]!.content,
    fits,
  );
  const large = words(1500);
  const outlined = fit([user("hi")], { ...input, topology: large, topologyOutline: "R1 started" });
  assert.equal(outlined.messages[0]!.content, "R1 started");
  assert.match(
    outlined.warnings[0]!,
    /^Topology takes ~\d+ tokens, more than a quarter of the budget \(750\)/,
  );
  const cut = fit([user("hi")], { ...input, topology: large, topologyOutline: large }).messages[0]!
    .content as string;
  assert.ok(countTokens(cut) <= 750);
  assert.match(cut, /\[… \d+ of \d+ characters left out …\]/);
});

Deno.test("fitContext drops the oldest first and says so as the seed does", () => {
  const messages = Array.from({ length: 25 }, (_, at) => [user(`question ${at}`), says(`answer ${at}`)])
    .flat();
  const kept = messages.slice(-10);
  const toolsTokens = toolsFor(kept);
  const fitted = fit(messages, { toolsTokens });
  assert.deepEqual(fitted.messages.slice(1), kept);
  assert.equal(fitted.total, 96_000);
  assert.equal(
    fitted.info,
    `Messages trimmed: 50 → 11 msgs. Total: ~${fitted.tokens} tokens + ${toolsTokens} tools = 96000 / 128K (75.0%), strategy=balanced`,
  );
});

Deno.test("fitContext keeps a call and its results together, and begins old history with a user's message", () => {
  // E3: the line falls between the calls and their results.
  const messages = [
    user("old"),
    calls("1", "2"),
    result("1", words(50)),
    result("2", words(50)),
    says("so"),
    user("new"),
    says("fine"),
    user("last"),
  ];
  for (const cut of [1, 2, 3, 4, 5]) {
    const fitted = fit(messages, { toolsTokens: toolsFor(messages.slice(cut)) });
    assert.deepEqual(fitted.messages.slice(1), messages.slice(5), `room for all from ${cut}`);
    assertSendable(fitted.messages);
  }
  assert.equal(fit(messages, { toolsTokens: toolsFor(messages) }).messages.length, 9);
});

Deno.test("fitContext keeps the latest question when the running turn is too long, and drops its oldest steps", () => {
  const steps = Array.from({ length: 6 }, (_, at) => [calls(`s${at}`), result(`s${at}`, words(100))]).flat();
  const messages = [user("old"), says("old answer"), user("the question"), ...steps];
  const fitted = fit(messages, { toolsTokens: toolsFor([messages[2]!, ...steps.slice(-4)]) });
  assert.deepEqual(fitted.messages.slice(1), [messages[2], ...steps.slice(-4)]);
  assert.match(fitted.info, /^Messages trimmed: 15 → 6 msgs/);
  assertSendable(fitted.messages);
});

Deno.test("fitContext counts the arguments of calls", () => {
  // E3
  const long = assistantMessage({
    text: "",
    calls: [{ id: "1", name: "show", argumentsText: JSON.stringify({ x: words(500) }) }],
  }, stamp());
  const messages = [user("old"), long, result("1"), user("new")];
  const fitted = fit(messages, { toolsTokens: toolsFor([...messages.slice(2)], 100) });
  assert.deepEqual(fitted.messages.slice(1), messages.slice(3));
});

Deno.test("fitContext keeps the question when system prompt and tools leave no room, and says what to change", () => {
  // E5
  const tools = fit([user("old"), user("new")], { toolsTokens: 200_000 });
  assert.deepEqual(tools.messages.slice(1).map((message) => message.content), ["new"]);
  assert.deepEqual(tools.errors, [
    "Tool definitions (200000 tokens) exceed the input budget (96000 tokens). " +
    "Increase context_limit, use a more aggressive context_strategy, or reduce the number of tools.",
  ]);
  assert.equal(tools.advice, tools.errors[0]);
  const prompt = fit([user("new")], {
    systemPrompt: words(1000),
    toolsTokens: 400,
    config: { context_limit: 1 },
  });
  assert.equal(prompt.messages[0]!.content, words(1000));
  assert.match(
    prompt.errors[0]!,
    /^System prompt \(\d+ tokens\) and tool definitions \(400 tokens\) exceed the input budget \(750 tokens\)\./,
  );
});

Deno.test("fitContext shortens a huge tool result in the middle, leaves the question whole and the history as it is", () => {
  // E4
  const output = `START ${words(60_000)} END`;
  const messages = [user("show tech please"), calls("1"), result("1", output)];
  const fitted = fit(messages, { config: { context_limit: 16, context_strategy: "balanced" } });
  const [, question, , sent] = fitted.messages;
  assert.equal(question, messages[0]);
  const text = sent!.content as string;
  assert.ok(text.startsWith("START ") && text.endsWith(" END"));
  const note = /\n\[… (\d+) of (\d+) characters left out …\]\n/.exec(text)!;
  assert.equal(Number(note[2]), output.length);
  assert.equal(Number(note[1]), output.length - (text.length - note[0].length));
  assert.ok(countMessage(sent!) <= 3000, "a quarter of the budget");
  assert.ok(countMessage(sent!) > 2500, "and not much less");
  assert.equal(messages[2]!.content, output);
  assert.ok(fitted.total <= 12_000);
  assertSendable(fitted.messages);
});

Deno.test("fitContext lets ten huge results of one call share half of the budget, and keeps the small ones whole", () => {
  // E4
  const names = Array.from({ length: 10 }, (_, at) => `d${at}`);
  const results = names.map((id, at) => result(id, at < 2 ? "small" : words(20_000)));
  const old = [user("before"), says("earlier answer")];
  const fitted = fit([...old, user("q"), calls(...names), ...results], {
    config: { context_limit: 16, context_strategy: "balanced" },
  });
  assert.deepEqual(fitted.messages.slice(1, 3), old);
  const sent = fitted.messages.slice(-10);
  assert.deepEqual(sent.slice(0, 2), results.slice(0, 2));
  const sizes = sent.map(countMessage);
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 6000);
  assert.ok(Math.min(...sizes.slice(2)) > 600, "each large one gets its share");
  assertSendable(fitted.messages);
});

Deno.test("fitContext always sends the newest results, however little room there is", () => {
  const messages = [user("q"), calls("1"), result("1", words(5000))];
  const fitted = fit(messages, { toolsTokens: 95_950 });
  assert.equal(fitted.messages.length, 4);
  assert.ok(countMessage(fitted.messages[3]!) <= 512);
  assert.match(fitted.warnings[0]!, /^The newest tool results do not fit/);
  assertSendable(fitted.messages);
});

Deno.test("fitContext shortens the latest message only when it is larger than the whole window", () => {
  const fits = user(words(2000));
  assert.equal(fit([fits], { config: { context_limit: 8 } }).messages[1], fits);
  const fitted = fit([user(words(20_000))], { config: { context_limit: 8 } });
  assert.ok(fitted.total <= 6000 && fitted.total > 5000);
  assert.match(fitted.messages[1]!.content as string, /characters left out/);
  assert.equal(fitted.messages[1]!.id, `m${ids}`);
  assert.deepEqual(fitted.warnings.slice(-1), [
    "The latest message is larger than the context window: its middle is left out",
  ]);
});

Deno.test("fitContext answers unanswered calls, and moves late results behind their call", () => {
  // C1
  const late = result("2");
  const messages = [user("a"), calls("1", "2", "3"), result("1"), user("b"), late, says("c"), user("d")];
  const { messages: sent } = fit(messages);
  assertSendable(sent);
  assert.equal(sent[4], late);
  assert.equal(sent[5]!.content, INTERRUPTED);
  assert.deepEqual(sent.slice(6).map((message) => message.content), ["b", "c", "d"]);
});

Deno.test("fitContext drops results without a call and second results of one", () => {
  // C1
  const { messages: sent } = fit([
    result("0"),
    user("a"),
    calls("1"),
    result("1", "first"),
    result("1", "second"),
    user("b"),
  ]);
  assertSendable(sent);
  assert.deepEqual(sent.slice(1).map((message) => message.content), ["a", "", "first", "b"]);
});

Deno.test("fitContext makes reused ids unique, the same way every time", () => {
  const messages = [
    user("a"),
    calls("call_0"),
    result("call_0", "one"),
    user("b"),
    calls("call_0", "call_0"),
    result("call_0", "two"),
    result("call_0", "three"),
  ];
  const { messages: sent } = fit(messages);
  assertSendable(sent);
  const results = sent.filter((message) => ToolMessage.isInstance(message));
  assert.deepEqual(results.map((message) => `${message.tool_call_id} ${message.content}`), [
    "call_0 one",
    "call_0_2 two",
    "call_0_3 three",
  ]);
  const again = fit(messages).messages;
  again.slice(1).forEach((message, at) => assert.equal(message, sent[at + 1]));
  assert.deepEqual(toolCallsOf(messages[4]!).map((call) => call.id), ["call_0", "call_0"]);
});

Deno.test("fitContext replaces arguments that are not a JSON object", () => {
  // C9
  const broken = ['{"a":', "null", "[1]", '"x"'];
  const message = assistantMessage({
    text: "",
    calls: broken.map((argumentsText, at) => ({ id: `${at}`, name: "f", argumentsText })),
  }, stamp());
  const { messages: sent } = fit([user("a"), message, ...broken.map((_, at) => result(`${at}`))]);
  assertSendable(sent);
  assert.deepEqual((sent[2] as AIMessage).tool_calls!.map((call) => call.args), [{}, {}, {}, {}]);
  assert.deepEqual(toolCallsOf(message).map((call) => call.argumentsText), broken);
});

Deno.test("fitContext does not send assistant messages with neither content nor calls", () => {
  // D7
  const { messages: sent } = fit([
    user("a"),
    says(""),
    says(" \n"),
    new AIMessage({ content: [] }),
    user("b"),
  ]);
  assert.deepEqual(sent.slice(1).map((message) => message.content), ["a", "b"]);
});

Deno.test("fitContext refuses a configuration without a usable context_limit in the seed's words", () => {
  // E5
  const limited = (context_limit: unknown) => () =>
    fit([], { config: { context_limit: context_limit as number } });
  assert.throws(limited(undefined), {
    code: "bad_request",
    message: "context_limit is required in LLM config",
  });
  for (const limit of [0, -1, 1.5, "128"]) {
    assert.throws(limited(limit), { code: "bad_request", message: `Invalid context_limit: ${limit}` });
  }
});

Deno.test("fitContext sends the messages as they are when trimming fails, and says so", () => {
  const bad = new HumanMessage("x");
  Object.defineProperty(bad, "content", {
    get() {
      throw new Error("broken message");
    },
  });
  const fitted = fit([bad]);
  assert.equal(fitted.messages[1], bad);
  assert.deepEqual(fitted.errors, ["Failed to trim messages: broken message"]);
  assert.deepEqual(fitted.warnings, ["Returning original messages due to trimming error"]);
});

Deno.test("fitContext counts a long history little by little, and never sends more than fits", () => {
  const messages = Array.from(
    { length: 500 },
    (_, at) => [user(`question ${at}${words(60)}`), says(`answer ${at}${words(60)}`)],
  ).flat();
  messages.push(user("last"));
  const first = fit(messages).messages.length;
  let last = first;
  for (let call = 0; call < 10; call++) {
    const fitted = fit(messages);
    assert.ok(fitted.messages.length >= last, "what is known better fits better");
    assert.ok(fitted.messages.slice(1).reduce((sum, message) => sum + countMessage(message), 0) <= 96_000);
    last = fitted.messages.length;
  }
  assert.ok(first > 0.7 * last, `${first} of ${last} at first`);
});

Deno.test("windowWarning tells of a window that is smaller than configured and of an answer that was cut off", () => {
  // D4
  assert.match(windowWarning(8000, 2048)!, /^The model read only 2048 of about 8000 tokens: .*num_ctx/);
  assert.match(windowWarning(8000, 7500, "length")!, /^The answer was cut off .* Raise max_tokens/);
  assert.equal(windowWarning(8000, 7000, "stop"), undefined);
  assert.equal(windowWarning(8000, undefined, "stop"), undefined);
  assert.equal(windowWarning(1500, 300, "stop"), undefined);
});
