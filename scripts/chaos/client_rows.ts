// Faults between a client and the server.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { type Action, slow, text } from "../../src/practice/model_script.ts";
import type { Chat, Stream } from "../../tests/fakes/chat.ts";
import { rubbish } from "./model_rows.ts";
import { RawClient, textIn } from "./raw_client.ts";
import { assertGoesOn, judge, type Row, script, until, within } from "./row.ts";
import type { Stage } from "./stage.ts";

/** A turn whose client is this kind of a raw one; `act` does what the client does. Resolves with the session. */
async function rawTurn(
  stage: Stage,
  steps: Action[],
  body: Record<string, unknown>,
  act: (client: RawClient) => Promise<void>,
): Promise<{ key: string; sessionId: string; received: string }> {
  const alice = stage.chat("alice");
  const { key, message } = script(stage, [steps]);
  const client = await RawClient.to(stage.url);
  try {
    for (const part of RawClient.turn(alice, { message, ...body })) client.send(part);
    await until(() => /x-session-id: (\S+)/i.test(client.received), "the answer's head has come");
    await act(client);
    const sessionId = /x-session-id: (\S+)/i.exec(client.received)![1]!;
    return { key, sessionId, received: client.received };
  } finally {
    client.socket.destroy();
  }
}

/** Follows a session to its end; what comes is a whole turn. */
async function followed(chat: Chat, sessionId: string): Promise<Stream> {
  const stream = await chat.follow(sessionId);
  await within(30_000, stream.end(), "the turn has ended");
  return stream;
}

/** The client is gone in the middle of the text; the turn is to go on all the same. */
function leaves(fault: string, how: (socket: Socket) => void): Row {
  return {
    where: "client",
    fault,
    async play(stage) {
      const { sessionId } = await rawTurn(stage, slow(60, 10), {}, async (client) => {
        await until(() => client.received.includes("gamma"), "text has come");
        how(client.socket);
        await new Promise((resolve) => setTimeout(resolve, 50));
      });
      const stream = await followed(stage.chat("alice"), sessionId);
      const outcome = await judge(stage, stream, { end: "done stop", text: /^alpha beta (.* )bgp$/s });
      assert.equal(stream.text.split(" ").length, 60);
      await assertGoesOn(stage, sessionId);
      return outcome;
    },
  };
}

/** The client is gone, and has asked for an end of its turn then. */
function ends(fault: string, how: (socket: Socket) => void): Row {
  return {
    where: "client",
    fault: `${fault}, its turn is to end with it`,
    async play(stage) {
      const asked = { on_disconnect: "abort" };
      const { key, sessionId } = await rawTurn(stage, slow(3000, 10), asked, async (client) => {
        await until(() => client.received.includes("gamma"), "text has come");
        how(client.socket);
      });
      await until(() => stage.model.requests(key)[0]!.fate === "cut", "the model's answer was cut");
      const stream = await followed(stage.chat("alice"), sessionId);
      const outcome = await judge(stage, stream, { end: "done aborted", text: /^alpha beta gamma/ });
      await assertGoesOn(stage, sessionId);
      return outcome;
    },
  };
}

/** Three of them: a model that says more is cut off. */
export const MEGABYTES: Action[] = [
  { delta: { role: "assistant", content: "" } },
  ...Array.from({ length: 160 }, (_, i) => ({ delta: { content: `${i} `.repeat(5000) } })),
  { delta: {}, finish: "stop" },
];

const slowReader: Row = {
  where: "client",
  fault: "does not read while megabytes are said, then reads",
  async play(stage) {
    const alice = stage.chat("alice");
    const { key, message } = script(stage, [MEGABYTES]);
    const client = await RawClient.to(stage.url);
    try {
      for (const part of RawClient.turn(alice, { message })) client.send(part);
      await until(() => /x-session-id: (\S+)/i.test(client.received), "the answer's head has come");
      client.socket.pause();
      await until(() => stage.model.requests(key)[0]?.fate === "done", "the model has said all", 20_000);
      const sessionId = /x-session-id: (\S+)/i.exec(client.received)![1]!;
      client.socket.resume();
      await until(() => client.received.includes('"type":"done"'), "the end has come", 20_000);
      const told = textIn(client.received);
      const stream = await followed(alice, sessionId);
      assert.equal(told, stream.text, "the slow reader has read all of it");
      const outcome = await judge(stage, stream, { end: "done stop" });
      await assertGoesOn(stage, sessionId);
      return outcome;
    } finally {
      client.socket.destroy();
    }
  },
};

