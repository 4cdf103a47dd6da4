// Our server as its own process beside a lab's GNS3 server.
import { API_KEY } from "../fakes/chat.ts";
import { type Program, startFromSource } from "../fakes/program.ts";
import type { Lab } from "./lab.ts";

export interface ServerOptions {
  state: string;
  modelUrl: string;
  mode?: string;
  args?: string[];
}

/** Starts it from source and waits until it listens; whoever started it ends it. */
export async function startServer(
  lab: Lab,
  { state, modelUrl, mode = "lab_automation_assistant", args = [] }: ServerOptions,
): Promise<{ program: Program; url: string }> {
  const places = ["--gns3-url", lab.base_url, "--projects-dir", lab.projects_dir, "--state-dir", state];
  const program = startFromSource([...places, "--port", "0", "--log-format", "json", ...args], {
    env: {
      OPENAI_BASE_URL: modelUrl,
      OPENAI_API_KEY: API_KEY,
      OPENAI_MODEL: "practice-1",
      GNS3_COPILOT_CONTEXT_LIMIT: "128",
      GNS3_COPILOT_COPILOT_MODE: mode,
    },
  });
  const [, url] = await program.until(/"address":"(http:\/\/[\d.:]+)"/);
  return { program, url: url! };
}
