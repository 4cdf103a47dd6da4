// Our server as its own process beside a real gns3-server, with the practice model as everybody's endpoint.
import { type PracticeModel, startPracticeModel } from "../../src/practice/model.ts";
import { API_KEY, Chat } from "../fakes/chat.ts";
import { type Program, startFromSource, workspace } from "../fakes/program.ts";
import type { Lab } from "./lab.ts";

/** A running server of ours. */
export interface Copilot {
  url: string;
  model: PracticeModel;
  program: Program;
  /** Everything it has printed. */
  log(): string;
  /** `token` is one of GNS3's. */
  chat(token: string, projectId?: string): Chat;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface CopilotOptions {
  /** More options of the command line. */
  args?: string[];
  env?: Record<string, string>;
  mode?: string;
}

/** Starts the server from source, sandbox and all, at log level debug. `await using` stops it. */
export async function startCopilot(lab: Lab, options: CopilotOptions = {}): Promise<Copilot> {
  const space = workspace();
  const model = await startPracticeModel({ apiKey: API_KEY });
  const places = ["--gns3-url", lab.base_url, "--projects-dir", lab.projects_dir];
  const own = [
    "--state-dir",
    `${space.dir}/state`,
    "--port",
    "0",
    "--log-format",
    "json",
    "--log-level",
    "debug",
  ];
  const program = startFromSource([...places, ...own, ...options.args ?? []], {
    env: {
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: API_KEY,
      OPENAI_MODEL: "practice-1",
      GNS3_COPILOT_CONTEXT_LIMIT: "128",
      GNS3_COPILOT_COPILOT_MODE: options.mode ?? "lab_automation_assistant",
      ...options.env,
    },
  });
  const stop = async () => {
    program.kill("SIGTERM");
    await program.ended();
    await model.close();
    space.close();
  };
  try {
    const [, url] = await program.until(/"address":"(http:\/\/[\d.:]+)"/);
    return {
      url: url!,
      model,
      program,
      log: () => program.printed().out + program.printed().err,
      chat: (token, projectId = lab.project.project_id) => new Chat(url!, projectId, token),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A request to GNS3 (or whatever stands in front of it) itself; answers its JSON, or the text of what is none. */
export async function gns3(
  base: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
  // deno-lint-ignore no-explicit-any
): Promise<any> {
  const response = await fetch(base + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: body instanceof Uint8Array ? body.slice() : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

/** Looks again and again until `look` gives something; throws after `limitMs`. */
export async function eventually<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  what: string,
  limitMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