const halfClosed: Row = {
  where: "client",
  fault: "closes its own direction after the request (half-open)",
  async play(stage) {
    const { sessionId, received } = await rawTurn(stage, slow(40, 10), {}, async (client) => {
      client.socket.end();
      await until(() => client.received.includes('"type":"done"') || client.ended, "an end has come");
    });
    const stream = await followed(stage.chat("alice"), sessionId);
    await judge(stage, stream, { end: "done stop" });
    await assertGoesOn(stage, sessionId);
    return received.includes('"type":"done"')
      ? "it gets the whole answer"
      : "it is taken for gone; the turn goes on";
  },
};

const dribbled: Row = {
  where: "client",
  fault: "sends its request byte by byte",
  async play(stage) {
    const alice = stage.chat("alice");
    const { message } = script(stage, [text("fine")]);
    const client = await RawClient.to(stage.url);
    for (
      const byte of new TextEncoder().encode(RawClient.turn(alice, { message: `${message} 路由器` }).join(""))
    ) {
      client.send(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => client.received.includes('"type":"done"'), "the end has come");
    client.socket.destroy();
    const sessionId = /x-session-id: (\S+)/i.exec(client.received)![1]!;
    const [asked] = await alice.messages(sessionId);
    assert.ok(asked.content.endsWith("路由器"));
    return `answered: ${textIn(client.received)}`;
  },
};

const unfinished: Row = {
  where: "client",
  fault: "50 requests whose bodies never end, then reset",
  async play(stage) {
    const alice = stage.chat("alice");
    const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.to(stage.url)));
    for (const client of clients) client.send(RawClient.turn(alice, { message: "x" })[0] + '{"message":');
    const began = performance.now();
    const turn = await alice.send(script(stage, [text("fine")]).message);
    assert.equal(turn.text, "fine");
    const took = Math.round(performance.now() - began);
    for (const client of clients) client.socket.resetAndDestroy();
    const sessions = await alice.json("GET", "/sessions?limit=500");
    assert.ok(!sessions.some(({ message_count }: { message_count: number }) => message_count === 0));
    return `others are answered meanwhile, in ${took} ms; no session was made of them`;
  },
};

const garbage: Row = {
  where: "client",
  fault: "rubbish instead of requests, on 20 connections",
  async play(stage) {
    const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.to(stage.url)));
    clients.forEach((client, i) => client.send(rubbish(50 + i * 500)));
    clients.forEach((client) => client.socket.end());
    await until(() => clients.every(({ ended }) => ended), "all connections are closed");
    clients.forEach((client) => client.socket.destroy());
    const turn = await stage.chat("alice").send(script(stage, [text("fine")]).message);
    assert.equal(turn.text, "fine");
    return `closed, ${
      clients.filter(({ received }) => received.startsWith("HTTP/1.1 400")).length
    } of them with 400`;
  },
};

const flooded: Row = {
  where: "client",
  fault: "a body of 50 MB, in chunks of unknown number",
  async play(stage) {
    const alice = stage.chat("alice");
    const client = await RawClient.to(stage.url);
    const [head] = RawClient.turn(alice, {});
    client.send(head.replace(/content-length: \d+/, "transfer-encoding: chunked"));
    const chunk = `10000\r\n${"x".repeat(65536)}\r\n`;
    for (let i = 0; i < 800 && !client.ended; i++) {
      client.send(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => client.received.includes("HTTP/1.1 413") || client.ended, "it is refused");
    client.socket.destroy();
    const turn = await alice.send(script(stage, [text("fine")]).message);
    assert.equal(turn.text, "fine");
    return /"message":"[^"]*"/.exec(client.received)?.[0] ?? "closed";
  },
};

const stormed: Row = {
  where: "client",
  fault: "200 connections that are reset at once, 50 in the middle of an answer",
  async play(stage) {
    const alice = stage.chat("alice");
    for (let i = 0; i < 10; i++) {
      const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.to(stage.url)));
      clients.forEach((client) => client.socket.resetAndDestroy());
    }
    const { sessionId } = await rawTurn(stage, slow(100, 10), {}, async (first) => {
      const id = /x-session-id: (\S+)/i.exec(first.received)![1]!;
      const readers = await Promise.all(Array.from({ length: 50 }, () => alice.follow(id)));
      await Promise.all(readers.map((reader) => reader.untilType("content")));
      await Promise.all(readers.map((reader) => reader.leave()));
    });
    const stream = await followed(alice, sessionId);
    assert.equal(stream.text.split(" ").length, 100);
    return await judge(stage, stream, { end: "done stop" });
  },
};

export const CLIENT_ROWS: Row[] = [
  leaves("goes (FIN) in the middle of the text", (socket) => socket.destroy()),
  leaves("is reset (RST) in the middle of the text", (socket) => socket.resetAndDestroy()),
  ends("goes (FIN)", (socket) => socket.destroy()),
  ends("is reset (RST)", (socket) => socket.resetAndDestroy()),
  slowReader,
  halfClosed,
  dribbled,
  unfinished,
  garbage,
  flooded,
  stormed,
];
