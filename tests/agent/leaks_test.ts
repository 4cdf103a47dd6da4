// A server that has run many turns holds no more than one that has run few: timers, listeners, logs.
import assert from "node:assert/strict";
import { FinishedTurns } from "../../src/agent/finished_turns.ts";
import { Turn } from "../../src/agent/turn.ts";
import { type Chat, startChatServer } from "../fakes/chat.ts";
import { counting } from "../fakes/counting.ts";
import { type Answer, answer, chunk, fakeEndpoint, sse } from "../models/fake_endpoint.ts";

const SESSIONS = 5;
const ROUND = 50;

/** Answers as the user's last message wants it. */
function reply(messages: { role: string; content: string }[]): Answer {
  const asked = messages.findLast(({ role }) => role === "user")!.content;
  if (messages.at(-1)!.role === "tool") return answer("done");
  const started = `data: ${JSON.stringify(chunk({ content: "hm" }))}\n\n`;
  switch (asked) {
    case "tool": {
      const call = { index: 0, id: "c", function: { name: "get_gns3_templates", arguments: "{}" } };
      return { body: sse(chunk({ tool_calls: [call] }), chunk({}, "tool_calls")) };
    }
    case "fail":
      return { status: 400, body: '{"error":{"message":"no"}}' };
    case "break":
      return { body: [started, { break: true }] };
    case "hang":
      return { body: [started, 60_000] };
    default:
      return answer("fine");
  }
}

/** One turn of one of the ways in which turns go and end. */
async function oneTurn(alice: Chat, at: number): Promise<void> {
  const session_id = `s${at % SESSIONS}`;
  const hang = async (body = {}) => {
    const turn = await alice.start("hang", { session_id, ...body });
    await turn.untilType("content");
    return turn;
  };
  const abort = () => alice.json("POST", `/sessions/${session_id}/abort`);
  switch (at % 8) {
    case 0:
    case 1:
    case 2:
    case 3:
      await alice.send(["plain", "tool", "fail", "break"][at % 8]!, { session_id });
      break;
    case 4: {
      const turn = await hang();
      await abort();
      await turn.end();
      break;
    }
    case 5:
      await (await hang({ on_disconnect: "abort" })).leave();
      break;
    case 6: {
      await (await hang()).leave();
      const follower = await alice.follow(session_id);
      await follower.untilType("content");
      await follower.leave();
      await abort();
      break;
    }
    default:
      await alice.json("POST", "/stream", { message: "plain", session_id, stream: false });
  }
  await free(alice, session_id);
}

/** Resolves when the session's turn has ended. */
async function free(alice: Chat, session_id: string): Promise<void> {
  await (await alice.follow(session_id)).end();
}

Deno.test("after 300 turns that end in every way, no more timers and listeners are held than after 50", async () => {
  await using endpoint = fakeEndpoint(({ body }) => body.tools ? reply(body.messages) : answer("A title"));
  using held = counting();
  await using server = await startChatServer({ model: { base_url: endpoint.url } });
  const alice = server.chat("alice");
  const after = async (turns: number) => {
    for (let at = 0; at < turns; at++) await oneTurn(alice, at);
    // What the last turn leaves to do is done in the next rounds of the event loop.
    for (let round = 0; round < 20; round++) await new Promise((resolve) => setTimeout(resolve, 1));
    return held.now();
  };
  const few = await after(ROUND);
  // The logs of the sessions' last turns, at least, are kept by timers.
  assert.ok(few.timers >= SESSIONS, JSON.stringify(few));
  const many = await after(300 - ROUND);
  assert.ok(many.timers <= few.timers + 3, `timers: ${JSON.stringify([few, many])}`);
  assert.ok(many.listeners <= few.listeners + 3, `listeners: ${JSON.stringify([few, many])}`);
});

Deno.test("of finished turns only the newest are kept, each session's last one", () => {
  const kept = new FinishedTurns(3);
  const turn = (id: string, session: string) => new Turn(id, session, "alice", new Date(0));
  try {
    for (let at = 0; at < 10; at++) kept.keep(turn(`t${at}`, `s${at}`));
    kept.keep(turn("again", "s7"));
    kept.keep(turn("new", "s10"));
    const ids = Array.from({ length: 11 }, (_, at) => kept.of(`s${at}`)?.id);
    assert.deepEqual(ids.filter((id) => id), ["again", "t9", "new"]);
  } finally {
    kept.close();
  }
  assert.equal(kept.of("s10"), undefined);
});

Deno.test("of finished turns with long answers fewer are kept, but always the newest", () => {
  const kept = new FinishedTurns(10, 1000);
  const long = (id: string, characters: number) => {
    const turn = new Turn(id, id, "alice", new Date(0));
    turn.publish({ type: "text_delta", messageId: "m", text: "x".repeat(characters) });
    kept.keep(turn);
  };
  try {
    for (const id of ["a", "b", "c"]) long(id, 400);
    assert.deepEqual(["a", "b", "c"].map((id) => kept.of(id)?.id), [undefined, "b", "c"]);
    long("d", 5000);
    assert.deepEqual(["b", "c", "d"].map((id) => kept.of(id)?.id), [undefined, undefined, "d"]);
  } finally {
    kept.close();
  }
});
