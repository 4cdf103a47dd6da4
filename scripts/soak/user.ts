// One user of a soak: sends messages, stops them, leaves, comes back, reads, renames and deletes, by chance.
import assert from "node:assert/strict";
import type { PracticeModel } from "../../src/practice/model.ts";
import type { ChatBody } from "../../src/practice/model_script.ts";
import { slow, type Step, text, toolCalls } from "../../src/practice/model_script.ts";
import type { Chat, Stream } from "../../tests/fakes/chat.ts";
import { assertTurn } from "../../tests/fakes/grammar.ts";
import { choose, type Random } from "./random.ts";

/** What a soak counts and measures; all its users share one. */
export interface Tally {
  /** Milliseconds from a message to the first event, and to the end of a short answer, since the last sample. */
  first: number[];
  short: number[];
  did: Map<string, number>;
  /** What came out that should not, by its text. */
  faults: Map<string, number>;
}

const afterTools = (first: Step, then: Step) => (body: ChatBody) =>
  body.messages.at(-1)?.role === "tool" ? then : first;
const ok = text("ok");

/** The answers that there are; many users play each at the same time. */
const SCRIPTS = {
  short: [slow(12, 0)],
  long: [slow(1500, 0)],
  paced: [slow(60, 30)],
  reader: [afterTools(toolCalls([{ name: "gns3_topology_reader", args: {} }]), ok)],
  waits: [afterTools(toolCalls([{ name: "wait_seconds", args: { seconds: 2 } }]), ok)],
  console: [afterTools(
    toolCalls([{
      name: "execute_vpcs_commands",
      args: { device_configs: [{ device_name: "PC1", commands: ["show ip"] }] },
    }]),
    ok,
  )],
  broken: [[{ delta: { role: "assistant", content: "half an" } }, { cut: true as const }]],
};

export function writeScripts(model: PracticeModel): void {
  for (const [key, steps] of Object.entries(SCRIPTS)) model.script(key, steps);
}

/** More than this many turns make a conversation too long for what a soak is after. */
const MOST_TURNS = 6;
const MOST_SESSIONS = 4;

export class User {
  /** Session → its turns. */
  readonly #sessions = new Map<string, number>();

  /** `chat` gives the chat of now: a project may have gone and another one come. */
  constructor(
    private readonly chat: () => Chat,
    private readonly random: Random,
    private readonly tally: Tally,
  ) {}

  /** What is to be done next. */
  next(): string {
    return choose(this.random, [
      [60, "turn"],
      [10, "leave and come back"],
      [8, "stop"],
      [5, "leave for good"],
      [4, "leave and end it"],
      [3, "two readers"],
      [12, "look"],
      [5, "rename"],
      [8, "delete"],
    ]);
  }

  /** Does one thing. Throws when anything comes out that should not. */
  async act(what: string): Promise<void> {
    this.tally.did.set(what, (this.tally.did.get(what) ?? 0) + 1);
    const chat = this.chat();
    switch (what) {
      case "turn":
        return await this.#turn(
          chat,
          choose(this.random, [
            [40, "short"],
            [10, "long"],
            [15, "paced"],
            [10, "reader"],
            [5, "waits"],
            [3, "console"],
            [5, "broken"],
          ]),
        );
      case "leave and come back": {
        const stream = await this.#start(chat, "paced");
        await stream.untilType("content");
        await stream.leave();
        await pause(this.random() * 1000);
        return await this.#resume(chat, stream);
      }
      case "stop": {
        const stream = await this.#start(chat, choose(this.random, [[1, "paced"], [1, "waits"]]));
        await pause(this.random() * 500);
        await (await chat.call("POST", `/sessions/${stream.sessionId}/abort`)).text();
        await stream.end();
        assertTurn(stream.events);
        return;
      }
      case "leave for good":
        return await (await this.#start(chat, "long")).leave();
      case "leave and end it": {
        const stream = await this.#start(chat, "paced", { on_disconnect: "abort" });
        await stream.untilType("content");
        return await stream.leave();
      }
      case "two readers": {
        const stream = await this.#start(chat, "paced");
        const second = await chat.follow(stream.sessionId);
        await Promise.all([stream.end(), second.end()]);
        assert.equal(second.text, stream.text);
        return;
      }
      case "look": {
        const sessions = await chat.json("GET", "/sessions?limit=20");
        const one = sessions[0]?.thread_id;
        if (one) await chat.messages(one);
        return;
      }
      case "rename": {
        const one = this.#any();
        if (one) await chat.json("PATCH", `/sessions/${one}`, { title: "Another title" });
        return;
      }
      default: {
        const one = this.#any();
        if (one) await this.#delete(chat, one);
      }
    }
  }

  async #turn(chat: Chat, key: string): Promise<void> {
    const began = performance.now();
    const stream = await this.#start(chat, key);
    await stream.end();
    if (key === "short") this.tally.short.push(performance.now() - began);
    assertTurn(stream.events);
    if (this.random() < 0.2) await this.#compare(chat, stream.sessionId, stream.text);
  }

  async #resume(chat: Chat, left: Stream): Promise<void> {
    const rest = await chat.follow(left.sessionId, left.ids.filter((id) => id).at(-1));
    await rest.end();
    assertTurn(rest.events, { resumed: true });
    await this.#compare(chat, left.sessionId, left.text + rest.text);
  }

  /** What was streamed is what stands in the history. */
  async #compare(chat: Chat, sessionId: string, said: string): Promise<void> {
    const messages = await chat.messages(sessionId);
    const asked = messages.findLastIndex(({ role }) => role === "user");
    const kept = messages.slice(asked + 1).filter(({ role }) => role === "assistant");
    assert.equal(kept.map(({ content }) => content).join(""), said, "the history is what was streamed");
  }

  async #start(chat: Chat, key: string, body: Record<string, unknown> = {}): Promise<Stream> {
    const sessionId = await this.#session(chat);
    const began = performance.now();
    const stream = await chat.start(`[[${key}]] What is this?`, { session_id: sessionId, ...body });
    await stream.until(() => true);
    this.tally.first.push(performance.now() - began);
    this.#sessions.set(stream.sessionId, (this.#sessions.get(stream.sessionId) ?? 0) + 1);
    return stream;
  }

  /** A session for the next message, undefined for a new one; there are never more than a few. */
  async #session(chat: Chat): Promise<string | undefined> {
    for (const [one, turns] of this.#sessions) {
      if (turns >= MOST_TURNS || this.#sessions.size > MOST_SESSIONS) await this.#delete(chat, one);
    }
    return this.random() < 0.3 ? undefined : this.#any();
  }

  #any(): string | undefined {
    const all = [...this.#sessions.keys()];
    return all[Math.floor(this.random() * all.length)];
  }

  async #delete(chat: Chat, sessionId: string): Promise<void> {
    this.#sessions.delete(sessionId);
    await chat.json("DELETE", `/sessions/${sessionId}`, undefined, 204);
  }

  /** The project has gone or gone back: nothing is known of its sessions. */
  forget(): void {
    this.#sessions.clear();
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
