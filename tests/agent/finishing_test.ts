// What goes wrong while a turn is counted, named and saved: the turn ends all the same, once, and the session is free.
import assert from "node:assert/strict";
import { TurnStatistics } from "../../src/agent/turn_statistics.ts";
import { text } from "../../src/practice/model_script.ts";
import { ChatSessionsRepository } from "../../src/storage/sessions.ts";
import { type ChatServer, startChatServer } from "../fakes/chat.ts";

/** Lets a method of a class fail until it is disposed of. */
function failing(prototype: object, method: string): Disposable {
  const methods = prototype as Record<string, unknown>;
  const before = methods[method];
  assert.equal(typeof before, "function", method);
  methods[method] = () => {
    throw new TypeError(`${method} is broken: /secret/path`);
  };
  return { [Symbol.dispose]: () => void (methods[method] = before) };
}

const BROKEN: [what: string, prototype: object, method: string, end: "done" | "error"][] = [
  ["the tokens of a call cannot be counted", TurnStatistics.prototype, "addCall", "done"],
  ["the record cannot be made", TurnStatistics.prototype, "record", "error"],
  ["the usage cannot be summed up", TurnStatistics.prototype, "usage", "error"],
  ["the end of the turn cannot be saved", ChatSessionsRepository.prototype, "endTurn", "error"],
  ["the beginning of the turn cannot be saved", ChatSessionsRepository.prototype, "startTurn", "error"],
  ["nobody knows whether a title is wanted", ChatSessionsRepository.prototype, "wantsTitle", "error"],
];

for (const [what, prototype, method, end] of BROKEN) {
  Deno.test(`when ${what} the turn has one end, a sentence, and the session goes on`, async () => {
    await using server = await startChatServer();
    const alice = server.chat("alice");
    const sessionId = "the-session";
    {
      using _ = failing(prototype, method);
      const turn = await alice.send("hello", { session_id: sessionId });
      assert.equal(turn.last.type, end, JSON.stringify(turn.last));
      if (end === "error") assert.match(turn.last.error, /^[A-Z][^/]*\.$/);
      assert.ok(server.lines.some(({ level }) => level === "error"), "the log says what happened");
    }
    await goesOn(server, sessionId);
  });
}

async function goesOn(server: ChatServer, session_id: string): Promise<void> {
  const alice = server.chat("alice");
  const next = await alice.send(server.model.script("next", [text("Still here.")]), { session_id });
  assert.equal(next.text, "Still here.");
  assert.equal(next.last.finish_reason, "stop");
  const history = await alice.messages(session_id);
  assert.equal(history.at(-1).content, "Still here.");
  assert.ok((await alice.json("GET", `/sessions/${session_id}`)).message_count >= 2);
}

Deno.test("a title that cannot be set costs no turn its good end", async () => {
  await using server = await startChatServer();
  const alice = server.chat("alice");
  let asked = 0;
  const { wantsTitle } = ChatSessionsRepository.prototype;
  // The first look sends the turn to the title, the second one is the title's own.
  ChatSessionsRepository.prototype.wantsTitle = function (sessionId) {
    if (asked++ > 0) throw new TypeError("broken");
    return wantsTitle.call(this, sessionId);
  };
  try {
    const turn = await alice.send("hello");
    assert.equal(turn.last.finish_reason, "stop");
    assert.equal(turn.of("title").length, 0);
  } finally {
    ChatSessionsRepository.prototype.wantsTitle = wantsTitle;
  }
  assert.ok(asked > 1);
});
