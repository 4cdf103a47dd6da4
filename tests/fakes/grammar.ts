// The order rules of a turn's events as GNS3's clients see them, stated once and applied to every stream in every test.
import assert from "node:assert/strict";

export interface WireEvent {
  type: string;
  session_id: string;
  // deno-lint-ignore no-explicit-any
  [field: string]: any;
}

const TERMINAL = new Set(["done", "error"]);

/** Fails with what should have come first, when `events` is not a whole turn in order. */
export function assertTurn(events: readonly WireEvent[], options: { resumed?: boolean } = {}): void {
  assert.ok(events.length > 0, "a turn has at least one event");
  assert.equal(
    new Set(events.map((event) => event.session_id)).size,
    1,
    "every event carries the same session_id",
  );
  const ends = events.filter((event) => TERMINAL.has(event.type));
  assert.equal(ends.length, 1, `exactly one terminal event, not ${ends.map((event) => event.type)}`);
  assert.ok(TERMINAL.has(events.at(-1)!.type), `the terminal event is last, not ${events.at(-1)!.type}`);
  const aborted = events.findIndex((event) => event.type === "abort");
  if (aborted >= 0) {
    assert.equal(events[aborted + 1]?.type, "done", "abort stands right before done");
    assert.equal(events[aborted + 1]?.finish_reason, "aborted");
  }
  const calls = new Map<string, { text: string; complete: boolean; started: boolean; ended: boolean }>();
  for (const event of events) {
    if (event.type === "tool_call") {
      const { id, function: { arguments: text, complete } } = event.tool_call;
      const known = calls.get(id);
      if (!known && !options.resumed) assert.equal(text, "", `call ${id} is announced with empty arguments`);
      if (known) {
        assert.ok(!known.complete, `call ${id} goes on after it was complete`);
        assert.ok(text.startsWith(known.text), `the arguments of call ${id} only grow`);
      }
      calls.set(id, { text, complete: complete === true, started: false, ended: false });
    } else if (event.type === "tool_start") {
      const call = calls.get(event.tool_call_id);
      if (!options.resumed) {
        assert.ok(call?.complete, `call ${event.tool_call_id} starts before it is complete`);
      }
      assert.ok(!call?.started, `call ${event.tool_call_id} starts twice`);
      calls.set(event.tool_call_id, { text: "", ...call, complete: true, started: true, ended: false });
    } else if (event.type === "tool_end") {
      const call = calls.get(event.tool_call_id);
      if (!options.resumed) assert.ok(call?.started, `call ${event.tool_call_id} ends without a start`);
      assert.ok(!call?.ended, `call ${event.tool_call_id} ends twice`);
      if (call) call.ended = true;
      assert.ok(["success", "error"].includes(event.status));
      assert.equal(typeof event.tool_output, "string");
    }
  }
  for (const [id, call] of calls) {
    assert.ok(!call.started || call.ended, `call ${id} started and never ended`);
  }
}
