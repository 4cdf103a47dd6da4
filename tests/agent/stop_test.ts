import assert from "node:assert/strict";
import { runCollecting } from "../fakes/collecting.ts";

Deno.test("whatever is to end a model's answer ends it on the wire, also after a garbage collection", async () => { // C6, B2
  assert.deepEqual(await runCollecting(new URL("stop_collecting.ts", import.meta.url)), {
    "stop": "aborted, cut",
    "stop before the first word": "aborted, cut",
    "silence": "model_error, cut",
    "title": "stop, cut",
    "client gone": "left, cut",
    "client gone, without a stream": "left, cut",
    "shutdown": "aborted, cut",
  });
});
