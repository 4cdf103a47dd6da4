// Faults between the server and GNS3: its API, the consoles' WebSockets, and its stream of notifications.
import assert from "node:assert/strict";
import { slow, text, toolCalls } from "../../src/practice/model_script.ts";
import type { Fault, FaultRule } from "./fault_proxy.ts";
import { rubbish } from "./model_rows.ts";
import {
  assertGoesOn,
  judge,
  onPc1,
  type Row,
  script,
  type TurnUnderFault,
  turnUnderFault,
  until,
  within,
} from "./row.ts";
import type { Stage } from "./stage.ts";

const NODES = /^GET \/v3\/projects\/[^/]+\/nodes HTTP/;
const CONSOLE = /^GET \/v3\/projects\/[^/]+\/nodes\/[^/]+\/console\/ws/;
const NOTIFICATIONS = /^GET \/v3\/notifications/;
const REFUSED = /"?(status": ?"error|error: )/;

const reader = [toolCalls([{ name: "gns3_topology_reader", args: {} }]), text("ok")];

const api = (fault: string, rule: FaultRule, outcome: RegExp, more: Partial<TurnUnderFault> = {}) =>
  turnUnderFault({
    where: "GNS3",
    fault,
    rule: { match: NODES, ...rule },
    steps: reader,
    expected: { end: "done stop", text: /^ok$/, tools: [outcome] },
    ...more,
  });

const NO_ANSWER = /The GNS3 server at \S+ does not answer/;
/** An answer without an end, in proper chunks. */
const ENDLESS = {
  head: "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
  bytes: new TextEncoder().encode(`10000\r\n${"x".repeat(65536)}\r\n`),
};

const typing = (
  fault: string,
  rule: Omit<FaultRule, "match">,
  outcome: RegExp,
  more: Partial<TurnUnderFault> = {},
) =>
  turnUnderFault({
    where: "console",
    fault,
    rule: { match: CONSOLE, ...rule },
    steps: [onPc1("show ip"), text("ok")],
    expected: { end: "done stop", text: /^ok$/, tools: [outcome] },
    ...more,
  });

/** One WebSocket frame of a server with this payload. */
function frame(payload: Uint8Array): Uint8Array {
  const { length } = payload;
  assert.ok(length >= 126 && length < 65536);
  return Uint8Array.from([0x82, 126, length >> 8, length & 255, ...payload]);
}

const SCREENFUL = frame(new TextEncoder().encode("%LINK-3-UPDOWN: and so on, and so on\r\n".repeat(800)));
const FLOOD: Fault = { kind: "flood", bytes: SCREENFUL, total: 100 * 1024 * 1024 };
const PINGING = { steps: [onPc1("ping 10.0.1.1 -c 5"), text("ok")] };

/** A request that cannot be judged because GNS3 fails is refused with 503, and accepted when GNS3 is back. */
function refused(fault: string, rule: FaultRule, long?: true): Row {
  return {
    where: "GNS3",
    fault: `sign-in: ${fault}`,
    long,
    async play(stage) {
      // A token that was never seen: nothing about it is remembered.
      const chat = stage.chat(stage.gns3.newToken("alice"));
      stage.toGns3.set({ match: /^GET \/v3\/(access\/users\/me|projects)/, ...rule });
      const { message } = script(stage, [text("fine")]);
      try {
        const answer = await chat.call("POST", "/stream", { message });
        const body = await answer.json();
        assert.equal(answer.status, 503, JSON.stringify(body));
        assert.equal(body.code, "unavailable");
        assert.ok(Number(answer.headers.get("retry-after")) > 0);
        stage.toGns3.set(null);
        const turn = await chat.send(message);
        assert.equal(turn.text, "fine");
        return `503: ${body.message}`;
      } finally {
        stage.toGns3.set(null);
      }
    },
  };
}

/** News of GNS3's count again after the stream broke: a project that closes ends its turns. */
function deaf(fault: string, rule: Fault, options: { after?: number; long?: true } = {}): Row {
  return {
    where: "notifications",
    fault,
    long: options.long,
    async play(stage) {
      const bob = stage.chat("bob", stage.gns3.otherProjectId);
      await bob.json("GET", "/sessions");
      await until(() => streams(stage) > 0, "the stream is followed");
      const before = streams(stage);
      stage.toGns3.set({ match: NOTIFICATIONS, fault: rule, after: options.after, times: 1 });
      stage.toGns3.drop();
      await until(() => stage.toGns3.struck > 0, "the fault has struck");
      const alice = await stage.chat("alice").send(script(stage, [slow(20, 5)]).message);
      await judge(stage, alice, { end: "done stop" });
      const limit = options.long ? 30_000 : 15_000;
      // The broken one has reached GNS3 too, when it was broken in its middle.
      const wanted = before + (options.after ? 2 : 1);
      await until(() => streams(stage) >= wanted, "the stream is followed again", limit);
      const { otherProjectId: project } = stage.gns3;
      const stream = await bob.start(script(stage, [slow(3000, 10)]).message);
      await stream.untilType("content");
      await ofAdmin(stage, "POST", `/v3/projects/${project}/close`);
      try {
        await within(10_000, stream.end(), "the closed project's turn has ended");
        assert.equal(stream.events.filter(({ type }) => type === "done" || type === "error").length, 1);
      } finally {
        await ofAdmin(stage, "POST", `/v3/projects/${project}/open`);
      }
      const kept = await bob.messages(stream.sessionId);
      assert.equal(kept.at(-1).content, stream.text);
      await assertGoesOn(stage, alice.sessionId);
      return `followed again; a project that closes ends its turn: ${
        stream.last.error ?? stream.last.finish_reason
      }`;
    },
  };
}

