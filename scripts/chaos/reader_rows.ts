// Many readers, and such as do not read: one log serves them all, and nothing is kept for each.
import assert from "node:assert/strict";
import { slow, text } from "../../src/practice/model_script.ts";
import type { Stream } from "../../tests/fakes/chat.ts";
import { MEGABYTES } from "./client_rows.ts";
import { RawClient } from "./raw_client.ts";
import { assertGoesOn, judge, type Row, script, until } from "./row.ts";
import type { Stage } from "./stage.ts";

/** What the server's process has in RAM, in MB; 0 where it has none of its own. */
function rssMb({ pid }: Stage): number {
  if (!pid) return 0;
  return Number(/VmRSS:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))![1]) / 1024;
}

const heartbeats = (stream: Stream) => stream.of("heartbeat").length;

/** Opens `count` streams that follow a session, some at a time. */
async function readers(stage: Stage, sessionId: string, count: number): Promise<Stream[]> {
  const all: Stream[] = [];
  while (all.length < count) {
    const some = Array.from(
      { length: Math.min(50, count - all.length) },
      () => stage.chat("alice").follow(sessionId),
    );
    all.push(...await Promise.all(some));
  }
  return all;
}

const idle: Row = {
  where: "client",
  fault: "1,000 readers of a turn that is silent",
  async play(stage) {
    const alice = stage.chat("alice");
    const { key, message } = script(stage, [[{ delta: { content: "Well" } }, { hang: true }]]);
    // Long enough silence is the model's own fault elsewhere: the stop comes before.
    const first = await alice.start(script(stage, [text("warm")]).message);
    await first.end();
    const before = rssMb(stage);
    const turn = await alice.start(message);
    await turn.untilType("content");
    const all = await readers(stage, turn.sessionId, 1000).catch((error) => error as Error);
    if (all instanceof Error) throw all;
    const grown = rssMb(stage) - before;
    if (!turn.events.some(({ type }) => type === "done" || type === "error")) {
      await alice.json("POST", `/sessions/${turn.sessionId}/abort`);
    }
    await Promise.all([turn, ...all].map((reader) => reader.end()));
    for (const reader of all) {
      assert.equal(reader.text, "Well");
      assert.ok(heartbeats(reader) >= 1);
      assert.equal(reader.last.type, turn.last.type);
    }
    assert.ok(grown < 150, `${Math.round(grown)} MB for 1,000 readers`);
    assert.ok(stage.model.requests(key).length > 0);
    await assertGoesOn(stage, turn.sessionId);
    return `all of them get the end; ${stage.pid ? `${Math.round(grown)} MB more` : "memory not measured"}`;
  },
};

const hundred: Row = {
  where: "client",
  fault: "100 readers of one turn",
  async play(stage) {
    const alice = stage.chat("alice");
    const turn = await alice.start(script(stage, [slow(150, 10)]).message);
    const all = await readers(stage, turn.sessionId, 100);
    await Promise.all([turn, ...all].map((reader) => reader.end()));
    for (const reader of all) assert.equal(reader.text, turn.text);
    return `${await judge(stage, turn, { end: "done stop" })}, the same for all`;
  },
};

const deaf: Row = {
  where: "client",
  fault: "30 readers that never read, while megabytes are said",
  async play(stage) {
    const alice = stage.chat("alice");
    const { key, message } = script(stage, [[{ sleep: 300 }, ...MEGABYTES]]);
    const before = rssMb(stage);
    const turn = await alice.start(message);
    const clients = await Promise.all(Array.from({ length: 30 }, () => RawClient.to(stage.url)));
    for (const client of clients) {
      client.send(RawClient.follow(alice, turn.sessionId));
      client.socket.pause();
    }
    await turn.end();
    await until(() => stage.model.requests(key)[0]?.fate === "done", "the model has said all", 20_000);
    const grown = rssMb(stage) - before;
    for (const client of clients) client.socket.destroy();
    // What was said once for everybody, and what the system keeps for each connection; not 30 times what was said.
    assert.ok(grown < 200, `${Math.round(grown)} MB for 30 readers that do not read`);
    const outcome = await judge(stage, turn, { end: "done stop" });
    await assertGoesOn(stage, turn.sessionId);
    return `${outcome} for who reads${stage.pid ? `; ${Math.round(grown)} MB more` : ""}`;
  },
};

export const READER_ROWS: Row[] = [idle, hundred, deaf];
