// What a row of the chaos table plays on: our server between a practice lab and a practice model, with a fault proxy on
// both ways. The server is another process here; `tests/scripts/chaos_test.ts` has one in its own.
import { type PracticeGns3, startPracticeGns3 } from "../../src/practice/gns3_server.ts";
import { type PracticeModel, startPracticeModel } from "../../src/practice/model.ts";
import { API_KEY, Chat } from "../../tests/fakes/chat.ts";
import { startFromSource, startProgram } from "../../tests/fakes/program.ts";
import { type FaultProxy, startFaultProxy } from "./fault_proxy.ts";

export interface Stage {
  url: string;
  gns3: PracticeGns3;
  model: PracticeModel;
  toModel: FaultProxy;
  toGns3: FaultProxy;
  /** A user's chat in the practice lab, or in another project. */
  chat(user: string, projectId?: string): Chat;
  /** The lines of the server's log at level error so far: there should be none. */
  errors(): string[];
  /** The server's process, when it is one of its own. */
  pid?: number;
}

/**
 * Seconds, so that a run is short: silence of the model, the title, between heartbeats. A busy machine must not take its
 * own work for the model's silence.
 */
export const LIMITS = { modelTimeout: 4, titleTimeout: 0.5, heartbeatInterval: 0.3 };

export interface ProcessStage extends Stage {
  pid: number;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number>;
}

export interface StageOptions {
  /** Left out: `main.ts`. */
  executable?: string;
  limits?: typeof LIMITS;
  /** More options of the server's command line. */
  more?: string[];
  /** How many requests the model remembers. */
  keep?: number;
}

/** Starts a lab, a model and the server. */
export async function startStage(options: StageOptions = {}): Promise<ProcessStage> {
  const { executable, limits = LIMITS, more = [], keep } = options;
  const gns3 = await startPracticeGns3({ logMessages: false });
  const model = await startPracticeModel({ apiKey: API_KEY, keep });
  const [toGns3, toModel] = await Promise.all(
    [gns3, model].map(({ url }) => startFaultProxy(Number(new URL(url).port))),
  ) as [FaultProxy, FaultProxy];
  const stateDir = await Deno.makeTempDir({ prefix: "chaos-" });
  const flags = {
    "gns3-url": `http://127.0.0.1:${toGns3.port}`,
    "projects-dir": gns3.projectsDir,
    "state-dir": stateDir,
    port: 0,
    "log-format": "json",
    "model-timeout": limits.modelTimeout,
    "title-timeout": limits.titleTimeout,
    "heartbeat-interval": limits.heartbeatInterval,
  };
  const args = [...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]), ...more];
  const env = {
    OPENAI_BASE_URL: `http://127.0.0.1:${toModel.port}/v1`,
    OPENAI_API_KEY: API_KEY,
    OPENAI_MODEL: "practice-1",
    GNS3_COPILOT_CONTEXT_LIMIT: "128",
    GNS3_COPILOT_COPILOT_MODE: "lab_automation_assistant",
  };
  const program = executable ? startProgram(executable, args, env) : startFromSource(args, { env });
  const close = async () => {
    program.kill("SIGTERM");
    const { code } = await program.ended();
    await Promise.all([toGns3.close(), toModel.close()]);
    await model.close();
    await gns3.close();
    await Deno.remove(stateDir, { recursive: true });
    return code;
  };
  try {
    const [, url] = await program.until(/"address":"(http:\/\/[\d.:]+)"/);
    return {
      url: url!,
      gns3,
      model,
      toModel,
      toGns3,
      pid: program.pid,
      chat: (user, projectId = gns3.projectId) => new Chat(url!, projectId, gns3.tokens[user] ?? user),
      errors: () => program.printed().err.split("\n").filter((line) => line.includes('"level":"error"')),
      stop: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