/** How often GNS3 has been asked for its notifications. */
function streams(stage: Stage): number {
  return stage.gns3.requests.filter(({ path, status }) => path === "/v3/notifications" && status === 200)
    .length;
}

async function ofAdmin(stage: Stage, method: string, path: string): Promise<void> {
  const { admin } = stage.gns3.tokens;
  const answer = await fetch(stage.gns3.url + path, {
    method,
    headers: { authorization: `Bearer ${admin}` },
  });
  await answer.body?.cancel();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
}

export const GNS3_ROWS: Row[] = [
  refused("hangs up", { fault: { kind: "hang-up" } }),
  refused("502", { fault: { kind: "status", status: 502 } }),
  refused("rubbish", { fault: { kind: "insert", bytes: rubbish(300) } }),
  refused("silent", { fault: { kind: "stall" } }, true),
  api("everything 300 ms late", { fault: { kind: "delay", ms: 300 }, match: /./ }, /^success/),
  api("byte by byte", { fault: { kind: "split" } }, /^success/),
  api("ends (FIN) in the answer", { fault: { kind: "fin" }, after: 200 }, NO_ANSWER),
  api("is reset (RST) in the answer", { fault: { kind: "reset" }, after: 200 }, NO_ANSWER),
  api("500", { fault: { kind: "status", status: 500 } }, /The GNS3 server at \S+ failed \(500\)/),
  api("rubbish instead of an answer", { fault: { kind: "insert", bytes: rubbish(300) } }, NO_ANSWER),
  api(
    "a web page instead of JSON",
    { fault: { kind: "status", status: 200, body: "<html>Hello</html>" } },
    /is not a GNS3 server/,
  ),
  api(
    "500 MB instead of an answer",
    {
      fault: { kind: "flood", ...ENDLESS, total: 500 * 1024 * 1024 },
    },
    /sends more than a GNS3 server does/,
    { long: true },
  ),
  api("silent in the answer", { fault: { kind: "stall" }, after: 200 }, /did not answer within 15 s/, {
    long: true,
  }),

  typing("every piece 300 ms late", { fault: { kind: "delay", ms: 300 } }, /^success.*10\.0\.1\.10/s),
  typing("byte by byte", { fault: { kind: "split" } }, /^success.*10\.0\.1\.10/s),
  typing("hangs up once, then opens", { fault: { kind: "hang-up" }, times: 1 }, /^success.*10\.0\.1\.10/s),
  typing(
    "503 once, then opens",
    { fault: { kind: "status", status: 503 }, times: 1 },
    /^success.*10\.0\.1\.10/s,
  ),
  typing("ends (FIN) in the output", { fault: { kind: "fin" }, after: "IP/MASK" }, /[Tt]he console closed/),
  typing(
    "is reset (RST) in the output",
    { fault: { kind: "reset" }, after: "IP/MASK" },
    /[Tt]he console closed/,
  ),
  typing(
    "rubbish in the output",
    { fault: { kind: "insert", bytes: rubbish(3000) }, after: "IP/MASK" },
    /[Tt]he console closed/,
  ),
  typing(
    "one screenful of the device's messages in the output",
    { fault: { kind: "insert", bytes: SCREENFUL }, after: "icmp_seq=1", whole: true },
    /^success.*icmp_seq=5.*UPDOWN|^success.*UPDOWN.*icmp_seq=5/s,
    PINGING,
  ),
  typing(
    "100 MB of the device's messages in the output",
    { fault: FLOOD, after: "icmp_seq=1", whole: true },
    /printed more than 4000000 characters|console closed/,
    { ...PINGING, long: true },
  ),
  typing(
    "100 MB of the device's messages before its prompt",
    { fault: FLOOD, after: "101 Switching", whole: true },
    /prints without end|console closed/,
  ),
  typing("never opens", { fault: { kind: "stall" } }, /accepts no connection/, { long: true }),
  typing("silent in the output", { fault: { kind: "stall" }, after: "IP/MASK" }, REFUSED, { long: true }),
  typing("silent in the output, and stopped", { fault: { kind: "stall" }, after: "IP/MASK" }, /aborted/, {
    expected: { end: "done aborted", tools: [/aborted/] },
    long: true,
    async during(stage, stream) {
      await until(() => stage.toGns3.struck > 0, "the fault has struck");
      const began = performance.now();
      await stage.chat("alice").json("POST", `/sessions/${stream.sessionId}/abort`);
      assert.ok(performance.now() - began < 1500, "the stop does not wait for the console");
    },
  }),

  deaf("ends (FIN)", { kind: "fin" }, { after: 150 }),
  deaf("is reset (RST)", { kind: "reset" }, { after: 150 }),
  deaf("hangs up", { kind: "hang-up" }),
  deaf("500", { kind: "status", status: 500 }),
  deaf("rubbish in the stream", { kind: "insert", bytes: rubbish(3000) }, { after: 150 }),
  deaf("a line of 50 MB", {
    kind: "flood",
    ...ENDLESS,
    total: 50 * 1024 * 1024,
  }),
  deaf("silent", { kind: "stall" }, { after: 150, long: true }),
];
