// The tool that waits: for a router to boot, for a protocol to converge.
import { z } from "zod";
import { sleep } from "../devices/timing.ts";
import { COPILOT_MODES } from "../domain/model_config.ts";
import { defineTool } from "./tool.ts";

export const waitSeconds = defineTool({
  name: "wait_seconds",
  description: "Waits, for instance until a router has booted or a routing protocol has converged.",
  input: z.object({ seconds: z.int().min(1).max(600) }),
  risk: "read",
  modes: COPILOT_MODES,
  async run({ seconds }, { signal }) {
    await sleep(seconds * 1_000, signal);
    return { waited_seconds: seconds };
  },
});
